-- Places in extracted text may be lines or rows of the file; a folder may ask for its scans to be read.

CREATE TABLE marks_2 (
    content_id  INTEGER NOT NULL REFERENCES contents (id) ON DELETE CASCADE,
    ordinal     INTEGER NOT NULL,
    kind        TEXT NOT NULL CHECK (kind IN ('page', 'chapter', 'line')),
    label       TEXT NOT NULL,
    start       INTEGER NOT NULL,
    PRIMARY KEY (content_id, ordinal)
) STRICT, WITHOUT ROWID;
INSERT INTO marks_2 SELECT content_id, ordinal, kind, label, start FROM marks;
DROP TABLE marks;
ALTER TABLE marks_2 RENAME TO marks;
CREATE INDEX marks_by_start ON marks (content_id, kind, start);

ALTER TABLE roots ADD COLUMN ocr INTEGER NOT NULL DEFAULT 0;
