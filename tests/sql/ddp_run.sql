-- SPDX-License-Identifier: Apache-2.0
-- with: distributed
SELECT * FROM ddp_run ORDER BY run_id;
