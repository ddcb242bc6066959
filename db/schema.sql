-- evo-tune's database. docs/database.md has example queries. Raise kSchemaVersion in
-- db/database_file.hpp with every change, also of GATES, which stands for the names of the gates
-- (kGateNames): databases of other versions are refused.
--
-- Conventions: times of day are UTC, ISO 8601. Durations carry their unit in the name. Seeds are
-- unsigned 64-bit numbers, written in decimal as text. *_key columns are content keys (128 bits,
-- 32 hexadecimal digits): equal keys mean equal content.

-- The devices that ran kernels. `kind` says whether times are 'measured' on hardware or 'predicted'
-- by a virtual GPU. One row for each distinct description, so a driver update makes a new row.
CREATE TABLE device (
  id                       INTEGER PRIMARY KEY,
  key                      TEXT NOT NULL UNIQUE,
  selector                 TEXT NOT NULL,              -- as on the command line: cuda:0, virtual:l4
  name                     TEXT NOT NULL,
  arch                     TEXT NOT NULL,              -- sm_90
  kind                     TEXT NOT NULL CHECK (kind IN ('measured', 'predicted')),
  sm_count                 INTEGER NOT NULL,
  clock_mhz                REAL NOT NULL,
  max_registers_per_thread INTEGER NOT NULL,
  max_shared_bytes_per_cta INTEGER NOT NULL,
  max_threads_per_cta      INTEGER NOT NULL,
  l2_bytes                 INTEGER NOT NULL,
  peak_tflops              REAL NOT NULL,
  peak_bandwidth_gbs       REAL NOT NULL,
  driver                   TEXT NOT NULL
);

-- Input files, by content.
CREATE TABLE problem (id INTEGER PRIMARY KEY, key TEXT NOT NULL UNIQUE, name TEXT NOT NULL,
                      text TEXT NOT NULL);
CREATE TABLE space (id INTEGER PRIMARY KEY, key TEXT NOT NULL UNIQUE, name TEXT NOT NULL,
                    text TEXT NOT NULL);

-- One invocation of evo-tune, and its resumptions.
CREATE TABLE run (
  id               INTEGER PRIMARY KEY,
  status           TEXT NOT NULL DEFAULT 'running'
                   CHECK (status IN ('running', 'finished', 'interrupted', 'failed')),
  owner            TEXT NOT NULL DEFAULT '',           -- host/process/start of who writes it now
  device_id        INTEGER NOT NULL REFERENCES device (id),
  problem_id       INTEGER NOT NULL REFERENCES problem (id),
  space_id         INTEGER NOT NULL REFERENCES space (id),
  shape            TEXT NOT NULL,                      -- the timed shape
  seed             TEXT NOT NULL,
  strategy         TEXT NOT NULL,
  elite_size       INTEGER NOT NULL CHECK (elite_size > 0),
  offspring        INTEGER NOT NULL CHECK (offspring > 0),       -- new candidates of a generation
  flops_per_launch REAL NOT NULL CHECK (flops_per_launch >= 0),  -- useful work on that shape
  bytes_per_launch REAL NOT NULL CHECK (bytes_per_launch >= 0),
  options          TEXT NOT NULL CHECK (json_valid(options)),
  evo_version      TEXT NOT NULL,
  started_at       TEXT NOT NULL DEFAULT (strftime('%Y-%m-%dT%H:%M:%fZ', 'now')),
  finished_at      TEXT
);
CREATE INDEX run_by_input ON run (space_id, problem_id, shape, device_id);

