-- Version 6: the profile gate withdraws, and times of other people's kernels.

-- The same table with one more gate; whoever runs this has foreign keys off.
CREATE TABLE wider_withdrawal (
  candidate_id INTEGER PRIMARY KEY REFERENCES candidate (id) ON DELETE CASCADE,
  generation   INTEGER NOT NULL CHECK (generation >= 0),
  gate         TEXT NOT NULL CHECK (gate IN ('build', 'resource', 'correctness', 'timing', 'profile')),
  reason       TEXT NOT NULL,
  detail       TEXT NOT NULL
);
INSERT INTO wider_withdrawal SELECT candidate_id, generation, gate, reason, detail FROM withdrawal;
DROP TABLE withdrawal;
PRAGMA legacy_alter_table = ON;                        -- leaves views that name it alone
ALTER TABLE wider_withdrawal RENAME TO withdrawal;
PRAGMA legacy_alter_table = OFF;

-- What somebody else's kernel, such as a vendor's library, takes for the problem of a run on its
-- shape, timed in turn with a kernel of the run. Other programs write it.
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

-- It is measured, and its candidate is one of the run.
CREATE TRIGGER vendor_time_is_measured BEFORE INSERT ON vendor_time
WHEN NOT EXISTS (SELECT 1 FROM candidate c JOIN run r ON r.id = c.run_id
                 JOIN device d ON d.id = r.device_id
                 WHERE c.id = NEW.candidate_id AND r.id = NEW.run_id AND d.kind = 'measured')
BEGIN
  SELECT RAISE(ABORT, 'a vendor''s time stands beside a candidate of a measured run only');
END;
