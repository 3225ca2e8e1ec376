-- SPDX-License-Identifier: Apache-2.0
-- The documented thresholds.
SELECT * FROM _verdict_threshold;
