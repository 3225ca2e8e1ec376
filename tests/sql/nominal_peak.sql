-- SPDX-License-Identifier: Apache-2.0
-- with: attention
-- The model must be followed by the end of the name or a non-digit. A CPU has no peak, whatever its name. Without a
-- clock, the peak is NULL.
SELECT * FROM nominal_peak ORDER BY device_id, dtype;
