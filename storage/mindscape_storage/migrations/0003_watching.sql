-- Why a root gives no events or is away; what was mounted in it; and which of its folders are away.

ALTER TABLE roots ADD COLUMN reason TEXT;

CREATE TABLE mounts (
    root_id  INTEGER NOT NULL REFERENCES roots (id) ON DELETE CASCADE,
    path     BLOB NOT NULL,
    what     TEXT NOT NULL,                         -- kind and source of the file system
    PRIMARY KEY (root_id, path)
) STRICT, WITHOUT ROWID;

CREATE TABLE absences (
    root_id  INTEGER NOT NULL REFERENCES roots (id) ON DELETE CASCADE,
    path     BLOB NOT NULL,
    since    INTEGER NOT NULL,                      -- seconds since 1970
    PRIMARY KEY (root_id, path)
) STRICT, WITHOUT ROWID;
