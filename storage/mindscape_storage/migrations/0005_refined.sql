-- The model's track: beside the extractive summary of a node what a model wrote, or that it was rejected.

ALTER TABLE nodes ADD COLUMN model INTEGER REFERENCES summaries (id);
ALTER TABLE folder_nodes ADD COLUMN model INTEGER REFERENCES summaries (id);
CREATE INDEX nodes_by_model ON nodes (model) WHERE model IS NOT NULL;
CREATE INDEX folder_nodes_by_model ON folder_nodes (model) WHERE model IS NOT NULL;

-- Which model is used, and how it is asked; without a row none is.
CREATE TABLE refined_by (how TEXT NOT NULL) STRICT;

-- Whether the model in use, if any, has been through the nodes of a content.
ALTER TABLE contents ADD COLUMN refined INTEGER NOT NULL DEFAULT 0;
CREATE INDEX contents_unrefined ON contents (refined, id) WHERE refined = 0 AND tree IS NOT NULL;

-- Changes since the model in use, if any, has been through the nodes of a folder; 0: none.
ALTER TABLE folders ADD COLUMN unrefined INTEGER NOT NULL DEFAULT 1;
-- 1: something below says other things than when the model wrote, so what is extractive is served.
ALTER TABLE folders ADD COLUMN dated INTEGER NOT NULL DEFAULT 0;
CREATE INDEX folders_unrefined ON folders (unrefined) WHERE unrefined > 0;

CREATE TRIGGER content_refined AFTER UPDATE OF refined ON contents WHEN new.refined = 1 BEGIN
    UPDATE folders SET unrefined = unrefined + 1
    WHERE id IN (SELECT folder_id FROM documents WHERE content_id = new.id);
END;

-- A summary is used while a node of either kind has it, on either track.
CREATE VIEW used_summaries (summary) AS
    SELECT summary FROM nodes UNION ALL SELECT summary FROM folder_nodes
    UNION ALL SELECT model FROM nodes WHERE model IS NOT NULL
    UNION ALL SELECT model FROM folder_nodes WHERE model IS NOT NULL;

DROP TRIGGER node_added;
DROP TRIGGER folder_node_added;
DROP TRIGGER node_removed;
DROP TRIGGER folder_node_removed;

CREATE TRIGGER node_added AFTER INSERT ON nodes BEGIN
    DELETE FROM unused_summaries WHERE summary IN (new.summary, new.model);
END;
CREATE TRIGGER folder_node_added AFTER INSERT ON folder_nodes BEGIN
    DELETE FROM unused_summaries WHERE summary IN (new.summary, new.model);
END;
CREATE TRIGGER node_removed AFTER DELETE ON nodes BEGIN
    INSERT OR IGNORE INTO unused_summaries SELECT s.id, unixepoch() FROM summaries s
    WHERE s.id IN (old.summary, old.model)
      AND NOT EXISTS (SELECT 1 FROM used_summaries u WHERE u.summary = s.id);
END;
CREATE TRIGGER folder_node_removed AFTER DELETE ON folder_nodes BEGIN
    INSERT OR IGNORE INTO unused_summaries SELECT s.id, unixepoch() FROM summaries s
    WHERE s.id IN (old.summary, old.model)
      AND NOT EXISTS (SELECT 1 FROM used_summaries u WHERE u.summary = s.id);
END;
CREATE TRIGGER node_refined AFTER UPDATE OF model ON nodes WHEN old.model IS NOT new.model BEGIN
    DELETE FROM unused_summaries WHERE summary = new.model;
    INSERT OR IGNORE INTO unused_summaries SELECT s.id, unixepoch() FROM summaries s
    WHERE s.id = old.model AND NOT EXISTS (SELECT 1 FROM used_summaries u WHERE u.summary = s.id);
END;
CREATE TRIGGER folder_node_refined AFTER UPDATE OF model ON folder_nodes WHEN old.model IS NOT new.model BEGIN
    DELETE FROM unused_summaries WHERE summary = new.model;
    INSERT OR IGNORE INTO unused_summaries SELECT s.id, unixepoch() FROM summaries s
    WHERE s.id = old.model AND NOT EXISTS (SELECT 1 FROM used_summaries u WHERE u.summary = s.id);
END;
