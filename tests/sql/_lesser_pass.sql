-- SPDX-License-Identifier: Apache-2.0
SELECT * FROM _lesser_pass ORDER BY pass, lesser;