-- The compilation of one source with one set of options; shared by all runs. `key` covers
-- source, headers, options, architecture, the compiler's version and the dependencies. Failures are
-- kept as well.
CREATE TABLE compilation (
  id                  INTEGER PRIMARY KEY,
  key                 TEXT NOT NULL UNIQUE,
  request_key         TEXT NOT NULL,                   -- without the files in include paths
  ok                  INTEGER NOT NULL CHECK (ok IN (0, 1)),
  arch                TEXT NOT NULL,
  compiler            TEXT NOT NULL,
  options             TEXT NOT NULL,                   -- blank separated, with all -D
  error               TEXT NOT NULL,                   -- one line; empty when ok
  compile_ms          REAL NOT NULL,
  ptx_hash            TEXT,                            -- identity of the kernel; set if ok
  registers           INTEGER NOT NULL,
  static_shared_bytes INTEGER NOT NULL,
  spill_store_bytes   INTEGER NOT NULL,
  spill_load_bytes    INTEGER NOT NULL,
  stack_bytes         INTEGER NOT NULL,
  max_threads         INTEGER NOT NULL,
  created_at          TEXT NOT NULL DEFAULT (strftime('%Y-%m-%dT%H:%M:%fZ', 'now')),
  CHECK ((ok = 1) = (ptx_hash IS NOT NULL)),
  CHECK ((ok = 0) = (length(error) > 0))
);
CREATE INDEX compilation_by_ptx ON compilation (ptx_hash);
CREATE INDEX compilation_by_request ON compilation (request_key);

-- The files that a compilation looked for in include paths. One request has a compilation for each
-- content that they had.
CREATE TABLE dependency (
  compilation_id INTEGER NOT NULL REFERENCES compilation (id) ON DELETE CASCADE,
  path           TEXT NOT NULL,
  content        TEXT NOT NULL,                        -- its content key; empty: it was not there
  PRIMARY KEY (compilation_id, path)
) WITHOUT ROWID;

-- The artifacts of compilations as Zstandard frames, which `zstd -d` unpacks: sources once by
-- content, logs, PTX and cubins in a row of their own, away from the small columns.
CREATE TABLE source (id INTEGER PRIMARY KEY, key TEXT NOT NULL UNIQUE,
                     text BLOB NOT NULL);              -- frame: expanded, includes inlined

CREATE TABLE artifact (
  compilation_id INTEGER PRIMARY KEY REFERENCES compilation (id) ON DELETE CASCADE,
  source_id      INTEGER NOT NULL REFERENCES source (id),
  log            BLOB NOT NULL,                        -- frame
  ptx            BLOB NOT NULL,                        -- frame; of an empty text when not ok
  cubin          BLOB NOT NULL                         -- frame; the same
);
CREATE INDEX artifact_by_source ON artifact (source_id);

-- One evaluated configuration of a run. Its outcome is exactly one of: a row in rejection, a row in
-- timing (green), duplicate_of (the same kernel was evaluated before; that outcome holds), or none
-- of these (without a device, a kernel that passes the resource gate is not judged further).
CREATE TABLE candidate (
  id                   INTEGER PRIMARY KEY,
  run_id               INTEGER NOT NULL REFERENCES run (id) ON DELETE CASCADE,
  generation           INTEGER NOT NULL CHECK (generation >= 0),
  position             INTEGER NOT NULL CHECK (position >= 0),   -- within the generation
  key                  TEXT NOT NULL,                  -- of the configuration
  config               TEXT NOT NULL CHECK (json_valid(config)), -- {"MACRO": value, ...}
  origin               TEXT NOT NULL,                  -- milestone, random, or the operator
  milestone            TEXT,                           -- its name; null for others
  compilation_id       INTEGER REFERENCES compilation (id),
  kernel_key           TEXT,                           -- PTX and launch geometry
  duplicate_of         INTEGER REFERENCES candidate (id) ON DELETE CASCADE,
  dynamic_shared_bytes INTEGER NOT NULL DEFAULT 0,
  compile_ms           REAL NOT NULL DEFAULT 0,
  check_ms             REAL NOT NULL DEFAULT 0,
  time_ms              REAL NOT NULL DEFAULT 0,
  manifest             TEXT CHECK (manifest IS NULL OR json_valid(manifest)),
  created_at           TEXT NOT NULL DEFAULT (strftime('%Y-%m-%dT%H:%M:%fZ', 'now')),
  UNIQUE (run_id, generation, position),
  CHECK (duplicate_of IS NULL OR duplicate_of <> id)
);
CREATE INDEX candidate_by_duplicate ON candidate (duplicate_of);
CREATE INDEX candidate_by_compilation ON candidate (compilation_id);

