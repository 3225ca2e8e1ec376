#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Makes the measurements on a GPU that docs/next-steps.md lists as missing, the shortest first.
#
# Usage: remaining_measurements.sh KYMO FOLDER SECONDS, with the KYMO of a build tree. Logs and databases are written to
# FOLDER after each part. The suite continues in FOLDER/cs336.db if that exists. Parts that do not fit into SECONDS are
# not begun or are interrupted. FlashAttention-4 is compared with if the python3 of PATH can import it.
set -u
kymo=$1 folder=$2 end=$(($(date +%s) + $3))
here=$(cd "$(dirname "$0")/.." && pwd)
build=$(cd "$(dirname "$kymo")/.." && pwd)
mkdir -p "$folder"

left() { echo $((end - $(date +%s))); }

part() { # NAME LIMIT COMMAND...: LIMIT in seconds
  local name=$1 limit=$2
  shift 2
  [ "$(left)" -gt 20 ] || { echo "$name: no time left"; return; }
  [ "$limit" -lt "$(left)" ] || limit=$(($(left) - 10))
  timeout --signal INT --kill-after 10 "$limit" "$@" >"$folder/$name.log" 2>&1
  echo "$name: exit code $? after $limit s at most, $(left) s left"
}

part killed 60 python3 "$here/gpu/trace_programs.py" "$kymo" "$folder" killed
part flash 90 "$build/tests/flash_kernels" check path=hopper
part memcheck 120 compute-sanitizer --error-exitcode 1 "$build/tests/flash_kernels" check path=hopper brief count=6
part synccheck 120 compute-sanitizer --tool synccheck --error-exitcode 1 \
  "$build/tests/flash_kernels" check path=hopper brief count=6
part optimizer 60 "$build/tests/gpu_optimizer"
for workload in ddp_naive ddp_flat ddp_overlap ddp_bucketed ddp_torch sharded_optimizer; do
  part "$workload" 60 "$kymo" run "$workload" --device cuda --set model=small --set operators=fused \
    --set autocast=true --passes verify,time --steps 5 --db "$folder/data_parallel.db"
done
part hooks 240 python3 "$here/bench/trace_hook_cost.py" "$kymo" --device cuda --starts 4 --slices 150 small
part cost 150 python3 "$here/bench/trace_program_cost.py" "$kymo" --device cuda --rounds 9 --observed trace,torch.profiler
part attention 240 python3 "$here/bench/compare_attention.py" "$build/lib/kymo/plugins/libkymo_ops.so" \
  --grids peers --host --csv "$folder/attention.csv"
part layers 240 python3 "$here/gpu/fused_layers.py" "$kymo" "$folder" 230
part suite 600 "$kymo" suite run cs336 --resume --db "$folder/cs336.db"
