-- SPDX-License-Identifier: Apache-2.0
-- with: peaks
-- with: roofline
-- with: counters
-- At bf16 200 GFLOP/s, tf32 and fp16 unknown, 25 GB/s and a step of 50 ms.
SELECT * FROM counter_summary ORDER BY phase;
