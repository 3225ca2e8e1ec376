# SPDX-License-Identifier: Apache-2.0
"""Export to the formats of other tools: each file is read back the way its own reader does."""

import collections
import contextlib
import csv
import importlib.util
import io
import itertools
import json
import pickle
import pickletools
import re
import shutil
import sqlite3
import unittest
from pathlib import Path

from kymo_tool import BUILD, PLUGINS, SAXPY, KymoTest, SharedRunTest, needs_torch_parts, rows_of
from small_model import ALL_PASSES, CASE, METHOD, MODULES, STEPS, WARMUP

KERNEL = 'void gemm<"x\\">(float*)'
SHORT = ["--warmup", "0", "--steps", "2"]


def nanoseconds(microseconds):
    return round(float(microseconds) * 1000)


def pytorch_viewer():
    """PyTorch's own reader of memory snapshots; it does not depend on the rest of PyTorch."""
    known = re.search(r"^KYMO_TORCH:[A-Z]+=(.+)$", (BUILD / "CMakeCache.txt").read_text(encoding="utf-8"), re.MULTILINE)
    if not known:
        raise unittest.SkipTest("this build knows no PyTorch")
    spec = importlib.util.spec_from_file_location("memory_viz", Path(known.group(1)) / "cuda" / "_memory_viz.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


class ExportTest(SharedRunTest):
    """A run, and functions to inspect its exports."""

    def export(self, form, *words, database="kymo.db", suffix="out"):
        file = self.work / f"{self.id().rpartition('.')[2]}-{form}.{suffix}"
        self.kymo("export", form, "--db", database, "-o", file, *words)
        return file

    def trace(self, *words, database="kymo.db"):
        whole = json.loads(
            self.export("perfetto", *words, database=database, suffix="json").read_text(encoding="utf-8")
        )
        events = collections.defaultdict(list)
        for event in whole["traceEvents"]:
            events[event["ph"]].append(event)
        return whole, events

    def check_nesting(self, stretches):
        """Checks that on each track an event ends before the next one starts, or is nested in it."""
        tracks = collections.defaultdict(list)
        for event in stretches:
            begin = nanoseconds(event["ts"])
            tracks[event["pid"], event["tid"]].append((begin, begin + nanoseconds(event["dur"]), event["name"]))
        for track, found in tracks.items():
            around = []
            for begin, end, name in sorted(found, key=lambda one: (one[0], -one[1])):
                while around and around[-1][1] <= begin:
                    around.pop()
                if around:
                    self.assertLessEqual(end, around[-1][1], (track, name, around[-1]))
                around.append((begin, end, name))
        return tracks

    def snapshot(self, *words, database="kymo.db"):
        content = self.export("memory-viz", *words, database=database, suffix="pickle").read_bytes()
        protocols = [argument for opcode, argument, _ in pickletools.genops(content) if opcode.name == "PROTO"]
        self.assertLessEqual(max(protocols, default=0), 4, "PyTorch's viewer reads no later protocol")
        return pickle.loads(content)

    def check_snapshot(self, snapshot):
        """Replays a snapshot backwards like the viewer: every undone action must be consistent. Returns the state at
        the start, by device."""
        left = {}
        for device, entries in enumerate(snapshot["device_traces"]):
            segments, blocks = {}, {}
            for segment in snapshot["segments"]:
                if segment["device"] != device:
                    continue
                segments[segment["address"]] = segment["total_size"]
                address = segment["address"]
                for block in segment["blocks"]:
                    self.assertEqual(block.get("address", address), address, "blocks tile their segment")
                    self.assertIn(block["state"], ("active_allocated", "active_pending_free", "inactive"))
                    if block["state"] != "inactive":
                        blocks[address] = block["state"]
                    address += block["size"]
                self.assertEqual(address, segment["address"] + segment["total_size"])
            for entry in reversed(entries):
                self.assertLessEqual({"action", "size", "stream", "frames"}, entry.keys(), entry)
                action, address = entry["action"], entry.get("addr")
                if action == "alloc":
                    self.assertEqual(blocks.pop(address, None), "active_allocated", entry)
                elif action == "free_requested":
                    self.assertEqual(blocks.get(address), "active_pending_free", entry)
                    blocks[address] = "active_allocated"
                elif action == "free_completed":
                    self.assertNotIn(address, blocks, entry)
                    blocks[address] = "active_pending_free"
                elif action == "segment_alloc":
                    self.assertEqual(segments.pop(address, None), entry["size"], entry)
                elif action == "segment_free":
                    self.assertNotIn(address, segments, entry)
                    segments[address] = entry["size"]
                else:
                    self.assertIn(action, ("oom", "snapshot"), entry)
            left[device] = blocks
        return left

    def check_viewer(self, snapshot):
        viewer = pytorch_viewer()
        self.assertIn("segments", viewer.segsum(snapshot))
        entries = sum(len(each) for each in snapshot["device_traces"])
        self.assertGreater(len(viewer.trace(snapshot).splitlines()), entries)
        self.assertIn("snapshot.pickle", viewer.trace_plot(snapshot))
        self.assertIn("snapshot.pickle", viewer.segment_plot(snapshot))
        lines = []
        viewer.memory(snapshot, format_flamegraph=lines.append)
        self.assertGreater(len(lines[0].splitlines()), 0)
        with contextlib.redirect_stdout(io.StringIO()) as said:
            viewer.filter_alloc_free_pairs(snapshot)
        self.assertEqual(said.getvalue(), "", "a block was given back that nobody took")


@needs_torch_parts
class TrainingStepTest(ExportTest):
    words = [*CASE, *METHOD, *ALL_PASSES, "--trace-detail", "shapes"]

    def test_perfetto_rates_add_up_to_the_work_of_the_operators(self):
        _, events = self.trace("--pass", "ops")
        ((flops, moved),) = self.rows(
            "SELECT sum(calls * flops) / max(steps), sum(calls * bytes) / max(steps) FROM op_work WHERE pass = 'ops'"
        )
        for name, work in (("FLOP/s", flops), ("bytes/s", moved)):
            points = [(event["ts"] / 1e6, event["args"]["rate"]) for event in events["C"] if event["name"] == name]
            self.assertEqual(points, sorted(points, key=lambda point: point[0]))
            self.assertEqual(points[-1][1], 0)
            total = sum(rate * (end - start) for (start, rate), (end, _) in itertools.pairwise(points))
            self.assertAlmostEqual(total / (work * (WARMUP + STEPS)), 1, delta=1e-6, msg=name)

    def test_perfetto_of_operators(self):
        whole, events = self.trace("--pass", "ops")
        self.assertEqual(whole["distributedInfo"]["rank"], 0)
        tracks = self.check_nesting(events["X"])
        names = collections.Counter(event["name"] for event in events["X"])
        for step in range(WARMUP + STEPS):
            # Readers that recognize steps by the name ProfilerStep#N ignore kernels without a recorded API call, so the
            # name is only used in traces with calls.
            self.assertEqual(names[f"step {step}"], 1, sorted(names)[:5])
        for event in events["X"]:
            self.assertLessEqual({"ts", "dur", "name", "cat", "pid", "tid"}, event.keys(), event)
            self.assertTrue(0 <= event["ts"] < 1e9 and event["dur"] >= 0, event)
        operators = sum(event["cat"] == "cpu_op" for event in events["X"])
        self.assertEqual([(operators,)], self.rows("SELECT count(*) FROM op WHERE pass = 'ops'"))
        self.assertEqual(names["softmax"], (WARMUP + STEPS) * MODULES["forward"]["block/attention/softmax"])
        named = {(event["pid"], event["tid"]) for event in events["M"] if event["name"] == "thread_name"}
        self.assertLessEqual(tracks.keys(), named, "a track without a name")

    def test_perfetto_times_are_those_of_the_rows(self):
        _, events = self.trace("--pass", "ops")
        shown = sorted(
            (nanoseconds(event["ts"]), nanoseconds(event["dur"]), event["name"])
            for event in events["X"]
            if event["cat"] == "cpu_op"
        )
        stored = self.rows("""SELECT o.start_ns, o.end_ns - o.start_ns, n.text
                              FROM op o JOIN string n ON n.string_id = o.name_id
                              WHERE o.pass = 'ops' ORDER BY 1, 2, 3""")
        self.assertEqual(shown, stored)

    def test_perfetto_of_memory(self):
        _, events = self.trace("--pass", "memory")
        self.check_nesting(events["X"])
        curve = [
            (nanoseconds(event["ts"]), event["args"]["allocated"])
            for event in events["C"]
            if event["name"] == "CPU memory"
        ]
        self.assertEqual(curve, self.rows("SELECT time_ns, allocated_bytes FROM memory_point ORDER BY sequence"))

    def test_perfetto_exports_the_pass_with_the_most_details(self):
        whole, events = self.trace()
        self.assertEqual(whole["otherData"]["pass"], "ops", "without a GPU, a trace has no kernels")
        self.check_nesting(events["X"])

    def test_memory_viz(self):
        snapshot = self.snapshot()
        (device,) = [number for number, entries in enumerate(snapshot["device_traces"]) if entries]
        self.assertEqual(self.check_snapshot(snapshot)[device], {}, "everything was born in the pass")
        entries = snapshot["device_traces"][device]
        counts = collections.Counter(entry["action"] for entry in entries)
        born, died = self.rows("SELECT count(*), count(free_ns) FROM allocation")[0]
        self.assertEqual((counts["alloc"], counts["free_requested"], counts["free_completed"]), (born, died, died))
        alive = sum(
            block["requested_size"]
            for segment in snapshot["segments"]
            for block in segment["blocks"]
            if block["state"] != "inactive"
        )
        self.assertEqual([(alive,)], self.rows("SELECT sum(requested_bytes) FROM allocation WHERE free_ns IS NULL"))
        self.check_viewer(snapshot)

    def test_memory_viz_holds_stacks(self):
        snapshot = self.snapshot()
        frames = [
            frame
            for entries in snapshot["device_traces"]
            for entry in entries
            if entry["action"] == "alloc"
            for frame in entry["frames"]
        ]
        self.assertGreater(len(frames), 1000)
        for frame in frames[:1000]:
            self.assertEqual(
                (type(frame["filename"]), type(frame["line"]), type(frame["name"])), (str, int, str), frame
            )
        self.assertTrue(any("transformer_lm.so" in frame["filename"] for frame in frames))

    def test_memory_viz_of_segments(self):
        """The viewer must be able to undo the actions of blocks whose start or end is missing."""
        for name, words in (("one-step", ["--keep", "one-step"]), ("bounded", ["--trace-memory", "256Ki"])):
            self.kymo("run", *CASE, *METHOD, "--passes", "memory", *words, "--db", f"{name}.db")
            snapshot = self.snapshot(database=f"{name}.db")
            self.assertGreater(sum(len(entries) for entries in snapshot["device_traces"]), 100)
            self.check_snapshot(snapshot)
            self.check_viewer(snapshot)

    def check_csv(self, query, *words):
        found = list(
            csv.reader(io.StringIO(self.export("csv", *words, suffix="csv").read_bytes().decode(), newline=""))
        )
        connection = sqlite3.connect(self.work / "kymo.db")
        try:
            cursor = connection.execute(query)
            self.assertEqual(found[0], [column[0] for column in cursor.description])
            stored = cursor.fetchall()
        finally:
            connection.close()
        self.assertGreater(len(stored), 0)
        self.assertEqual(len(found) - 1, len(stored), words)
        for shown, row in zip(found[1:], stored, strict=True):
            for text, value in zip(shown, row, strict=True):
                self.assertEqual(
                    float(text) if isinstance(value, float) else text,
                    value if isinstance(value, float) else "" if value is None else str(value),
                    row,
                )

    def test_csv(self):
        for table in ("op", "allocation", "range", "sample", "run"):
            self.check_csv(f"SELECT * FROM {table}", "--table", table)
        self.check_csv(
            "SELECT * FROM range WHERE pass = 'trace' AND rank = 0 AND run_id = 1",
            "--table",
            "range",
            "--run",
            "1",
            "--rank",
            "0",
            "--pass",
            "trace",
        )
        query = (
            "SELECT n.text, o.start_ns / 1e3 AS start_us, o.parent "
            "FROM op o JOIN string n ON n.string_id = o.name_id ORDER BY o.sequence"
        )
        self.check_csv(query, "--query", query)
        self.check_csv("SELECT * FROM op_summary", "--table", "op_summary")


class GpuTest(ExportTest):
    """Synthetic GPU events, so that no GPU is required."""

    words = [SAXPY, "--set", "n=100", "--passes", "time,trace,memory", *SHORT]
    KERNELS = 45_000

    def made_up(self):
        file = self.work / "gpu.db"
        if not file.exists():
            shutil.copy(self.work / "kymo.db", file)
            connection = sqlite3.connect(file)
            self.add_kernels(connection)
            self.add_memory(connection)
            connection.commit()
            connection.close()
        return file

    def add_kernels(self, connection):
        ((begin,),) = connection.execute("SELECT min(start_ns) FROM sample WHERE pass = 'trace'").fetchall()
        connection.executemany(
            "INSERT INTO string (string_id, text) VALUES (?, ?)",
            [(9001, KERNEL), (9002, "cudaLaunchKernel"), (9003, "memcpy host to device")],
        )
        connection.execute("INSERT INTO kernel_class (name_id, short_name, class) VALUES (9001, 'gemm', 'matmul')")
        connection.execute("INSERT INTO launch_config VALUES (1, 0, 'trace', 0, 8, 1, 1, 128, 1, 1, 0, 1024, 32)")
        kernels, calls = [], []
        for i in range(self.KERNELS):
            start = begin + 100 * i
            # Every seventh kernel overlaps the next one on its stream, as nodes of a graph may.
            end = start + (250 if i % 7 == 0 else 90)
            kernels.append((i, start, end, 7 + i % 2, i + 1))
            calls.append((i, start - 50, start - 10, i + 1))
        connection.executemany(
            "INSERT INTO gpu_activity VALUES "
            "(1, 0, 'trace', ?, 9001, ?, ?, ?, ?, 0, NULL, NULL, 'launch', 0, NULL, NULL, NULL, NULL)",
            kernels,
        )
        connection.executemany("INSERT INTO api_call VALUES (1, 0, 'trace', ?, 9002, ?, ?, 4242, ?)", calls)
        connection.execute(
            "INSERT INTO gpu_activity VALUES "
            "(1, 0, 'trace', ?, 9003, ?, ?, 7, 999999, 0, NULL, NULL, 'none', NULL, NULL, NULL, 4096, NULL)",
            (self.KERNELS, kernels[-1][2], kernels[-1][2] + 20),
        )

    def add_memory(self, connection):
        """A segment with three blocks: one is freed immediately, one is freed on another stream, one is not freed;
        and a segment that is freed."""
        connection.execute("INSERT INTO segment VALUES (1, 0, 'memory', 0, 65536, 2097152, 0, 1000, NULL, NULL)")
        connection.execute("INSERT INTO segment VALUES (1, 0, 'memory', 1, 8388608, 1048576, 3, 1100, 9000, 9)")
        columns = (
            "sequence, device, address, requested_bytes, allocated_bytes, alloc_ns, free_ns, reusable_ns, "
            "free_sequence, reusable_sequence, stream, thread, step, category, category_source"
        )
        blocks = [
            (2, "cuda", 65536, 100, 512, 2000, 3000, 3000, 4, 5, 0, 0, 0, "workspace", "lifetime"),
            (3, "cuda", 66048, 600, 1024, 2500, 5000, 6000, 7, 8, 0, 0, 0, "unknown", ""),
            (6, "cuda", 65536, 512, 512, 4000, None, None, None, None, 0, 0, 0, "parameter", "tag"),
        ]
        connection.executemany(
            f"INSERT INTO allocation (run_id, rank, pass, {columns}) VALUES (1, 0, 'memory', {', '.join('?' * 15)})",
            blocks,
        )

    def test_perfetto_of_kernels(self):
        file = self.made_up()
        _, events = self.trace(database=file)
        self.check_nesting(events["X"])
        kernels = [event for event in events["X"] if event["cat"] == "kernel"]
        self.assertEqual(len(kernels), self.KERNELS)
        self.assertEqual({event["name"] for event in kernels}, {KERNEL})
        self.assertEqual({event["args"]["stream"] for event in kernels}, {7, 8})
        self.assertEqual(
            [(nanoseconds(event["ts"]),) for event in sorted(kernels, key=lambda event: event["ts"])],
            rows_of(file, "SELECT start_ns FROM kernel ORDER BY 1"),
        )
        self.assertEqual([event["name"] for event in events["X"] if event["cat"] == "gpu_memcpy"], ["Memcpy HtoD"])
        # A flow arrow has two ends; a copy without a recorded call has none.
        ends = [collections.Counter(event["id"] for event in events[letter]) for letter in "sf"]
        self.assertEqual(len(ends[0]), self.KERNELS)
        self.assertEqual(*ends)
        steps = [event["name"] for event in events["X"] if event["name"].startswith("ProfilerStep#")]
        self.assertEqual(
            steps,
            ["ProfilerStep#0", "ProfilerStep#1", "ProfilerStep#2"],
            "the last is there because readers leave out the last",
        )

    def test_holistic_trace_analysis_finds_the_rank(self):
        text = self.export("perfetto", database=self.made_up(), suffix="json").read_text(encoding="utf-8")
        self.assertEqual(re.findall(r'"rank":\s+(\d+)', text), ["0"])

    def test_memory_viz_of_a_gpu(self):
        snapshot = self.snapshot(database=self.made_up())
        self.assertEqual(self.check_snapshot(snapshot)[0], {})
        self.assertEqual(
            [entry["action"] for entry in snapshot["device_traces"][0] if entry["action"] != "snapshot"],
            [
                "segment_alloc",
                "segment_alloc",
                "alloc",
                "alloc",
                "free_requested",
                "free_completed",
                "alloc",
                "free_requested",
                "free_completed",
                "segment_free",
            ],
        )
        (segment,) = snapshot["segments"]
        self.assertEqual((segment["address"], segment["total_size"], segment["device"]), (65536, 2097152, 0))
        self.assertEqual(
            [(block["size"], block["state"]) for block in segment["blocks"]],
            [(512, "active_allocated"), (2096640, "inactive")],
        )
        self.check_viewer(snapshot)

    def test_csv_by_pages(self):
        """More rows than are read at once."""
        file = self.export("csv", "--table", "kernel", database=self.made_up(), suffix="csv")
        found = list(csv.reader(file.read_text(encoding="utf-8").splitlines()))
        column = found[0].index("sequence")
        self.assertEqual([int(row[column]) for row in found[1:]], list(range(self.KERNELS)))


class RejectionTest(KymoTest):
    def expect_rejected(self, *words, says):
        before = sorted(self.work.iterdir())
        done = self.kymo("export", *words, code=2)
        self.assertRegex(done.stderr, rf"\Akymo: [^\n]*{says}[^\n]*\n\Z")
        self.assertEqual(done.stdout, "")
        self.assertEqual(sorted(self.work.iterdir()), before, "nothing is written")

    def test_a_run_without_the_pass(self):
        self.kymo("run", SAXPY, "--set", "n=100", *SHORT)
        for words in ([], ["--run", "1"]):
            self.expect_rejected("perfetto", *words, says="--passes trace")
            self.expect_rejected("memory-viz", *words, says="--passes memory")
        self.expect_rejected("perfetto", "--run", "2", says="no run 2")
        self.expect_rejected("perfetto", "--pass", "time", says="trace, ops, memory")
        self.expect_rejected("csv", "--table", "kernels", says="kernel")
        self.expect_rejected("csv", says="--table")
        self.expect_rejected("perfetto", "--db", "missing.db", says="missing.db")

    def test_a_run_that_kept_figures_alone(self):
        self.kymo("run", SAXPY, "--set", "n=100", "--passes", "time,trace", "--keep", "summary", *SHORT)
        self.expect_rejected("perfetto", "--run", "1", says="--keep summary")

    def test_names_of_files(self):
        self.kymo("run", SAXPY, "--set", "n=100", "--passes", "trace", "--ranks", "2", *SHORT)
        self.kymo("export", "perfetto")
        self.assertEqual(
            {file.name for file in self.work.glob("*.json")}, {"trace-run1-rank0.json", "trace-run1-rank1.json"}
        )
        ranks = [
            json.loads((self.work / f"trace-run1-rank{rank}.json").read_text())["distributedInfo"]["rank"]
            for rank in range(2)
        ]
        self.assertEqual(ranks, [0, 1])
        self.assertEqual(
            json.loads(self.kymo("export", "perfetto", "--rank", "1", "-o", "-").stdout)["distributedInfo"]["rank"], 1
        )
        self.expect_rejected("perfetto", "-o", "-", says="--rank")

    def test_hostile_names(self):
        for text in ('"}],"x":[{"', "</script>\n", "=cmd|' /C calc'!A0"):
            self.kymo(
                "run", PLUGINS / "probe.so", "--set", f"label={text}", "--label", text, "--passes", "trace", *SHORT
            )
        self.kymo("export", "perfetto", "-o", "t.json")
        json.loads((self.work / "t.json").read_text(encoding="utf-8"))
        self.kymo("export", "csv", "--table", "run", "-o", "run.csv")
        with open(self.work / "run.csv", newline="", encoding="utf-8") as file:
            labels = [row["label"] for row in csv.DictReader(file)]
        self.assertEqual(labels[2][:2], "'=")


if __name__ == "__main__":
    unittest.main()
