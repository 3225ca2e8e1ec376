-- SPDX-License-Identifier: Apache-2.0
-- with: collected
-- attention_naive opens its scopes at the top level.
UPDATE scope_path SET module = 'softmax' WHERE scope_id = 22;
SELECT * FROM attention_breakdown ORDER BY run_id, part;