-- Comparisons with the reference, in the order they were made.
CREATE TABLE check_result (
  candidate_id  INTEGER NOT NULL REFERENCES candidate (id) ON DELETE CASCADE,
  position      INTEGER NOT NULL,
  shape         TEXT NOT NULL,
  seed          TEXT NOT NULL,
  max_abs_error REAL,                                  -- null: not finite
  bad_share     REAL,                                  -- 0 to 1
  relative_l2   REAL,
  max_row_error REAL,                                  -- relative to the rows of the output
  sampled       TEXT NOT NULL,                         -- what was run and compared; empty: all
  PRIMARY KEY (candidate_id, position)
) WITHOUT ROWID;

-- The distribution of the time of one launch, on the shape of the run.
CREATE TABLE timing (
  candidate_id INTEGER PRIMARY KEY REFERENCES candidate (id) ON DELETE CASCADE,
  kind         TEXT NOT NULL CHECK (kind IN ('measured', 'predicted')),
  p50_us       REAL NOT NULL CHECK (p50_us > 0),
  p90_us       REAL NOT NULL,
  p99_us       REAL NOT NULL,
  mean_us      REAL NOT NULL,
  std_us       REAL NOT NULL,
  cv           REAL NOT NULL,
  samples      INTEGER NOT NULL CHECK (samples > 0),
  complete     INTEGER NOT NULL CHECK (complete IN (0, 1)),  -- 0: stopped early, too slow to matter
  not_modelled TEXT NOT NULL,                          -- of a predicted time, for people
  host         TEXT NOT NULL,                          -- the machine that it was taken on
  gpu_uuid     TEXT NOT NULL,                          -- GPU-0a1b…; empty for a virtual GPU
  measured_at  TEXT NOT NULL DEFAULT (strftime('%Y-%m-%dT%H:%M:%fZ', 'now'))
);

-- Predicted and measured times never share a run.
CREATE TRIGGER timing_kind_is_the_devices BEFORE INSERT ON timing
WHEN NEW.kind <> (SELECT d.kind FROM candidate c JOIN run r ON r.id = c.run_id
                  JOIN device d ON d.id = r.device_id WHERE c.id = NEW.candidate_id)
BEGIN SELECT RAISE(ABORT, 'the kind of a timing differs from the kind of its run''s device'); END;

CREATE TABLE rejection (
  candidate_id INTEGER PRIMARY KEY REFERENCES candidate (id) ON DELETE CASCADE,
  gate         TEXT NOT NULL CHECK (gate IN (GATES) AND gate <> 'profile'),
  reason       TEXT NOT NULL,
  detail       TEXT NOT NULL,
  policy_only  INTEGER NOT NULL CHECK (policy_only IN (0, 1))  -- 1: the device would have run it
);

-- A green candidate that failed in a later run (in a comparison and then alone), or did not pass
-- the profile gate. It has left the elite permanently and is not exported. Its evaluation does not
-- change.
CREATE TABLE withdrawal (
  candidate_id INTEGER PRIMARY KEY REFERENCES candidate (id) ON DELETE CASCADE,
  generation   INTEGER NOT NULL CHECK (generation >= 0),
  gate         TEXT NOT NULL CHECK (gate IN (GATES)),
  reason       TEXT NOT NULL,
  detail       TEXT NOT NULL
);

-- The driver's figures of the GPU during a measured timing. Missing figures are null.
CREATE TABLE gpu_state (
  candidate_id        INTEGER PRIMARY KEY REFERENCES candidate (id) ON DELETE CASCADE,
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
  busy_before_percent REAL                             -- by others, where they are not listed
);

