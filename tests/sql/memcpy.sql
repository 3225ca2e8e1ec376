-- SPDX-License-Identifier: Apache-2.0
-- with: collected
SELECT * FROM memcpy ORDER BY run_id, sequence;
