-- SPDX-License-Identifier: Apache-2.0
-- with: collected
-- with: lines
SELECT * FROM _line_summary ORDER BY run_id, ms DESC, location;
