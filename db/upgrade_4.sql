-- Version 4: the texts of compilations leave their table, packed into Zstandard frames: sources
-- once by content, logs, PTX and cubins beside the compilation's small columns. `zstd -d` unpacks
-- them. The functions zstd_frame and content_key are those of db/migration_functions.hpp.
CREATE TABLE source (
  id   INTEGER PRIMARY KEY,
  key  TEXT NOT NULL UNIQUE,                           -- content key of the text
  text BLOB NOT NULL                                   -- frame: expanded, includes inlined
);

CREATE TABLE artifact (
  compilation_id INTEGER PRIMARY KEY REFERENCES compilation (id) ON DELETE CASCADE,
  source_id      INTEGER NOT NULL REFERENCES source (id),
  log            BLOB NOT NULL,                        -- frame
  ptx            BLOB NOT NULL,                        -- frame; of an empty text when not ok
  cubin          BLOB NOT NULL                         -- frame; the same
);
CREATE INDEX artifact_by_source ON artifact (source_id);

INSERT INTO source (key, text)
SELECT f.key, zstd_frame(b.source)
FROM (SELECT content_key(source) AS key, min(id) AS id FROM compilation
      GROUP BY content_key(source)) f
JOIN compilation b ON b.id = f.id;

INSERT INTO artifact (compilation_id, source_id, log, ptx, cubin)
SELECT b.id, s.id, zstd_frame(b.log), zstd_frame(b.ptx), zstd_frame(b.cubin)
FROM compilation b JOIN source s ON s.key = content_key(b.source);

-- The same table without its texts, as https://sqlite.org/lang_altertable.html#otheralter says;
-- whoever runs this has foreign keys off. DROP COLUMN would refuse where somebody's own view is
-- about the texts.
CREATE TABLE slim_compilation (
  id                  INTEGER PRIMARY KEY,
  key                 TEXT NOT NULL UNIQUE,
  request_key         TEXT NOT NULL,                   -- without the files in include paths
  ok                  INTEGER NOT NULL CHECK (ok IN (0, 1)),
  arch                TEXT NOT NULL,
  compiler            TEXT NOT NULL,
  options             TEXT NOT NULL,                   -- as given, blank separated, with the -D of every macro
  error               TEXT NOT NULL,                   -- one line; empty when ok
  compile_ms          REAL NOT NULL,
  ptx_hash            TEXT,                            -- identity of the kernel; set exactly when ok
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
INSERT INTO slim_compilation
SELECT id, key, request_key, ok, arch, compiler, options, error, compile_ms, ptx_hash, registers,
       static_shared_bytes, spill_store_bytes, spill_load_bytes, stack_bytes, max_threads,
       created_at
FROM compilation;
DROP TABLE compilation;
PRAGMA legacy_alter_table = ON;                        -- leaves what refers to the name alone
ALTER TABLE slim_compilation RENAME TO compilation;
PRAGMA legacy_alter_table = OFF;
CREATE INDEX compilation_by_ptx ON compilation (ptx_hash);
CREATE INDEX compilation_by_request ON compilation (request_key);

-- A withdrawn candidate is no longer green, and is in no elite.
DROP VIEW elite;
DROP VIEW elite_rank;
DROP VIEW evaluation;

-- Every evaluated configuration with its outcome; a duplicate shows the outcome of its first. The
-- gate and the reason of a withdrawn one are those of its withdrawal.
CREATE VIEW evaluation AS
SELECT c.id                                                         AS candidate,
       c.run_id                                                     AS run,
       c.generation                                                 AS generation,
       c.position                                                   AS position,
       c.origin                                                     AS origin,
       c.milestone                                                  AS milestone,
       CASE WHEN x.gate IS NOT NULL THEN 'rejected'
            WHEN w.gate IS NOT NULL THEN 'withdrawn'
            WHEN t.p50_us IS NOT NULL THEN 'green'
            ELSE 'unjudged' END                                     AS outcome,
       c.duplicate_of                                               AS duplicate_of,
       d.name                                                       AS device,
       r.shape                                                      AS shape,
       t.p50_us                                                     AS p50_us,
       t.p90_us                                                     AS p90_us,
       round(r.flops_per_launch / (t.p50_us * 1e6), 3)              AS tflops,
       b.registers                                                  AS registers,
       b.static_shared_bytes + c.dynamic_shared_bytes               AS shared_bytes,
       (SELECT max(k.max_abs_error) FROM check_result k
        WHERE k.candidate_id = coalesce(c.duplicate_of, c.id))      AS max_abs_error,
       c.config                                                     AS config,
       d.kind                                                       AS kind,
       coalesce(x.gate, w.gate)                                     AS gate,
       coalesce(x.reason, w.reason)                                 AS reason,
       x.policy_only                                                AS policy_only
FROM candidate c
JOIN run r ON r.id = c.run_id
JOIN device d ON d.id = r.device_id
LEFT JOIN compilation b ON b.id = c.compilation_id
LEFT JOIN timing t ON t.candidate_id = coalesce(c.duplicate_of, c.id) AND t.shape = r.shape
LEFT JOIN rejection x ON x.candidate_id = coalesce(c.duplicate_of, c.id)
LEFT JOIN withdrawal w ON w.candidate_id = coalesce(c.duplicate_of, c.id);

-- The ranking in force: that of the latest finished generation; while a run has finished none, its
-- distinct completely timed kernels in the order of p50. Who was withdrawn since leaves no gap.
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
            JOIN timing t ON t.candidate_id = c.id AND t.shape = r.shape AND t.complete = 1
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
