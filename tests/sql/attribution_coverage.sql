-- SPDX-License-Identifier: Apache-2.0
-- with: collected
SELECT * FROM attribution_coverage ORDER BY run_id, phase;
