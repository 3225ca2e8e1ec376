#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Makes the measurements on a GPU that docs/engineering/next-steps.md lists as missing.
#
# Usage: remaining_measurements.sh KYMO FOLDER SECONDS [PART...], with the KYMO of a build tree; all parts by default.
# Logs and databases are written to FOLDER. The suite continues in FOLDER/cs336.db if that exists. Parts that do not fit
# into SECONDS are not begun or are interrupted. FlashAttention-4 is compared with if the python3 of PATH can import it.
#
# Parts that need several GPUs run first, one after another. Each of the others has a GPU of its own, among those of
# CUDA_VISIBLE_DEVICES or else of the machine, and an equal share of the processors. As many run at the same time as
# there are GPUs, the longest first; with one GPU, the shortest first. Ends with 1 if a part did not end with 0, and
# with 77 without a GPU.
set -u
set -m  # parts are interrupted by this script, not by the terminal, and do not ignore SIGINT
[ $# -ge 3 ] || { echo "usage: $0 KYMO FOLDER SECONDS [PART...]" >&2; exit 2; }
end=$(($(date +%s) + $3))
mkdir -p "$2"
kymo=$(realpath "$1") folder=$(realpath "$2")
wanted=("${@:4}")
here=$(cd "$(dirname "$0")/.." && pwd)
build=$(cd "$(dirname "$kymo")/.." && pwd)

# Test executables look for LibTorch where it was on the machine that built them.
torch_folders() {
  python3 - <<'PYTHON'
import importlib.util
from pathlib import Path

torch = importlib.util.find_spec("torch")
if torch:
    package = Path(torch.origin).parent
    print(":".join(map(str, [package / "lib", *sorted(package.parent.glob("nvidia/*/lib"))])))
PYTHON
}
LD_LIBRARY_PATH=$(torch_folders)${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
export LD_LIBRARY_PATH

if [ -n "${CUDA_VISIBLE_DEVICES-}" ]; then
  IFS=, read -ra gpus <<<"$CUDA_VISIBLE_DEVICES"
else
  mapfile -t gpus < <(nvidia-smi --query-gpu=index --format=csv,noheader 2>/dev/null)
fi
[ ${#gpus[@]} -gt 0 ] || { echo "no GPU"; exit 77; }
mapfile -t processors < <(python3 -c 'import os; print(*sorted(os.sched_getaffinity(0)), sep="\n")')

left() { echo $((end - $(date +%s))); }

join() { # WORD...: with commas in between
  local IFS=,
  echo "$*"
}

# The parts: limits in seconds, commands, and results by name.
several=() single=()
declare -A limits commands results

part() { # NAME LIMIT COMMAND...
  is_wanted "$1" && single+=("$1")
  describe "$@"
}

part_of_several() {
  is_wanted "$1" && several+=("$1")
  describe "$@"
}

is_wanted() { [ ${#wanted[@]} -eq 0 ] || [[ " ${wanted[*]} " == *" $1 "* ]]; }

describe() {
  limits[$1]=$2
  commands[$1]=$(printf '%q ' "${@:3}")
}

part_of_several collectives 300 python3 "$here/gpu/trace_collectives.py" "$kymo" "$folder"
part_of_several counters_of_ranks 180 python3 "$here/gpu/counters.py" "$kymo" "$folder/counters_of_ranks" 170 ranks
part_of_several large_step 480 env PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True \
  "$kymo" suite run large-step --filter '^two' --db "$folder/large_step.db"
for workload in ddp_naive ddp_flat ddp_overlap ddp_bucketed ddp_torch sharded_optimizer; do
  part_of_several "$workload" 60 "$kymo" run "$workload" --device cuda --ranks 2 --set model=small \
    --set operators=fused --set autocast=true --passes verify,time --steps 5 --db "$folder/data_parallel.db"
done

# The shortest first.
part optimizer 60 "$build/tests/gpu_optimizer"
part torch_memory 60 "$build/tests/gpu_torch_memory"
part operators 120 "$build/tests/gpu_ops"
part killed 60 python3 "$here/gpu/trace_programs.py" "$kymo" "$folder" killed
part lines 60 python3 "$here/gpu/trace_programs.py" "$kymo" "$folder" lines
part memcheck 120 compute-sanitizer --error-exitcode 1 "$build/tests/flash_kernels" check path=hopper brief count=6
part synccheck 120 compute-sanitizer --tool synccheck --error-exitcode 1 \
  "$build/tests/flash_kernels" check path=hopper brief count=6
ops=$build/lib/kymo/plugins/libkymo_ops.so
part layer_kernels 120 compute-sanitizer --error-exitcode 1 --target-processes all \
  python3 "$here/unit/ops/layer_kernels_test.py" "$ops" cuda
part attention_host 120 python3 "$here/bench/compare_attention.py" "$ops" --grids small,few --host \
  --csv "$folder/attention_host.csv"
part cost 150 python3 "$here/bench/trace_program_cost.py" "$kymo" --device cuda --rounds 9 --observed trace,torch.profiler
part hooks_mean 180 python3 "$here/bench/trace_hook_cost.py" "$kymo" --device cuda --starts 2 --steps 3000 --mean \
  --slice 10 small
part layers 240 python3 "$here/gpu/fused_layers.py" "$kymo" "$folder" 230
part counters 300 python3 "$here/gpu/counters.py" "$kymo" "$folder" 270 kernels ncu language_models
part other_counters 360 python3 "$here/gpu/counters.py" "$kymo" "$folder/other_counters" 350 \
  attention models busy killed time
part hooks 360 python3 "$here/bench/trace_hook_cost.py" "$kymo" --device cuda --starts 4 --steps 3000 small
part flash 400 "$build/tests/flash_kernels" check path=hopper
part attention 480 python3 "$here/bench/compare_attention.py" "$ops" --grids peers,grouped,few,small \
  --csv "$folder/attention.csv"
part suite 600 "$kymo" suite run cs336 --resume --db "$folder/cs336.db"

for name in "${wanted[@]}"; do
  [ -n "${limits[$name]-}" ] || { echo "no part '$name'; there are: ${!limits[*]}" >&2; exit 2; }
done

# Slots: the GPUs and processors of one part. A part is started without a shell of its own, so that its process is known.
slot_gpus=() slot_processors=() free=()
declare -A name_of slot_of begun_at  # of the processes that run
stopped=""

make_slots() { # COUNT
  local slot gpus_each=$((${#gpus[@]} / $1)) processors_each=$((${#processors[@]} / $1))
  [ "$processors_each" -gt 0 ] || { echo "fewer processors than GPUs" >&2; exit 2; }
  free=()
  for ((slot = 0; slot < $1; ++slot)); do
    slot_gpus[slot]=$(join "${gpus[@]:slot * gpus_each:gpus_each}")
    slot_processors[slot]=$(join "${processors[@]:slot * processors_each:processors_each}")
    free+=("$slot")
  done
}

start() { # NAME: in the first free slot
  local name=$1 slot=${free[0]} limit=${limits[$1]} words pid
  if [ -n "$stopped" ] || [ "$(left)" -le 20 ]; then
    results[$name]=${stopped:-no time left}
    return
  fi
  [ "$limit" -lt "$(left)" ] || limit=$(($(left) - 10))
  eval "words=(${commands[$name]})"
  CUDA_VISIBLE_DEVICES=${slot_gpus[slot]} taskset --cpu-list "${slot_processors[slot]}" \
    timeout --signal INT --kill-after 10 "$limit" "${words[@]}" >"$folder/$name.log" 2>&1 </dev/null &
  pid=$!
  free=("${free[@]:1}")
  name_of[$pid]=$name slot_of[$pid]=$slot begun_at[$pid]=$SECONDS
}

finish() { # PID CODE
  local name=${name_of[$1]}
  results[$name]="exit code $2 after $((SECONDS - begun_at[$1])) s"
  echo "$name: ${results[$name]}, $(left) s left"
  free+=("${slot_of[$1]}")
  unset "name_of[$1]" "slot_of[$1]" "begun_at[$1]"
}

make_all() { # NAME...: as many at the same time as there are free slots
  local pid code
  while [ $# -gt 0 ] || [ ${#name_of[@]} -gt 0 ]; do
    if [ $# -gt 0 ] && [ ${#free[@]} -gt 0 ]; then
      start "$1"
      shift
      continue
    fi
    wait -n -p pid "${!name_of[@]}"
    code=$?
    [ -z "${pid-}" ] || finish "$pid" "$code"  # unset: a signal has interrupted the wait
  done
}

# timeout passes the signal on.
trap 'stopped=interrupted; [ ${#name_of[@]} -eq 0 ] || kill -s INT "${!name_of[@]}"' INT TERM

if [ ${#gpus[@]} -ge 2 ]; then
  make_slots 1
  make_all "${several[@]}"
  for ((last = ${#single[@]} - 1, first = 0; first < last; ++first, --last)); do
    name=${single[first]} single[first]=${single[last]} single[last]=$name
  done
else
  for name in "${several[@]}"; do results[$name]="needs two GPUs"; done
fi
make_slots ${#gpus[@]}
make_all "${single[@]}"

failed=0
for name in "${several[@]}" "${single[@]}"; do
  printf '\n==> %s: %s\n' "$name" "${results[$name]}"
  case ${results[$name]} in "exit code 0 "* | "needs two GPUs") ;; *) failed=1 ;; esac
  case ${results[$name]} in "exit code "*) tail -n 12 "$folder/$name.log" ;; esac
done
exit "$failed"
