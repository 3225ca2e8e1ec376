-- SPDX-License-Identifier: Apache-2.0
-- Lines of text.
SELECT l.value AS line
FROM json_each(:lines) l
