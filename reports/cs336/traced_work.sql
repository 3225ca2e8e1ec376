-- SPDX-License-Identifier: Apache-2.0
-- Their kernels, on a CPU their operators.
SELECT p.*
FROM traced t
CROSS JOIN profile_entry p ON p.run_id = t.run_id AND p.rank = 0
