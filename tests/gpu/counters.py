# SPDX-License-Identifier: Apache-2.0
"""Compares what the hardware counts with what is known.

Usage: counters.py KYMO FOLDER [SECONDS [PART...]]. Writes databases to FOLDER, and begins no part after SECONDS, by
default 270. Ends with 1 if a value is wrong, with 77 without a GPU. Parts:

  known     tests/python/workloads/counted.py: operations of products and attention, DRAM bytes of kernels
  attention kymo's own attention, against the work that the workload declares
  models    transformer_lm: sizes, modes, autocast, CUDA graph, checkpoints: as declared within 1 %, or explained
  programs  observed programs, with operators
  language_models
            nanoGPT and the Llama of transformers, eager and compiled: as declared within 1 %, or explained
  time      the time pass with and without the counters pass in the same call, interleaved
  scopes    counters by scope
  ranks     two ranks with NCCL, on two GPUs
  ncu       DRAM bytes by kernel, against Nsight Compute's of the same program
  busy      a second process on the same GPU is refused with a reason, and the first one counts
  killed    kill -9 in the middle leaves the clocks as found and the counters free
"""

import csv
import os
import re
import shutil
import signal
import statistics
import subprocess
import sys
import time
from pathlib import Path

from gpu_tool import command, count_gpus, rows, show

ROOT = Path(__file__).resolve().parents[1] / "python"
COUNTED = f"{ROOT / 'workloads' / 'counted.py'}:counted"
PRODUCT = 2 * 4096**3
HEADS, LENGTH = 16, 4096  # of attention, with a batch of 8 and head size 64
SCORES = 8 * HEADS * LENGTH**2 * 64
GIB = 1 << 30
# Column of the view counter_summary, expected value and relative tolerance.
KNOWN = {
    **{name: [(f"{name}_flops", PRODUCT, 1e-3)] for name in ("bf16", "fp16", "tf32", "fp8")},
    **{f"{name}_forward": [("bf16_flops", 4 * SCORES, 1e-3)] for name in ("flash", "cudnn")},
    **{f"{name}_backward": [("bf16_flops", 10 * SCORES, 1e-3)] for name in ("flash", "cudnn")},
    "copy": [("dram_read_bytes", GIB, 0.03), ("dram_written_bytes", GIB, 0.03)],
    "add": [("dram_read_bytes", 2 * GIB, 0.03), ("dram_written_bytes", GIB, 0.03)],
    "adamw": [("dram_read_bytes", 4 * GIB, 0.03), ("dram_written_bytes", 3 * GIB, 0.03)],
    "norm": [("dram_read_bytes", GIB / 2, 0.05), ("dram_written_bytes", GIB / 2, 0.05)],
    "triton_softmax": [("dram_read_bytes", GIB, 0.03), ("dram_written_bytes", GIB, 0.03)],
    "triton_norm": [("dram_read_bytes", GIB, 0.03), ("dram_written_bytes", GIB, 0.03)],
}
MODELS = {
    "tiny": [],
    "small": [],
    "small autocast": ["autocast=true"],
    "small fused": ["operators=fused", "autocast=true"],
    "small flash": ["operators=fused", "autocast=true", "attention=flash"],
    "small sdpa": ["autocast=true", "attention=sdpa"],
    "small graph": ["operators=fused", "dtype=bf16", "execution=graph"],
    "small checkpoint": ["autocast=true", "checkpoint=blocks"],
    "small forward": ["autocast=true", "mode=forward"],
    "medium bf16": ["dtype=bf16", "operators=fused"],
    "large bf16": ["dtype=bf16", "operators=fused"],
}
NEWEST = "run_id = (SELECT max(run_id) FROM run)"
CHECK = f"""
SELECT phase, flops_ratio, finding, sentence, bytes_sentence, hfu, mfu
FROM counter_check WHERE {NEWEST} ORDER BY phase <> 'step', phase
"""
VERDICTS = """
SELECT phase, short_name, time_ms, work_source, verdict, attained, reason, next_step FROM kernel_verdict
"""
STEP_TIMES = "SELECT pass, avg(host_ns) / 1e6 AS ms FROM sample"
# Findings that explain a difference.
EXPLAINED = {"none", "outside of tensor cores"}
MAX_DIFFERENCE = 0.01
MAX_OF_TILES = 1e-3
MAX_PADDING = 0.03  # to the tiles of kernels, or by blocks on the diagonal; counter_check says so
MAX_SLOWDOWN = 0.01
NCU_METRICS = ("dram__bytes_read.sum", "dram__bytes_write.sum")
LARGE_KERNELS = """
SELECT k.text AS kernel, sum(c.value / c.steps) FILTER (WHERE n.text = 'dram__bytes_read.sum') AS read,
       sum(c.value / c.steps) FILTER (WHERE n.text = 'dram__bytes_write.sum') AS written
FROM kernel_count c JOIN string k ON k.string_id = c.kernel_id JOIN string n ON n.string_id = c.name_id
GROUP BY c.launch HAVING read + written > {large}
"""
MAX_OF_NCU = 0.03
LARGE_TRAFFIC = 530e6  # bytes of a kernel, eight times the L2 cache of an H200; a launch of AdamW moves 587 MB
LARGE_PART = 200e6  # bytes, read or written, that are compared
BUILD = re.compile(rb"[0-9][0-9.]*/[A-Za-z]+-[0-9.]+/[0-9a-f]{12}")


