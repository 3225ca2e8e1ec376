-- SPDX-License-Identifier: Apache-2.0
-- with: collected
SELECT * FROM kernel_by_scope WHERE run_id = 11 ORDER BY phase, module, class;
