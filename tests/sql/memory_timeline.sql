-- SPDX-License-Identifier: Apache-2.0
-- with: collected
SELECT * FROM memory_timeline ORDER BY run_id, sequence;
