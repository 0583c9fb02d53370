-- What was asked and answered. Nothing here is derived: it stays when documents change, and says that they did.

CREATE TABLE conversations (
    id       INTEGER PRIMARY KEY AUTOINCREMENT,
    title    TEXT NOT NULL,
    started  INTEGER NOT NULL,                      -- seconds since 1970
    last     INTEGER NOT NULL                       -- when its last turn was saved
) STRICT;
CREATE INDEX conversations_by_last ON conversations (last, id);

CREATE TABLE turns (
    conversation_id  INTEGER NOT NULL REFERENCES conversations (id) ON DELETE CASCADE,
    ordinal          INTEGER NOT NULL,
    asked_at         INTEGER NOT NULL,              -- seconds since 1970
    question         TEXT NOT NULL,
    rewritten        TEXT,                          -- with what the turns before it say; NULL: as it was asked
    answer           TEXT,                          -- NULL: a text that it was made from was forgotten
    answered         INTEGER NOT NULL,
    mode             TEXT NOT NULL,
    made_by          TEXT NOT NULL,
    model            TEXT,
    wide             INTEGER NOT NULL,              -- 1: told from a summary, so perhaps of any document
    PRIMARY KEY (conversation_id, ordinal)
) STRICT, WITHOUT ROWID;

-- The passages that an answer was made from, cited or not. Empty: it had changed before the answer was saved.
CREATE TABLE turn_passages (
    conversation_id  INTEGER NOT NULL,
    ordinal          INTEGER NOT NULL,
    input_hash       BLOB NOT NULL,                 -- that of passages
    PRIMARY KEY (conversation_id, ordinal, input_hash),
    FOREIGN KEY (conversation_id, ordinal) REFERENCES turns ON DELETE CASCADE
) STRICT, WITHOUT ROWID;

CREATE TABLE citations (
    conversation_id  INTEGER NOT NULL,
    ordinal          INTEGER NOT NULL,
    n                INTEGER NOT NULL,              -- its [n] in the answer
    input_hash       BLOB NOT NULL,
    shift            INTEGER NOT NULL,              -- code points from the start of the passage to the quote
    start            INTEGER NOT NULL,              -- code points of the text, half open, when it was saved
    end              INTEGER NOT NULL,
    path             TEXT NOT NULL,
    page             TEXT,
    line             INTEGER,
    heading          TEXT NOT NULL,                 -- JSON array
    quote            TEXT,                          -- NULL: forgotten
    supported        INTEGER,
    PRIMARY KEY (conversation_id, ordinal, n),
    FOREIGN KEY (conversation_id, ordinal) REFERENCES turns ON DELETE CASCADE
) STRICT, WITHOUT ROWID;
