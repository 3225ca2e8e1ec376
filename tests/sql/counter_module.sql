-- SPDX-License-Identifier: Apache-2.0
-- with: peaks
-- with: roofline
-- with: counters
SELECT * FROM counter_module;
