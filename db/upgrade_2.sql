-- Version 2: what a check found relative to the rows of the output (null in rows of version 1), and
-- what it ran and compared where that was not everything.
ALTER TABLE check_result ADD COLUMN max_row_error REAL;
ALTER TABLE check_result ADD COLUMN sampled TEXT NOT NULL DEFAULT '';
