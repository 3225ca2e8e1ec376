-- SPDX-License-Identifier: Apache-2.0
-- The documented limits and texts; the formats have as many arguments as the measures give them (step_finding).
SELECT * FROM finding_rule;
