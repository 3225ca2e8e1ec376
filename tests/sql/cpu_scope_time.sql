-- SPDX-License-Identifier: Apache-2.0
-- with: collected
SELECT * FROM cpu_scope_time ORDER BY phase, module;
