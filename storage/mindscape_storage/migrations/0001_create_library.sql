-- Paths point at contents; everything derived hangs on a content and goes with it.

CREATE TABLE roots (
    id    INTEGER PRIMARY KEY AUTOINCREMENT,
    path  BLOB NOT NULL UNIQUE,
    mode  TEXT NOT NULL CHECK (mode IN ('events', 'polling', 'away'))
) STRICT;

CREATE TABLE encoders (
    id          INTEGER PRIMARY KEY AUTOINCREMENT,
    name        TEXT NOT NULL UNIQUE,
    dimensions  INTEGER NOT NULL CHECK (dimensions > 0)
) STRICT;

CREATE TABLE contents (
    id              INTEGER PRIMARY KEY AUTOINCREMENT,
    hash            TEXT NOT NULL,
    media_type      TEXT NOT NULL,
    parser_version  TEXT NOT NULL,
    text_like       INTEGER NOT NULL,
    complete        INTEGER NOT NULL DEFAULT 0,
    documents       INTEGER NOT NULL DEFAULT 0,     -- paths that point here, kept by the triggers below
    length          INTEGER NOT NULL DEFAULT 0,     -- in code points
    passages        INTEGER NOT NULL DEFAULT 0,
    title           TEXT,
    dated           TEXT,                           -- YYYY-MM-DD, from the content's own metadata
    info            TEXT NOT NULL DEFAULT '{}',     -- JSON
    embedded_by     INTEGER REFERENCES encoders (id),
    UNIQUE (hash, media_type, parser_version)
) STRICT;
CREATE INDEX contents_by_encoder ON contents (embedded_by);
CREATE INDEX contents_unfinished ON contents (id) WHERE complete = 0;
CREATE INDEX contents_unused ON contents (id) WHERE documents = 0;
CREATE INDEX contents_sizes ON contents (complete, passages);

CREATE TABLE documents (
    id          INTEGER PRIMARY KEY AUTOINCREMENT,
    root_id     INTEGER NOT NULL REFERENCES roots (id),
    path        BLOB NOT NULL UNIQUE,
    display     TEXT NOT NULL,
    nfc_key     TEXT NOT NULL,
    size        INTEGER NOT NULL,
    mtime_ns    INTEGER NOT NULL,
    ctime_ns    INTEGER NOT NULL,
    inode       INTEGER NOT NULL,
    status      TEXT NOT NULL,
    reason      TEXT,
    content_id  INTEGER REFERENCES contents (id),
    indexed_at  INTEGER,                            -- seconds since 1970
    CHECK (status IN ('pending', 'ok') OR reason IS NOT NULL)
) STRICT;
CREATE INDEX documents_by_root ON documents (root_id, status);
CREATE INDEX documents_by_content ON documents (content_id, status);
CREATE INDEX documents_by_key ON documents (nfc_key);

CREATE TRIGGER document_added AFTER INSERT ON documents WHEN new.content_id IS NOT NULL BEGIN
    UPDATE contents SET documents = documents + 1 WHERE id = new.content_id;
END;
CREATE TRIGGER document_removed AFTER DELETE ON documents WHEN old.content_id IS NOT NULL BEGIN
    UPDATE contents SET documents = documents - 1 WHERE id = old.content_id;
END;
CREATE TRIGGER document_repointed AFTER UPDATE OF content_id ON documents
WHEN old.content_id IS NOT new.content_id BEGIN
    UPDATE contents SET documents = documents - 1 WHERE id = old.content_id;
    UPDATE contents SET documents = documents + 1 WHERE id = new.content_id;
END;

-- Passages tile the text of their content, so the text is stored nowhere else.
CREATE TABLE passages (
    id          INTEGER PRIMARY KEY AUTOINCREMENT,
    content_id  INTEGER NOT NULL REFERENCES contents (id) ON DELETE CASCADE,
    ordinal     INTEGER NOT NULL,
    start       INTEGER NOT NULL,
    end         INTEGER NOT NULL,
    text        TEXT NOT NULL,
    line        INTEGER,
    heading     TEXT NOT NULL,                      -- JSON array
    prefix      TEXT NOT NULL,
    input_hash  BLOB NOT NULL,                      -- sha256 of what is embedded
    UNIQUE (content_id, ordinal)
) STRICT;
CREATE INDEX passages_by_start ON passages (content_id, start);
CREATE INDEX passages_by_input ON passages (input_hash, content_id);

CREATE TABLE sections (
    content_id  INTEGER NOT NULL REFERENCES contents (id) ON DELETE CASCADE,
    ordinal     INTEGER NOT NULL,
    level       INTEGER NOT NULL,
    heading     TEXT NOT NULL,
    start       INTEGER NOT NULL,
    end         INTEGER NOT NULL,
    path        TEXT NOT NULL,                      -- JSON array
    PRIMARY KEY (content_id, ordinal)
) STRICT, WITHOUT ROWID;
CREATE INDEX sections_by_start ON sections (content_id, start);

