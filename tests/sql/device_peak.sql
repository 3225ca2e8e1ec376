-- SPDX-License-Identifier: Apache-2.0
-- with: peaks
-- The best of the successful runs of the family; a GPU's clocks are those of the measured steps of the time pass.
SELECT * FROM device_peak ORDER BY device_id, kind, dtype;
