-- SPDX-License-Identifier: Apache-2.0
-- Time of compilations.
-- column compile_ms: unit="ms", prefix="auto", format="significant", digits=3
SELECT
  sum(s.compile_ms) AS compile_ms,
  sum(s.compilations) AS compilations
FROM compilation_step s
WHERE s.is_least_observed AND s.run_id = :run AND s.rank = (SELECT min(k.rank) FROM rank k WHERE k.run_id = :run)
HAVING sum(s.compilations) > 0
