-- Version 8: why the winner won.

-- The way from a configuration to the winner, a few macros at a time, timed after the search. Its
-- times are of the kind of the run's device. Rows of a winner that is no more are out of date.
CREATE TABLE winner_step (
  run_id     INTEGER NOT NULL REFERENCES run (id) ON DELETE CASCADE,
  start      TEXT NOT NULL,                            -- 'default', or the name of a milestone
  position   INTEGER NOT NULL CHECK (position >= 0),   -- 0: the start itself
  winner_id  INTEGER NOT NULL REFERENCES candidate (id) ON DELETE CASCADE,
  config     TEXT NOT NULL CHECK (json_valid(config)),   -- after the step
  changes    TEXT NOT NULL CHECK (json_valid(changes)),  -- [{"macro", "from", "to"}, ...]
  p50_us     REAL NOT NULL CHECK (p50_us > 0),         -- measured or predicted by itself
  ratio      REAL NOT NULL CHECK (ratio > 0),          -- time after the step / before; 1 at the start
  ratio_low  REAL NOT NULL,
  ratio_high REAL NOT NULL,
  pairs      INTEGER NOT NULL CHECK (pairs >= 0),      -- 0: the ratio is that of p50_us
  note       TEXT NOT NULL,                            -- why these macros go together; for people
  PRIMARY KEY (run_id, start, position)
) WITHOUT ROWID;

CREATE TRIGGER winner_step_is_of_the_run BEFORE INSERT ON winner_step
WHEN NEW.run_id <> (SELECT run_id FROM candidate WHERE id = NEW.winner_id)
BEGIN
  SELECT RAISE(ABORT, 'a way leads to a candidate of another run');
END;

-- How busy the time model says that the units of an SM are while the winner runs, in per cent of
-- the time. Predicted, whatever the run's device is.
CREATE TABLE winner_unit (
  run_id    INTEGER NOT NULL REFERENCES run (id) ON DELETE CASCADE,
  winner_id INTEGER NOT NULL REFERENCES candidate (id) ON DELETE CASCADE,
  metric    TEXT NOT NULL,                             -- by Nsight Compute's name
  percent   REAL NOT NULL CHECK (percent >= 0),
  PRIMARY KEY (run_id, metric)
) WITHOUT ROWID;