def base_name(kernel):
    """The name of a kernel without namespaces and arguments, as CUPTI and Nsight Compute write it differently."""
    return re.search(r"(\w+)(?=[<(])", re.sub(r"\(anonymous namespace\)::|(?<!\w)<?unnamed>::", "", kernel))[1]


def attention_tiles(length, causal):
    """Scores that the kernels of head size 64 compute, over those that are declared, by phase: the forward pass in
    slices of 64 queries, three to a block, and tiles of 128 keys (plugins/lib/ops/cuda/hopper_forward.cuh), the
    backward pass in tiles of 128 by 128."""
    declared = length**2 / 2 if causal else length**2
    slices = 3 * -(-length // 192)
    keys = [min(length, 64 * (at + 1)) if causal else length for at in range(slices)]
    forward = sum(64 * 128 * -(-count // 128) for count in keys)
    tiles = -(-length // 128)
    backward = 128**2 * (tiles * (tiles + 1) // 2 if causal else tiles**2)
    return {"forward": forward / declared, "backward": backward / declared}


def is_same_kernel(ours, theirs):
    return base_name(ours["kernel"]) == base_name(theirs["kernel"])


class Parts:
    def __init__(self, kymo, folder):
        self.kymo, self.folder = Path(kymo).resolve(), Path(folder).resolve()
        self.folder.mkdir(parents=True, exist_ok=True)
        self.is_ok = True

    def report(self, name, lines, faults):
        self.is_ok = self.is_ok and not faults
        show(name, lines, faults)

    def database(self, name):
        """One with the peaks, in which the newest run counts."""
        file = self.folder / f"{name}.db"
        file.unlink(missing_ok=True)
        if (peaks := self.folder / "peaks.db").exists():
            shutil.copy(peaks, file)
        return file

    def run(self, database, *words):
        """Returns faults: the end of the output if it failed, and dropped records."""
        done = command(self.kymo, "run", *words, "--device", "cuda", "--db", database)
        if done.returncode != 0:
            return [f"exit code {done.returncode}: {(done.stdout + done.stderr)[-2000:]}"]
        return self.dropped(database)

    def dropped(self, database):
        query = f"SELECT DISTINCT pass, detail FROM dropped_record WHERE source <> 'device' AND {NEWEST}"
        return [f"{row['pass']}: {row['detail']}" for row in rows(self.kymo, database, query)]

    def checks(self, database, limit):
        """The sentences, and the faults: unexplained differences in the whole step."""
        lines, faults = [], []
        for row in rows(self.kymo, database, CHECK):
            shares = f"HFU {row['hfu'] or 0:.3f} MFU {row['mfu'] or 0:.3f}"
            lines.append(f"{row['phase']}: [{row['finding']}] {row['sentence']}; {row['bytes_sentence']}; {shares}")
            if row["phase"] != "step" or row["finding"] in EXPLAINED:
                continue
            ratio = row["flops_ratio"]
            if ratio is None or not -MAX_DIFFERENCE <= ratio - 1 <= limit:
                faults.append(f"ratio {ratio} in {row['phase']}")
        return lines, faults or ([] if lines else ["nothing was counted"])

    def clocks(self):
        fields = "clocks.sm,clocks.mem,clocks_event_reasons.active"
        done = command("nvidia-smi", f"--query-gpu={fields}", "--format=csv,noheader")
        return done.stdout.strip().replace("\n", " | ")

    # The parts.

    def known(self):
        database = self.database("known")
        observed = ("--passes", "time,ops,counters", "--trace-detail", "shapes", "--observed-steps", "6")
        begin = time.monotonic()
        faults = self.run(database, COUNTED, *observed, "--warmup", "2", "--steps", "6")
        lines = [f"{time.monotonic() - begin:.0f} s; clocks {self.clocks()}"]
        found = {row["phase"]: row for row in rows(self.kymo, database, "SELECT * FROM counter_summary")}
        for phase, expected in KNOWN.items():
            if phase not in found:
                faults.append(f"{phase}: not counted")
                continue
            for column, value, tolerance in expected:
                counted = found[phase][column]
                ratio = counted / value if counted is not None else float("nan")
                lines.append(f"{phase} {column}: {counted} of {value:.6g}, ratio {ratio:.5f}")
                if not abs(ratio - 1) <= tolerance:
                    faults.append(f"{phase} {column} ratio {ratio:.5f}")
        extra = "SELECT phase, bf16_flops, tensor_active, sm_active, dram_utilization, hfu FROM counter_summary"
        lines += map(str, rows(self.kymo, database, extra))
        counts = rows(
            self.kymo,
            database,
            "SELECT step, count(DISTINCT name_id) AS metrics, count(*) AS n FROM hardware_count GROUP BY step",
        )
        lines.append(f"steps: {counts}")
        self.report("known", lines, faults)

    def attention(self):
        for causal in (False, True):
            database = self.database(f"attention-{causal}")
            parameters = ("dtype=bf16", f"seq={LENGTH}", f"heads={HEADS}", f"causal={str(causal).lower()}")
            setting = [word for each in parameters for word in ("--set", each)]
            faults = self.run(database, "attention_flash", *setting, "--passes", "time,counters", "--steps", "5")
            lines, _ = self.checks(database, MAX_DIFFERENCE)
            ratios = {row["phase"]: row["flops_ratio"] for row in rows(self.kymo, database, CHECK)}
            for phase, expected in attention_tiles(LENGTH, causal).items():
                lines.append(f"{phase}: {ratios.get(phase)} of the declared, {expected:.5f} by the tiles")
                if not abs((ratios.get(phase) or 0) / expected - 1) <= MAX_OF_TILES:
                    faults.append(lines[-1])
            self.report(f"attention causal={causal}", lines, faults)

    def models(self):
        for name, settings in MODELS.items():
            database = self.database("model-" + name.replace(" ", "-"))
            words = [word for setting in (f"size={name.split()[0]}", *settings) for word in ("--set", setting)]
            observed = ("--passes", "time,ops,counters", "--trace-detail", "shapes")
            begin = time.monotonic()
            faults = self.run(database, "transformer_lm", *words, *observed, "--steps", "5")
            lines, wrong = self.checks(database, MAX_PADDING)
            self.report(f"model {name} ({time.monotonic() - begin:.0f} s)", lines, faults + wrong)

    def programs(self):
        train = ROOT / "programs" / "train.py"
        for kind in ("transformer", "autocast", "inductor"):
            database = self.database(f"program-{kind}")
            trace = (self.kymo, "trace", "--passes", "ops,counters", "--steps", "4:10", "--db", database, "--")
            done = command(*trace, "python3", train, kind, "16", "cuda")
            faults = self.dropped(database) if done.returncode == 0 else [(done.stdout + done.stderr)[-2000:]]
            lines, wrong = self.checks(database, 0.02)
            # Its products are so small that padding to tiles dominates: the sentence says so.
            self.report(f"program {kind}", lines, faults + [each for each in wrong if "nothing" in each])

    def language_models(self):
        for kind in ("llama", "llama compiled", "nanogpt", "nanogpt compiled"):
            database = self.database("program-" + kind.replace(" ", "-"))
            trace = (self.kymo, "trace", "--passes", "time,ops,counters", "--trace-detail", "shapes", "--steps", "6:14")
            program = (ROOT / "programs" / "language_models.py", *kind.split(), "15")
            begin = time.monotonic()
            done = command(*trace, "--db", database, "--", "python3", *program)
            faults = self.dropped(database) if done.returncode == 0 else [(done.stdout + done.stderr)[-2000:]]
            lines, wrong = self.checks(database, MAX_PADDING)
            self.report(f"{kind} ({time.monotonic() - begin:.0f} s)", lines, faults + wrong)

    def time(self):
        medians = {"time": [], "time,counters": []}
        # A graph has steady steps, because the host does not slow them down.
        setting = ("size=medium", "operators=fused", "dtype=bf16", "execution=graph")
        words = [word for each in setting for word in ("--set", each)]
        faults = []
        for turn in range(8):
            for passes in list(medians)[:: 1 if turn % 2 == 0 else -1]:
                database = self.database("time")
                faults += self.run(
                    database, "transformer_lm", *words, "--steps", "60", "--no-verify", "--passes", passes
                )
                query = f"SELECT median_ms FROM phase_time WHERE phase = 'step' AND {NEWEST}"
                medians[passes] += [row["median_ms"] for row in rows(self.kymo, database, query)]
        plain, counted = (statistics.median(found) for found in medians.values())
        if abs(counted / plain - 1) > MAX_SLOWDOWN:
            faults.append(f"ratio {counted / plain:.4f}")
        lines = [f"{name}: {found}" for name, found in medians.items()]
        self.report("time", [*lines, f"ratio {counted / plain:.4f}"], faults)

    def scopes(self):
        database = self.database("scopes")
        setting = ("--set", "size=small", "--set", "autocast=true", "--counter-ranges", "scope")
        begin = time.monotonic()
        faults = self.run(database, "transformer_lm", *setting, "--passes", "time,ops,counters", "--steps", "5")
        query = "SELECT * FROM counter_module ORDER BY phase, tensor_flops DESC LIMIT 20"
        found = rows(self.kymo, database, query)
        measured = f"phase = 'step' AND NOT warmup AND {NEWEST}"
        steps = rows(self.kymo, database, f"{STEP_TIMES} WHERE {measured} GROUP BY pass")
        checks, wrong = self.checks(database, MAX_PADDING)
        lines = [f"{time.monotonic() - begin:.0f} s, steps {steps}", *checks, *map(str, found)]
        if not any(row["phase"] == "forward" for row in found):
            faults.append("no modules")
        self.report("scopes", lines, faults + wrong)

    def kernels(self):
        database = self.database("kernels")
        counting = ("--passes", "time,trace,ops,counters", "--trace-detail", "shapes", "--counter-ranges", "kernel")
        begin = time.monotonic()
        faults = self.run(database, COUNTED, *counting, "--observed-steps", "6", "--warmup", "2", "--steps", "6")
        lines = [f"{time.monotonic() - begin:.0f} s; clocks {self.clocks()}"]
        query = (
            "SELECT phase, sum(tensor_flops) AS tensor_flops, sum(dram_bytes) AS dram_bytes, count(*) AS kernels "
            "FROM kernel_work WHERE pass = 'trace' GROUP BY phase"
        )
        found = {row["phase"]: row for row in rows(self.kymo, database, query)}
        for phase, expected in KNOWN.items():
            if phase == "copy":  # not a kernel
                continue
            column = "dram_bytes" if expected[0][0].startswith("dram") else "tensor_flops"
            value, tolerance = sum(each[1] for each in expected), expected[0][2]
            counted = found.get(phase, {}).get(column)
            ratio = counted / value if counted is not None else float("nan")
            lines.append(f"{phase} {column}: {counted} of {value:.6g}, ratio {ratio:.5f}")
            if not abs(ratio - 1) <= tolerance:
                faults.append(f"{phase} {column} ratio {ratio:.5f}")
        verdicts = rows(self.kymo, database, f"{VERDICTS} WHERE {NEWEST} ORDER BY phase")
        lines += map(str, verdicts)
        for phase in ("triton_softmax", "triton_norm"):
            if ("counted", "memory-bound") not in [
                (row["work_source"], row["verdict"]) for row in verdicts if row["phase"] == phase
            ]:
                faults.append(f"{phase}: not memory-bound by counters")
        self.report("kernels", lines, faults)
        self.model_kernels(counting)
        self.program_kernels()
        self.cache_bytes()

    def model_kernels(self, counting):
        database = self.database("kernels-model")
        faults = self.run(database, "transformer_lm", "--set", "size=small", "--set", "autocast=true", *counting)
        checks, wrong = self.checks(database, MAX_PADDING)
        verdicts = rows(self.kymo, database, f"{VERDICTS} WHERE {NEWEST} ORDER BY time_ms DESC LIMIT 20")
        lines = [*checks, *map(str, verdicts)]
        measured = f"phase = 'step' AND NOT warmup AND {NEWEST}"
        lines += map(str, rows(self.kymo, database, f"{STEP_TIMES} WHERE {measured} GROUP BY pass"))
        self.report("kernels of transformer_lm", lines, faults + wrong)
        refused = self.database("kernels-graph")
        words = ("--set", "operators=fused", "--set", "dtype=bf16", "--set", "execution=graph")
        dropped = self.run(refused, "transformer_lm", *words, *counting)
        faults = [] if any("CUDA graphs" in each for each in dropped) else [f"a graph is not refused: {dropped}"]
        self.report("kernels of a graph", dropped, faults)

    def program_kernels(self):
        database = self.database("kernels-program")
        words = ("--passes", "trace,counters", "--counter-ranges", "kernel", "--steps", "4:10", "--db", database, "--")
        train = ROOT / "programs" / "train.py"
        done = command(self.kymo, "trace", *words, "python3", train, "inductor", "16", "cuda")
        faults = self.dropped(database) if done.returncode == 0 else [(done.stdout + done.stderr)[-2000:]]
        found = rows(self.kymo, database, f"{VERDICTS} WHERE {NEWEST} AND short_name LIKE 'triton%'")
        faults += [] if found and all(row["work_source"] == "counted" for row in found) else ["kernels without counts"]
        self.report("kernels of a compiled program", map(str, found), faults)

    def cache_bytes(self):
        """Whether the bytes that are counted in the L2 cache are those that a kernel reads from it."""
        database = self.database("cache")
        faults = self.run(database, "peaks", "--set", "kind=cache", "--timing", "hot", "--passes", "time,counters")
        query = (
            "SELECT s.l2_bytes / w.bytes AS ratio FROM counter_summary s JOIN work w ON w.run_id = s.run_id AND "
            f"w.phase = s.phase WHERE s.{NEWEST}"
        )
        found = rows(self.kymo, database, query)
        self.report("bytes of the L2 cache", [f"counted over read: {found}"], faults + ([] if found else ["no bytes"]))

    def ncu(self):
        if not shutil.which("ncu"):
            return self.report("ncu", ["Nsight Compute is not installed"], [])
        program = (ROOT / "programs" / "streaming.py", "6")
        database = self.database("ncu")
        words = ("--passes", "trace,counters", "--counter-ranges", "kernel", "--steps", "3:6", "--db", database, "--")
        done = command(self.kymo, "trace", *words, "python3", *program)
        faults = self.dropped(database) if done.returncode == 0 else [(done.stdout + done.stderr)[-2000:]]
        step = rows(self.kymo, database, f"{LARGE_KERNELS.format(large=LARGE_TRAFFIC)} ORDER BY c.launch")
        options = ("--cache-control", "none", "--clock-control", "none", "--csv", "--print-units", "base")
        done = command("ncu", *options, "--metrics", ",".join(NCU_METRICS), "python3", *program)
        (self.folder / "ncu.csv").write_text(done.stdout)
        kernels = {}
        for row in csv.DictReader(line for line in done.stdout.splitlines() if line.startswith('"')):
            kernels.setdefault(row["ID"], {"kernel": row["Kernel Name"]})[row["Metric Name"]] = float(
                row["Metric Value"].replace(",", "")
            )
        large = [each for each in kernels.values() if sum(each[name] for name in NCU_METRICS) > LARGE_TRAFFIC]
        lines = [f"{each['kernel'][:70]}: {each['read']:.6g} read, {each['written']:.6g} written" for each in step]
        # A step of kymo may begin with another kernel than a turn of the program's loop.
        large = large[len(step) :]  # after the first step
        starts = range(len(large) - len(step) + 1)
        starts = [at for at in starts if all(map(is_same_kernel, step, large[at:]))]
        if not step or not starts:
            lines += [f"ncu: {each}" for each in large]
            faults.append(f"no step of these kernels in ncu's output: {done.stderr[-500:]}")
        for ours, theirs in zip(step, large[starts[0] :] if starts else [], strict=False):
            for column, metric in zip(("read", "written"), NCU_METRICS, strict=True):
                if theirs[metric] < LARGE_PART:
                    continue
                ratio = ours[column] / theirs[metric]
                lines.append(f"{base_name(ours['kernel'])} {column}: {ratio:.5f} of {theirs[metric]:.6g}")
                if abs(ratio - 1) > MAX_OF_NCU:
                    faults.append(lines[-1])
        return self.report("ncu", lines, faults)

    def ranks(self):
        if count_gpus(self.kymo) < 2:
            return self.report("ranks", ["needs two GPUs"], [])
        database = self.database("ranks")
        setting = ("--ranks", "2", "--set", "model=small", "--set", "operators=fused", "--set", "autocast=true")
        faults = self.run(database, "ddp_overlap", *setting, "--passes", "time,counters", "--steps", "5")
        lines, wrong = self.checks(database, MAX_DIFFERENCE)
        counted = rows(self.kymo, database, "SELECT phase, ranks, tensor_flops FROM counter_summary")
        self.report("ranks", [*lines, *map(str, counted)], faults + [each for each in wrong if "nothing" in each])
        return None

    def long_run(self, database):
        steps = ("--observed-steps", "200", "--steps", "200")
        words = ("transformer_lm", "--set", "size=small", "--passes", "counters", *steps)
        return subprocess.Popen(
            [str(self.kymo), "run", *words, "--device", "cuda", "--db", str(database)],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )

    def busy(self):
        first, second = self.database("busy-first"), self.database("busy-second")
        process = self.long_run(first)
        time.sleep(12)
        self.run(second, "transformer_lm", "--passes", "counters", "--steps", "3")
        refused = self.dropped(second)
        process.send_signal(signal.SIGINT)
        process.wait(120)
        counted = rows(self.kymo, first, f"SELECT count(*) AS n FROM hardware_count WHERE {NEWEST}")[0]["n"]
        faults = [] if any("another process" in each for each in refused) else [f"not refused: {refused}"]
        self.report("busy", [*refused, f"the first process counted {counted} values"], faults)

    def killed(self):
        before = self.clocks()
        process = self.long_run(self.database("killed"))
        time.sleep(12)
        workers = command("pgrep", "-P", str(process.pid)).stdout.split()
        for pid in (*workers, process.pid):
            os.kill(int(pid), signal.SIGKILL)
        process.wait(60)
        time.sleep(3)
        after = self.clocks()
        database = self.database("after-kill")
        faults = self.run(database, "transformer_lm", "--passes", "counters", "--steps", "3")
        counted = rows(self.kymo, database, f"SELECT count(*) AS n FROM hardware_count WHERE {NEWEST}")[0]["n"]
        lines = [f"clocks before {before}", f"clocks after {after}", f"{counted} values after it"]
        self.report("killed", lines, faults + ([] if counted else ["nothing was counted after it"]))


def mixed_builds(kymo):
    """A package of an unfinished build has files of different builds, which refuse each other."""
    package = Path(kymo).resolve().parents[1]
    builds = {}
    for file in (package / "bin" / "kymo", *package.glob("lib/kymo/*.so"), *package.glob("lib/kymo/modules/*.so")):
        for build in BUILD.findall(file.read_bytes()):
            builds.setdefault(build.decode(), []).append(file.name)
    return builds if len(builds) > 1 else None


def main(kymo, folder, seconds=270, *names):
    if builds := mixed_builds(kymo):
        print(f"this package is of different builds; finish the build and package it again: {builds}")
        return 1
    if count_gpus(kymo) == 0:
        print("no GPU")
        return 77
    end = time.monotonic() + float(seconds)
    parts = Parts(kymo, folder)
    everything = (
        "known",
        "attention",
        "busy",
        "killed",
        "time",
        "models",
        "ranks",
        "scopes",
        "kernels",
        "ncu",
        "programs",
        "language_models",
    )
    print(f"clocks {parts.clocks()}", flush=True)
    done = command(parts.kymo, "peaks", "--db", parts.folder / "peaks.db")
    print((done.stdout + done.stderr)[-1500:], flush=True)
    for name in names or everything:
        begin = time.monotonic()
        if begin >= end:
            print(f"{name}: no time left")
            continue
        try:
            getattr(parts, name)()
        except Exception as error:  # the other parts are measured all the same
            parts.report(name, [], [repr(error)])
        print(f"{name}: {time.monotonic() - begin:.0f} s", flush=True)
    return 0 if parts.is_ok else 1


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
