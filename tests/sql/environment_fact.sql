-- SPDX-License-Identifier: Apache-2.0
INSERT INTO environment (invocation_id, name, value) VALUES (1, 'host', 'node1'), (2, 'host', '<script>,"x"');
SELECT * FROM environment_fact ORDER BY invocation_id;
