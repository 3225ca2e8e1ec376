-- SPDX-License-Identifier: Apache-2.0
-- with: collected
SELECT * FROM outlier_call ORDER BY sequence;
