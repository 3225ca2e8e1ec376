-- SPDX-License-Identifier: Apache-2.0
-- with: collected
SELECT * FROM timeline_bar ORDER BY run_id, pass, step, lane_order, lane, start_ns, end_ns DESC;
