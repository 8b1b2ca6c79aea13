-- What was to be taken back and could not be: every page and every watcher asks how much that is, and each read all done
-- actions of the mirror.
CREATE INDEX actions_asked_back ON actions (mirror, state) WHERE undo_asked_ms IS NOT NULL;
