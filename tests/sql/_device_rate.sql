-- SPDX-License-Identifier: Apache-2.0
-- with: peaks
-- with: distributed
-- with: kernel_verdicts
-- with: kernel_counts
SELECT * FROM _device_rate ORDER BY device_id;
