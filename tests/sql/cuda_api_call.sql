-- SPDX-License-Identifier: Apache-2.0
-- with: collected
INSERT INTO api_call (run_id, rank, pass, sequence, name_id, start_ns, end_ns, thread, correlation_id) VALUES
(11, 0, 'trace', 0, 10, 1500000, 1502500, 77, 9);
SELECT * FROM cuda_api_call;
