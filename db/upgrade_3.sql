-- Version 3: what a row, with all that belongs to it, was when it was stored. Whoever shows it holds it
-- against this first: SQLite itself does not notice a changed byte inside a value. Rows of earlier
-- versions have none.
CREATE TABLE seal (
  kind   TEXT NOT NULL CHECK (kind IN ('run', 'evaluation', 'compilation', 'generation')),
  id     INTEGER NOT NULL,                             -- of the run for a generation
  part   INTEGER NOT NULL,                             -- the generation's number; otherwise 0
  digest TEXT NOT NULL,                                -- content key of the values (db/seal.cpp)
  PRIMARY KEY (kind, id, part)
) WITHOUT ROWID;
