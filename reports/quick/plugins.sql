-- SPDX-License-Identifier: Apache-2.0
-- caption: Plugins.
-- column name: title="plugin", format="code"
-- column version: title="version"
-- column framework: title="built for"
-- column compiler: title="compiler"
-- column sha256: title="SHA-256 (prefix)", format="code"
-- column libraries: title="libraries", format="code"
-- column workloads: title="workloads"
-- empty: No plugins.
SELECT
  p.name,
  nullif(p.version, '') AS version,
  nullif(
    trim(
      p.framework || ' ' || p.framework_version
      || CASE WHEN p.cuda_version = '' THEN '' ELSE ', CUDA ' || p.cuda_version END,
      ' ,'
    ),
    ''
  ) AS framework,
  nullif(p.compiler, '') AS compiler,
  substr(p.sha256, 1, 12) AS sha256,
  (
    SELECT group_concat(t.library, ', ')
    FROM (
      SELECT DISTINCT l.name || ' ' || substr(l.sha256, 1, 12) AS library
      FROM selected_run x
      JOIN run y ON y.run_id = x.run_id
      JOIN run_library l ON l.run_id = y.run_id
      WHERE y.plugin_id = p.plugin_id
      ORDER BY 1
    ) t
  ) AS libraries,
  group_concat(DISTINCT r.workload) AS workloads
FROM selected_run s
JOIN run r ON r.run_id = s.run_id
JOIN plugin p ON p.plugin_id = r.plugin_id
GROUP BY p.plugin_id
ORDER BY min(r.run_id)
