-- SPDX-License-Identifier: Apache-2.0
-- with: collected
-- with: saved
SELECT *
FROM saved_by_module
ORDER BY nested, module;
