-- SPDX-License-Identifier: Apache-2.0
-- with: peaks
-- with: roofline
-- The types of matrix products; those without a measured peak have none.
SELECT * FROM roofline_roof ORDER BY kind, label;
