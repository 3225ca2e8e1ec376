-- SPDX-License-Identifier: Apache-2.0
-- with: collected
-- with: saved
SELECT *
FROM saved_by_operator
ORDER BY nested, operator, scope, memory;
