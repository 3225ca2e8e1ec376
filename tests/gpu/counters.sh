#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Measures the hardware counters with a package of `./dev package` on a machine with a GPU: counters.sh PACKAGE FOLDER
# [SECONDS [PART...]]. The output goes to FOLDER/counters.log, too. The python3 of PATH needs torch.
set -u -o pipefail
[ $# -ge 2 ] || { echo "usage: $0 PACKAGE FOLDER [SECONDS [PART...]]" >&2; exit 2; }
mkdir -p "$2"
here=$(cd "$(dirname "$0")" && pwd)
kymo=$1/bin/kymo
{
  nvidia-smi --query-gpu=name,driver_version,clocks.sm,clocks.mem --format=csv
  grep RmProfilingAdminOnly /proc/driver/nvidia/params
  "$kymo" doctor
  python3 -u "$here/counters.py" "$kymo" "${@:2}"
} 2>&1 | tee "$2/counters.log"
