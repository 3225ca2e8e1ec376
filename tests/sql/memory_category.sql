-- SPDX-License-Identifier: Apache-2.0
SELECT * FROM memory_category ORDER BY category_order;
