#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# compare.sh BASE [ARGUMENTS OF PYTEST]: run in the root of a repository; measure the benchmarks of the commit BASE and
# of the working tree in turn on this machine, and print a comparison in Markdown. KYMO_DB: results database [kymo.db]
set -eu
base=$1
shift
head=$PWD
case ${KYMO_DB:-kymo.db} in
  /*) database=$KYMO_DB ;;
  *) database=$head/${KYMO_DB:-kymo.db} ;;
esac
folder=$(mktemp -d)
cleanup() {
  git -C "$head" worktree remove --force "$folder/base" || true
  rm -rf "$folder"
}
trap cleanup EXIT
git worktree add --quiet --detach "$folder/base" "$base"

# In two rounds, so that a machine that becomes slower treats both alike. Six runs each; a verdict needs five.
for side in before after after before; do
  if [ "$side" = before ]; then cd "$folder/base"; else cd "$head"; fi
  python -m pytest -q --rootdir "$PWD" "$@" --kymo-db "$database" --kymo-label "$side" --kymo-repeat 3 >&2
done
cd "$head"
kymo compare before after --db "$database" --markdown
