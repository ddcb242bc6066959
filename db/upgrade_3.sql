-- Version 3: compilations that opened files in include paths. One request then has a row for each
-- content that those files had. And kernels that were green and failed later.
ALTER TABLE compilation ADD COLUMN request_key TEXT NOT NULL DEFAULT '';  -- key without those files
UPDATE compilation SET request_key = key;
CREATE INDEX compilation_by_request ON compilation (request_key);

CREATE TABLE dependency (
  compilation_id INTEGER NOT NULL REFERENCES compilation (id) ON DELETE CASCADE,
  path           TEXT NOT NULL,
  content        TEXT NOT NULL,                        -- its content key; empty: it was not there
  PRIMARY KEY (compilation_id, path)
) WITHOUT ROWID;

-- A green candidate that failed when it was run again, in a comparison and then alone: it has left
-- the elite, cannot come back and is not exported. Its evaluation stays as it was.
CREATE TABLE withdrawal (
  candidate_id INTEGER PRIMARY KEY REFERENCES candidate (id) ON DELETE CASCADE,
  generation   INTEGER NOT NULL CHECK (generation >= 0),
  gate         TEXT NOT NULL CHECK (gate IN ('build', 'resource', 'correctness', 'timing')),
  reason       TEXT NOT NULL,
  detail       TEXT NOT NULL
);

-- What a row, with all that belongs to it, was when it was stored. Whoever shows it holds it
-- against this first: SQLite itself does not notice a changed byte inside a value. Rows of earlier
-- versions have none.
CREATE TABLE seal (
  kind   TEXT NOT NULL CHECK (kind IN ('run', 'evaluation', 'compilation', 'generation')),
  id     INTEGER NOT NULL,                             -- of the run for a generation
  part   INTEGER NOT NULL,                             -- the generation's number; otherwise 0
  digest TEXT NOT NULL,                                -- content key of the values (db/seal.cpp)
  PRIMARY KEY (kind, id, part)
) WITHOUT ROWID;
