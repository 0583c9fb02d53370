-- The mindscape: nodes over the passages of a content and over the children of a folder, and their summaries.

CREATE TABLE summaries (
    id       INTEGER PRIMARY KEY AUTOINCREMENT,
    key      BLOB NOT NULL UNIQUE,                  -- hash of what it was made from, and how
    digest   BLOB NOT NULL,                         -- hash of the text: enters the keys of what is above
    tokens   INTEGER NOT NULL,
    made_by  TEXT NOT NULL,
    made_at  INTEGER NOT NULL,                      -- seconds since 1970
    text     TEXT NOT NULL
) STRICT;
CREATE INDEX summaries_not_made ON summaries (id) WHERE made_by = 'nothing';

-- Those that no node has, kept for a while in case what they say returns.
CREATE TABLE unused_summaries (
    summary  INTEGER PRIMARY KEY REFERENCES summaries (id) ON DELETE CASCADE,
    since    INTEGER NOT NULL                       -- seconds since 1970
) STRICT;
CREATE INDEX unused_summaries_by_age ON unused_summaries (since);

-- Level 1 stands over passages, level k + 1 over level k; children are ordinals of the level below.
CREATE TABLE nodes (
    content_id   INTEGER NOT NULL REFERENCES contents (id) ON DELETE CASCADE,
    level        INTEGER NOT NULL,
    ordinal      INTEGER NOT NULL,
    first_child  INTEGER NOT NULL,
    end_child    INTEGER NOT NULL,                  -- the ordinal after the last child's
    start        INTEGER NOT NULL,                  -- code points of the text
    end          INTEGER NOT NULL,
    summary      INTEGER NOT NULL REFERENCES summaries (id),
    PRIMARY KEY (content_id, level, ordinal)
) STRICT, WITHOUT ROWID;
CREATE INDEX nodes_by_summary ON nodes (summary);

-- Every folder that holds documents, up to the root it was found in; folder 0 is the library itself.
CREATE TABLE folders (
    id       INTEGER PRIMARY KEY AUTOINCREMENT,
    root_id  INTEGER REFERENCES roots (id) ON DELETE CASCADE,
    parent   INTEGER REFERENCES folders (id),
    path     BLOB NOT NULL,
    depth    INTEGER NOT NULL,
    changes  INTEGER NOT NULL DEFAULT 0,            -- below it, since its nodes were made; 0: they are current
    UNIQUE (root_id, path)
) STRICT;
INSERT INTO folders (id, path, depth) VALUES (0, x'', 0);
CREATE INDEX folders_by_parent ON folders (parent);
CREATE INDEX folders_changed ON folders (depth) WHERE changes > 0;

-- A node over the children of a folder from one name to another, in the order of names.
CREATE TABLE folder_nodes (
    folder_id   INTEGER NOT NULL REFERENCES folders (id) ON DELETE CASCADE,
    level       INTEGER NOT NULL,
    first_name  BLOB NOT NULL,
    last_name   BLOB NOT NULL,
    summary     INTEGER NOT NULL REFERENCES summaries (id),
    PRIMARY KEY (folder_id, level, first_name)
) STRICT, WITHOUT ROWID;
CREATE INDEX folder_nodes_by_summary ON folder_nodes (summary);

CREATE TRIGGER node_added AFTER INSERT ON nodes BEGIN
    DELETE FROM unused_summaries WHERE summary = new.summary;
END;
CREATE TRIGGER folder_node_added AFTER INSERT ON folder_nodes BEGIN
    DELETE FROM unused_summaries WHERE summary = new.summary;
END;
CREATE TRIGGER node_removed AFTER DELETE ON nodes
WHEN NOT EXISTS (SELECT 1 FROM nodes WHERE summary = old.summary)
 AND NOT EXISTS (SELECT 1 FROM folder_nodes WHERE summary = old.summary) BEGIN
    INSERT OR IGNORE INTO unused_summaries VALUES (old.summary, unixepoch());
END;
CREATE TRIGGER folder_node_removed AFTER DELETE ON folder_nodes
WHEN NOT EXISTS (SELECT 1 FROM nodes WHERE summary = old.summary)
 AND NOT EXISTS (SELECT 1 FROM folder_nodes WHERE summary = old.summary) BEGIN
    INSERT OR IGNORE INTO unused_summaries VALUES (old.summary, unixepoch());
END;
CREATE TRIGGER summary_added AFTER INSERT ON summaries BEGIN
    INSERT OR IGNORE INTO unused_summaries VALUES (new.id, unixepoch());
END;

-- The version of the rules by which the nodes of a content were made; NULL while it has none.
ALTER TABLE contents ADD COLUMN tree TEXT;
CREATE INDEX contents_without_tree ON contents (id) WHERE tree IS NULL AND passages > 0;
CREATE INDEX contents_by_tree ON contents (tree);

ALTER TABLE documents ADD COLUMN folder_id INTEGER REFERENCES folders (id);
CREATE INDEX documents_by_folder ON documents (folder_id);

-- What a folder's nodes stand over: its documents with their names and contents, and its folders.
CREATE TRIGGER document_in_folder AFTER INSERT ON documents BEGIN
    UPDATE folders SET changes = changes + 1 WHERE id = new.folder_id;
END;
CREATE TRIGGER document_out_of_folder AFTER DELETE ON documents BEGIN
    UPDATE folders SET changes = changes + 1 WHERE id = old.folder_id;
END;
CREATE TRIGGER document_in_folder_changed AFTER UPDATE OF path, folder_id, content_id ON documents
WHEN (old.path, old.folder_id, old.content_id) IS NOT (new.path, new.folder_id, new.content_id) BEGIN
    UPDATE folders SET changes = changes + 1 WHERE id IN (old.folder_id, new.folder_id);
END;
CREATE TRIGGER content_got_tree AFTER UPDATE OF tree ON contents BEGIN
    UPDATE folders SET changes = changes + 1
    WHERE id IN (SELECT folder_id FROM documents WHERE content_id = new.id);
END;
CREATE TRIGGER folder_removed AFTER DELETE ON folders BEGIN
    UPDATE folders SET changes = changes + 1 WHERE id = old.parent;
END;
