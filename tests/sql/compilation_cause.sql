-- SPDX-License-Identifier: Apache-2.0
-- with: collected
-- with: compilations
-- Causes of the pass that records the least, on two ranks.
SELECT * FROM compilation_cause ORDER BY run_id, rank, kind, location, reason;
