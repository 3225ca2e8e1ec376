-- SPDX-License-Identifier: Apache-2.0
-- with: collected
SELECT * FROM class_coverage ORDER BY run_id;