-- The energy per launch of the whole GPU, between two updates of its counter. `complete` = 0: over
-- a short window, for the search; 1: over a long window, for the elite.
CREATE TABLE energy (
  candidate_id INTEGER NOT NULL REFERENCES candidate (id) ON DELETE CASCADE,
  complete     INTEGER NOT NULL CHECK (complete IN (0, 1)),
  launch_mj    REAL NOT NULL CHECK (launch_mj > 0),    -- millijoules of one launch
  power_w      REAL NOT NULL,                          -- mean over the window
  window_s     REAL NOT NULL CHECK (window_s > 0),
  launches     INTEGER NOT NULL CHECK (launches > 0),  -- in the window
  measured_at  TEXT NOT NULL DEFAULT (strftime('%Y-%m-%dT%H:%M:%fZ', 'now')),
  PRIMARY KEY (candidate_id, complete)
) WITHOUT ROWID;

-- The profile gate of a candidate. `kind`: 'measured' counters, or 'predicted' by the time model.
CREATE TABLE profile (
  candidate_id INTEGER PRIMARY KEY REFERENCES candidate (id) ON DELETE CASCADE,
  kind         TEXT NOT NULL CHECK (kind IN ('measured', 'predicted')),
  tool         TEXT NOT NULL,                          -- what counted, with its version
  require      TEXT NOT NULL,                          -- the expression that must be true
  passed       INTEGER NOT NULL CHECK (passed IN (0, 1)),
  profiled_at  TEXT NOT NULL DEFAULT (strftime('%Y-%m-%dT%H:%M:%fZ', 'now'))
);

CREATE TABLE profile_metric (
  candidate_id INTEGER NOT NULL REFERENCES candidate (id) ON DELETE CASCADE,
  name         TEXT NOT NULL,                          -- in the expression
  metric       TEXT NOT NULL,                          -- the tool's name for it
  value        REAL NOT NULL,
  unit         TEXT NOT NULL,
  PRIMARY KEY (candidate_id, name)
) WITHOUT ROWID;

-- A finished generation.
CREATE TABLE generation (
  run_id         INTEGER NOT NULL REFERENCES run (id) ON DELETE CASCADE,
  number         INTEGER NOT NULL CHECK (number >= 0),
  wall_ms        REAL NOT NULL,
  control_p50_us REAL,                                 -- the re-timed control, null without one
  control_drift  REAL,                                 -- control_p50_us / its first value - 1
  finished_at    TEXT NOT NULL DEFAULT (strftime('%Y-%m-%dT%H:%M:%fZ', 'now')),
  PRIMARY KEY (run_id, number)
) WITHOUT ROWID;

-- The run's own ranking after each generation, confirmed by A/B comparisons where times are
-- measured; it may therefore differ from the order of p50_us.
CREATE TABLE elite_member (
  run_id       INTEGER NOT NULL,
  generation   INTEGER NOT NULL,
  rank         INTEGER NOT NULL CHECK (rank > 0),
  candidate_id INTEGER NOT NULL REFERENCES candidate (id) ON DELETE CASCADE,
  p50_us       REAL NOT NULL CHECK (p50_us > 0),       -- when it was ranked
  PRIMARY KEY (run_id, generation, rank),
  UNIQUE (run_id, generation, candidate_id),
  FOREIGN KEY (run_id, generation) REFERENCES generation (run_id, number) ON DELETE CASCADE
) WITHOUT ROWID;

-- An A/B comparison of two candidates by interleaved pairs. ratio = time of the challenger /
-- time of the incumbent.
CREATE TABLE comparison (
  id            INTEGER PRIMARY KEY,
  run_id        INTEGER NOT NULL REFERENCES run (id) ON DELETE CASCADE,
  generation    INTEGER NOT NULL,
  challenger_id INTEGER NOT NULL REFERENCES candidate (id) ON DELETE CASCADE,
  incumbent_id  INTEGER NOT NULL REFERENCES candidate (id) ON DELETE CASCADE,
  ratio         REAL NOT NULL CHECK (ratio > 0),
  ratio_low     REAL NOT NULL,
  ratio_high    REAL NOT NULL,
  pairs         INTEGER NOT NULL,
  verdict       TEXT NOT NULL CHECK (verdict IN ('faster', 'slower', 'tie')),
  created_at    TEXT NOT NULL DEFAULT (strftime('%Y-%m-%dT%H:%M:%fZ', 'now'))
);
CREATE INDEX comparison_by_run ON comparison (run_id);

