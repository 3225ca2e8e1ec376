-- SPDX-License-Identifier: Apache-2.0
-- with: collected
-- with: saved
SELECT *
FROM saved_memory
ORDER BY nested, step;
