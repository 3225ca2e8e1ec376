-- SPDX-License-Identifier: Apache-2.0
INSERT INTO source_commit (run_id, project, hash, parents, committed_at, branch, dirty) VALUES
(1, 'lab', '1111111111111111111111111111111111111111', '', '2026-01-02T00:00:00Z', 'main', 0),
(
  2, 'lab', '2222222222222222222222222222222222222222',
  '1111111111111111111111111111111111111111 3333333333333333333333333333333333333333',
  '2026-01-03T00:00:00Z', NULL, 1
),
(4, 'lab', '1111111111111111111111111111111111111111', '', '2026-01-02T00:00:00Z', 'main', NULL);
SELECT
  run_id,
  project,
  hash,
  short_hash,
  parents,
  committed_at,
  branch,
  dirty
FROM run_commit
ORDER BY run_id;