-- Everything else that happened: a worker was killed and restarted, clocks were throttled...
CREATE TABLE event (
  id     INTEGER PRIMARY KEY,
  run_id INTEGER NOT NULL REFERENCES run (id) ON DELETE CASCADE,
  at     TEXT NOT NULL DEFAULT (strftime('%Y-%m-%dT%H:%M:%fZ', 'now')),
  kind   TEXT NOT NULL,
  text   TEXT NOT NULL
);
CREATE INDEX event_by_run ON event (run_id);

-- The time of another implementation, such as a vendor's library, for the problem and shape of a
-- run, timed in turn with a kernel of the run. Other programs write it.
CREATE TABLE vendor_time (
  run_id       INTEGER NOT NULL REFERENCES run (id) ON DELETE CASCADE,
  name         TEXT NOT NULL,                          -- with its version: PyTorch 2.11.0 cudnn
  starts_from  TEXT NOT NULL,                          -- what data it takes: fp16
  p50_us       REAL NOT NULL CHECK (p50_us > 0),       -- of one launch, measured
  candidate_id INTEGER NOT NULL REFERENCES candidate (id) ON DELETE CASCADE,
  ratio        REAL NOT NULL CHECK (ratio > 0),        -- its time / the candidate's, in turn
  ratio_low    REAL NOT NULL,
  ratio_high   REAL NOT NULL,
  measured_at  TEXT NOT NULL DEFAULT (strftime('%Y-%m-%dT%H:%M:%fZ', 'now')),
  PRIMARY KEY (run_id, name, starts_from)
) WITHOUT ROWID;

-- The time must be measured, and the candidate must belong to the run.
CREATE TRIGGER vendor_time_is_measured BEFORE INSERT ON vendor_time
WHEN NOT EXISTS (SELECT 1 FROM candidate c JOIN run r ON r.id = c.run_id
                 JOIN device d ON d.id = r.device_id
                 WHERE c.id = NEW.candidate_id AND r.id = NEW.run_id AND d.kind = 'measured')
BEGIN SELECT RAISE(ABORT, 'a vendor''s time stands beside a candidate of a measured run only'); END;

-- The path from a configuration to the winner, changing a few macros at a time, timed after the
-- search. Its times are measured or predicted like the run's. Rows of a former winner are outdated.
CREATE TABLE winner_step (
  run_id     INTEGER NOT NULL REFERENCES run (id) ON DELETE CASCADE,
  start      TEXT NOT NULL,                            -- 'default', or the name of a milestone
  position   INTEGER NOT NULL CHECK (position >= 0),   -- 0: the start itself
  winner_id  INTEGER NOT NULL REFERENCES candidate (id) ON DELETE CASCADE,
  config     TEXT NOT NULL CHECK (json_valid(config)),   -- after the step
  changes    TEXT NOT NULL CHECK (json_valid(changes)),  -- [{"macro", "from", "to"}, ...]
  p50_us     REAL NOT NULL CHECK (p50_us > 0),         -- measured or predicted by itself
  ratio      REAL NOT NULL CHECK (ratio > 0),          -- time after the step / before it
  ratio_low  REAL NOT NULL,
  ratio_high REAL NOT NULL,
  pairs      INTEGER NOT NULL CHECK (pairs >= 0),      -- 0: the ratio is that of p50_us
  note       TEXT NOT NULL,                            -- why these macros go together; for people
  PRIMARY KEY (run_id, start, position)
) WITHOUT ROWID;

CREATE TRIGGER winner_step_is_of_the_run BEFORE INSERT ON winner_step
WHEN NEW.run_id <> (SELECT run_id FROM candidate WHERE id = NEW.winner_id)
BEGIN SELECT RAISE(ABORT, 'a way leads to a candidate of another run'); END;

-- The utilisation of the units of an SM by the winner, in percent of the time. The time model
-- predicts the values; a run with measured times has no rows.
CREATE TABLE winner_unit (
  run_id    INTEGER NOT NULL REFERENCES run (id) ON DELETE CASCADE,
  winner_id INTEGER NOT NULL REFERENCES candidate (id) ON DELETE CASCADE,
  metric    TEXT NOT NULL,                             -- by Nsight Compute's name
  percent   REAL NOT NULL CHECK (percent >= 0),
  PRIMARY KEY (run_id, metric)
) WITHOUT ROWID;