CREATE TABLE marks (
    content_id  INTEGER NOT NULL REFERENCES contents (id) ON DELETE CASCADE,
    ordinal     INTEGER NOT NULL,
    kind        TEXT NOT NULL CHECK (kind IN ('page', 'chapter')),
    label       TEXT NOT NULL,
    start       INTEGER NOT NULL,
    PRIMARY KEY (content_id, ordinal)
) STRICT, WITHOUT ROWID;
CREATE INDEX marks_by_start ON marks (content_id, kind, start);

CREATE TABLE tags (
    content_id  INTEGER NOT NULL REFERENCES contents (id) ON DELETE CASCADE,
    tag         TEXT NOT NULL,                      -- folded
    PRIMARY KEY (content_id, tag)
) STRICT, WITHOUT ROWID;
CREATE INDEX tags_by_tag ON tags (tag);

-- Filled with folded text (fold.py); rowid = passages.id.
CREATE VIRTUAL TABLE passages_fts USING fts5 (
    body, heading, content = '', contentless_delete = 1,
    tokenize = "porter unicode61 remove_diacritics 2 categories 'L* N* Co M*'"
);
CREATE VIRTUAL TABLE passages_terms USING fts5vocab (passages_fts, row);
CREATE VIRTUAL TABLE passages_instances USING fts5vocab (passages_fts, instance);

-- rowid = documents.id.
CREATE VIRTUAL TABLE names_fts USING fts5 (
    title, name, folders, content = '', contentless_delete = 1,
    tokenize = "unicode61 remove_diacritics 2 categories 'L* N* Co M*'"
);
CREATE VIRTUAL TABLE names_instances USING fts5vocab (names_fts, instance);

-- The vectors themselves are in vec_<encoder id> (sqlite-vec), rowid = vectors.id.
CREATE TABLE vectors (
    id          INTEGER PRIMARY KEY AUTOINCREMENT,
    encoder_id  INTEGER NOT NULL REFERENCES encoders (id),
    input_hash  BLOB NOT NULL,
    UNIQUE (encoder_id, input_hash)
) STRICT;
CREATE INDEX vectors_by_input ON vectors (input_hash, encoder_id);

CREATE TABLE unembeddable (
    encoder_id  INTEGER NOT NULL REFERENCES encoders (id) ON DELETE CASCADE,
    input_hash  BLOB NOT NULL,
    reason      TEXT NOT NULL,
    PRIMARY KEY (input_hash, encoder_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX unembeddable_by_encoder ON unembeddable (encoder_id);

-- What happened to `vectors`, so that a copy in memory can follow.
CREATE TABLE vector_log (
    seq         INTEGER PRIMARY KEY AUTOINCREMENT,
    encoder_id  INTEGER NOT NULL,
    vector_id   INTEGER NOT NULL,
    added       INTEGER NOT NULL
) STRICT;
CREATE TRIGGER vector_added AFTER INSERT ON vectors BEGIN
    INSERT INTO vector_log (encoder_id, vector_id, added) VALUES (new.encoder_id, new.id, 1);
END;
CREATE TRIGGER vector_removed AFTER DELETE ON vectors BEGIN
    INSERT INTO vector_log (encoder_id, vector_id, added) VALUES (old.encoder_id, old.id, 0);
END;

-- Outputs of models without a live source, kept for a while outside search.
CREATE TABLE memo (
    key           TEXT PRIMARY KEY,
    stage         TEXT NOT NULL,
    output        BLOB NOT NULL,
    unused_since  INTEGER                           -- seconds since 1970
) STRICT;
CREATE INDEX memo_by_age ON memo (unused_since);

CREATE TABLE jobs (
    id          INTEGER PRIMARY KEY AUTOINCREMENT,
    kind        TEXT NOT NULL,
    key         TEXT NOT NULL,
    priority    INTEGER NOT NULL,
    state       TEXT NOT NULL DEFAULT 'queued' CHECK (state IN ('queued', 'running', 'quarantined')),
    again       INTEGER NOT NULL DEFAULT 0,         -- enqueued while running: run once more
    attempts    INTEGER NOT NULL DEFAULT 0,
    not_before  INTEGER NOT NULL DEFAULT 0,         -- milliseconds since 1970
    heartbeat   INTEGER,                            -- milliseconds since 1970
    payload     TEXT NOT NULL DEFAULT '{}',
    reason      TEXT
) STRICT;
CREATE UNIQUE INDEX jobs_live ON jobs (kind, key) WHERE state IN ('queued', 'running');
CREATE INDEX jobs_in_order ON jobs (priority, id, kind, not_before) WHERE state = 'queued';
CREATE INDEX jobs_by_key ON jobs (kind, key, state);
CREATE INDEX jobs_by_state ON jobs (state, kind);

CREATE TABLE counters (
    name   TEXT PRIMARY KEY,
    value  INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE meta (
    name   TEXT PRIMARY KEY,
    value  INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
INSERT INTO meta VALUES ('vector_log_trimmed', 0);

-- Which bundle the user chose for each kind of model.
CREATE TABLE choices (
    kind  TEXT PRIMARY KEY,
    name  TEXT NOT NULL
) STRICT, WITHOUT ROWID;
