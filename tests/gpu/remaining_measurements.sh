#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Makes the measurements on a GPU that docs/next-steps.md lists as missing, the shortest first.
#
# Usage: remaining_measurements.sh KYMO FOLDER SECONDS. Logs and databases are written to FOLDER after each part. The
# suite continues in FOLDER/cs336.db if that exists. The program other_client needs tests/modules/other_cupti_client.so
# of the build in the parent of KYMO's folder. Parts that do not fit into SECONDS are not begun or are interrupted.
set -u
kymo=$1 folder=$2 end=$(($(date +%s) + $3))
here=$(cd "$(dirname "$0")/.." && pwd)
mkdir -p "$folder/programs"

left() { echo $((end - $(date +%s))); }

part() { # NAME LIMIT COMMAND...: LIMIT in seconds
  local name=$1 limit=$2
  shift 2
  [ "$(left)" -gt 20 ] || { echo "$name: no time left"; return; }
  [ "$limit" -lt "$(left)" ] || limit=$(($(left) - 10))
  timeout --signal INT --kill-after 10 "$limit" "$@" >"$folder/$name.log" 2>&1
  echo "$name: exit code $? after $limit s at most, $(left) s left"
}

part cost 150 python3 "$here/bench/trace_program_cost.py" "$kymo" --device cuda --rounds 9 --steps 30 --slice-ms 600 large
part hooks 150 python3 "$here/bench/trace_hook_cost.py" "$kymo" --device cuda small
for kind in other_client memory; do
  part "program-$kind" 150 python3 "$here/gpu/trace_programs.py" "$kymo" "$folder/programs" "$kind"
done
part python 60 "$kymo" run "$here/python/workloads/model.py:model" --device cuda --passes trace --db "$folder/python.db"
part python-scopes 20 "$kymo" sql --db "$folder/python.db" \
  "SELECT phase, scope, short_name, count(*) AS kernels FROM kernel_call GROUP BY 1, 2, 3 ORDER BY 1, 2, 3"
part layers 240 python3 "$here/gpu/fused_layers.py" "$kymo" "$folder" 230
part suite 600 "$kymo" suite run cs336 --resume --db "$folder/cs336.db"
