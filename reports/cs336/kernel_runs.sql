-- SPDX-License-Identifier: Apache-2.0
-- The runs of the case kernels.
SELECT m.*
FROM selected_run s
JOIN transformer_run m ON m.run_id = s.run_id AND m.suite_case = 'kernels'