-- Every evaluated configuration with its outcome; a duplicate shows the outcome of its first. The
-- gate and the reason of a withdrawn candidate are those of its withdrawal.
CREATE VIEW evaluation AS
SELECT c.id AS candidate, c.run_id AS run, c.generation, c.position, c.origin, c.milestone,
       CASE WHEN x.gate IS NOT NULL THEN 'rejected'
            WHEN w.gate IS NOT NULL THEN 'withdrawn'
            WHEN t.p50_us IS NOT NULL THEN 'green'
            ELSE 'unjudged' END AS outcome,
       c.duplicate_of, d.name AS device, r.shape, t.p50_us, t.p90_us,
       round(r.flops_per_launch / (t.p50_us * 1e6), 3) AS tflops,
       b.registers, b.static_shared_bytes + c.dynamic_shared_bytes AS shared_bytes,
       (SELECT max(k.max_abs_error) FROM check_result k
        WHERE k.candidate_id = coalesce(c.duplicate_of, c.id)) AS max_abs_error,
       c.config, d.kind, coalesce(x.gate, w.gate) AS gate, coalesce(x.reason, w.reason) AS reason,
       x.policy_only
FROM candidate c
JOIN run r ON r.id = c.run_id
JOIN device d ON d.id = r.device_id
LEFT JOIN compilation b ON b.id = c.compilation_id
LEFT JOIN timing t ON t.candidate_id = coalesce(c.duplicate_of, c.id)
LEFT JOIN rejection x ON x.candidate_id = coalesce(c.duplicate_of, c.id)
LEFT JOIN withdrawal w ON w.candidate_id = coalesce(c.duplicate_of, c.id);

-- The current ranking: that of the latest finished generation. Before the first one has finished,
-- the run's distinct, completely timed kernels ordered by p50. Withdrawn kernels leave no gap.
CREATE VIEW elite_rank AS
SELECT m.run_id, row_number() OVER (PARTITION BY m.run_id ORDER BY m.rank) AS rank, m.candidate_id
FROM elite_member m
WHERE m.generation = (SELECT max(g.number) FROM generation g WHERE g.run_id = m.run_id)
  AND NOT EXISTS (SELECT 1 FROM withdrawal w WHERE w.candidate_id = m.candidate_id)
UNION ALL
SELECT run_id, rank, candidate_id
FROM (SELECT run_id, candidate_id, elite_size,
             row_number() OVER (PARTITION BY run_id ORDER BY p50_us, candidate_id) AS rank
      FROM (SELECT c.run_id, c.id AS candidate_id, r.elite_size, t.p50_us,
                   row_number() OVER (PARTITION BY c.run_id, b.ptx_hash
                                      ORDER BY t.p50_us, c.id) AS copy
            FROM candidate c
            JOIN run r ON r.id = c.run_id
            JOIN compilation b ON b.id = c.compilation_id
            JOIN timing t ON t.candidate_id = c.id AND t.complete = 1
            WHERE c.duplicate_of IS NULL
              AND NOT EXISTS (SELECT 1 FROM rejection x WHERE x.candidate_id = c.id)
              AND NOT EXISTS (SELECT 1 FROM withdrawal w WHERE w.candidate_id = c.id)
              AND NOT EXISTS (SELECT 1 FROM generation g WHERE g.run_id = c.run_id))
      WHERE copy = 1)
WHERE rank <= elite_size;

-- The elite of every run. Times are those of the `kind` in the last but one column.
CREATE VIEW elite AS
SELECT m.rank, e.run, e.device, e.shape, e.p50_us, e.p90_us, e.tflops, e.registers,
       e.shared_bytes, e.max_abs_error, e.config, e.kind, e.candidate
FROM elite_rank m
JOIN evaluation e ON e.candidate = m.candidate_id
ORDER BY e.run, m.rank;
