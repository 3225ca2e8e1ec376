-- SPDX-License-Identifier: Apache-2.0
-- with: collected
SELECT * FROM timeline_counter ORDER BY run_id, rank, pass, counter_order, time_ns;
