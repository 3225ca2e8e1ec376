-- SPDX-License-Identifier: Apache-2.0
-- Since schema version 16: the commit of the measured project.

-- The commit that was checked out in the project of a run when the run began: in the git working tree that contains the
-- file of the workload or of the program, else in that of the current directory. A run without a row belongs to no
-- repository, or git could not be asked.
CREATE TABLE source_commit (
  -- run
  run_id INTEGER NOT NULL PRIMARY KEY REFERENCES run,
  -- name of the root folder of the main working tree
  project TEXT NOT NULL,
  -- full hash
  hash TEXT NOT NULL,
  -- full hashes of its parents, separated by spaces
  parents TEXT NOT NULL,
  -- time of the commit in UTC, ISO 8601
  committed_at TEXT NOT NULL,
  -- branch; NULL if HEAD was detached
  branch TEXT,
  -- 1 if tracked files differed from the commit; NULL if git did not tell in time
  dirty INTEGER
);
