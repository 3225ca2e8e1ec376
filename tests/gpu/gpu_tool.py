# SPDX-License-Identifier: Apache-2.0
"""What the scripts that check whole programs on a GPU have in common."""

import json
import subprocess


def command(*words):
    return subprocess.run(list(map(str, words)), check=False, capture_output=True, text=True)


def count_gpus(kymo):
    done = command(kymo, "devices")
    return len(json.loads(done.stdout)["gpus"]) if done.returncode == 0 else 0


def rows(kymo, database, query):
    done = command(kymo, "sql", query, "--json", "--db", database)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def dropped_faults(kymo, database):
    dropped = rows(kymo, database, "SELECT source, detail FROM dropped_record WHERE source <> 'device'")
    return [f"dropped records: {dropped}"] if dropped else []


def warnings(kymo, database):
    return [f"{row['kind']}: {row['detail']}" for row in rows(kymo, database, "SELECT kind, detail FROM run_warning")]


def show(name, lines, faults):
    print(f"{name}: {'; '.join(faults) or 'ok'}", *lines, sep="\n  ", flush=True)
