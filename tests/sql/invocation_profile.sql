-- SPDX-License-Identifier: Apache-2.0
INSERT INTO invocation (invocation_id, uuid, command, started_at) VALUES
(901, 'a', 'kymo suite run cs336 --profile small --db a.db', '2026-01-01'),
(902, 'b', 'kymo suite run cs336 --filter ddp --profile=2026', '2026-01-01'),
(903, 'c', 'kymo suite run cs336', '2026-01-01'),
(904, 'd', 'kymo suite run cs336 --profile ''with-quotes''', '2026-01-01');
SELECT * FROM invocation_profile WHERE invocation_id > 900 ORDER BY invocation_id;
