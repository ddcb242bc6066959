-- Version 5: what the card was like while a kernel was timed, the energy of a launch, and what a
-- profiler counted.

-- As the driver told, beside a measured timing. Figures that it did not tell are null.
CREATE TABLE card_state (
  candidate_id        INTEGER NOT NULL REFERENCES candidate (id) ON DELETE CASCADE,
  shape               TEXT NOT NULL,
  looks               INTEGER NOT NULL CHECK (looks > 0),
  sm_clock_min_mhz    REAL,
  sm_clock_median_mhz REAL,
  memory_clock_mhz    REAL,
  temperature_c       REAL,
  power_w             REAL,
  slowdowns           TEXT NOT NULL CHECK (json_valid(slowdowns)),  -- ["power cap", ...]: any seen
  discarded           INTEGER NOT NULL CHECK (discarded >= 0),      -- samples taken again
  throttled           INTEGER NOT NULL CHECK (throttled IN (0, 1)), -- 1: it stayed throttled
  others              TEXT NOT NULL CHECK (json_valid(others)),     -- ["4711 (python3)", ...]
  busy_before_percent REAL,                            -- by others, where they are not listed
  PRIMARY KEY (candidate_id, shape)
) WITHOUT ROWID;

-- The whole card's, between two changes of its counter. `complete` = 0: of a short window, to choose
-- what comes next; 1: as the elite's.
CREATE TABLE energy (
  candidate_id INTEGER NOT NULL REFERENCES candidate (id) ON DELETE CASCADE,
  shape        TEXT NOT NULL,
  complete     INTEGER NOT NULL CHECK (complete IN (0, 1)),
  launch_mj    REAL NOT NULL CHECK (launch_mj > 0),    -- millijoules of one launch
  power_w      REAL NOT NULL,                          -- mean over the window
  window_s     REAL NOT NULL CHECK (window_s > 0),
  launches     INTEGER NOT NULL CHECK (launches > 0),  -- in the window
  measured_at  TEXT NOT NULL DEFAULT (strftime('%Y-%m-%dT%H:%M:%fZ', 'now')),
  PRIMARY KEY (candidate_id, shape, complete)
) WITHOUT ROWID;

-- The profile gate of a candidate. `kind`: 'measured' counters, or 'predicted' by the time model.
CREATE TABLE profile (
  candidate_id INTEGER NOT NULL REFERENCES candidate (id) ON DELETE CASCADE,
  shape        TEXT NOT NULL,
  kind         TEXT NOT NULL CHECK (kind IN ('measured', 'predicted')),
  tool         TEXT NOT NULL,                          -- what counted, with its version
  require      TEXT NOT NULL,                          -- the expression that must be true
  passed       INTEGER NOT NULL CHECK (passed IN (0, 1)),
  profiled_at  TEXT NOT NULL DEFAULT (strftime('%Y-%m-%dT%H:%M:%fZ', 'now')),
  PRIMARY KEY (candidate_id, shape)
) WITHOUT ROWID;

CREATE TABLE profile_metric (
  candidate_id INTEGER NOT NULL REFERENCES candidate (id) ON DELETE CASCADE,
  shape        TEXT NOT NULL,
  name         TEXT NOT NULL,                          -- in the expression
  metric       TEXT NOT NULL,                          -- the tool's name for it
  value        REAL NOT NULL,
  unit         TEXT NOT NULL,
  PRIMARY KEY (candidate_id, shape, name)
) WITHOUT ROWID;
