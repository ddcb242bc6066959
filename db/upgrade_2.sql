-- Version 2: what a check found relative to the rows of the output. Null in rows of version 1.
ALTER TABLE check_result ADD COLUMN max_row_error REAL;
