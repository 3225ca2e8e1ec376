-- SPDX-License-Identifier: Apache-2.0
-- Since schema version 5: what limits the blocks of a kernel that run at a time, and which operator launched a kernel.
-- All columns are NULL in runs measured before.

-- maximum number of threads on a streaming multiprocessor at a time; NULL for a CPU
ALTER TABLE device ADD COLUMN multiprocessor_threads INTEGER;
-- maximum number of blocks on a multiprocessor at a time; NULL for a CPU
ALTER TABLE device ADD COLUMN multiprocessor_blocks INTEGER;
-- number of 32-bit registers of a multiprocessor; NULL for a CPU
ALTER TABLE device ADD COLUMN multiprocessor_registers INTEGER;
-- shared memory of a multiprocessor; NULL for a CPU
ALTER TABLE device ADD COLUMN multiprocessor_shared_bytes INTEGER;
-- shared memory that the driver reserves in each block; NULL for a CPU
ALTER TABLE device ADD COLUMN reserved_shared_bytes INTEGER;
-- row of launch_config; NULL for copies and memsets
ALTER TABLE kernel_total ADD COLUMN launch_config INTEGER;
-- sequence of the row in op_work of the operator that launched them; NULL if it has none
ALTER TABLE kernel_total ADD COLUMN op_work INTEGER;
