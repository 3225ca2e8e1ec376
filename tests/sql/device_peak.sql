-- SPDX-License-Identifier: Apache-2.0
-- with: attention
-- A name must end or go on with something other than a digit; a processor has no peak, whatever its name; without a
-- clock there is no product.
SELECT * FROM device_peak ORDER BY device_id, dtype;
