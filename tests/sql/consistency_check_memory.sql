-- SPDX-License-Identifier: Apache-2.0
-- with: collected
-- The allocator reserves more than the devices of the sample have.
SELECT * FROM consistency_check;
UPDATE device SET memory_bytes = 1000000000;
SELECT count(*) AS violations FROM consistency_check;
-- Categories that do not add up to the peak of the step.
UPDATE memory_phase_category SET bytes = bytes + 500 WHERE run_id = 16 AND category = 'parameter';
SELECT * FROM consistency_check;
UPDATE memory_phase_category SET bytes = bytes - 500 WHERE run_id = 16 AND category = 'parameter';
-- The allocator had more than the driver saw.
UPDATE device_memory SET used_bytes = 9000 WHERE used_bytes > 9000;
SELECT * FROM consistency_check;
