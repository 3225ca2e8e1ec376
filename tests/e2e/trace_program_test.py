# SPDX-License-Identifier: Apache-2.0
"""`kymo trace` observes unmodified PyTorch programs: their results, steps, phases and scopes, and how they end."""

import contextlib
import os
import pty
import select
import signal
import subprocess
import textwrap
import time
import unittest
from pathlib import Path

from forked_program import run_forked
from kymo_tool import HANG_S, KYMO, KymoTest, SharedRunTest, cached_variable, long_test, needs_torch_parts
from launcher_tool import free_port

PYTHON = cached_variable("KYMO_TORCH_PYTHON") or "python3"
PROGRAMS = Path(__file__).resolve().parent.parent / "python" / "programs"
TRAIN = PROGRAMS / "train.py"
ENDS = PROGRAMS / "ends.py"
FORKED = PROGRAMS / "forked.py"
STEPS = 16
PHASES = """SELECT s.phase, count(*), sum(s.calls) FROM sample s WHERE s.pass = 'ops' AND s.warmup = 0
            AND s.rank = ? GROUP BY s.phase"""
# Operators of the measured steps, with their phase and the path of their module.
OPERATORS = """SELECT n.text AS name, o.backward, p.text AS phase, q.text AS path FROM op o
               JOIN string n ON n.string_id = o.name_id LEFT JOIN string p ON p.string_id = o.phase_id
               LEFT JOIN string q ON q.string_id = o.scope_id WHERE o.pass = 'ops' AND o.step >= 3"""


class TraceTest(KymoTest):
    outputs = {}  # of programs without kymo, by their words  # noqa: RUF012

    def make_folders(self):
        super().make_folders()
        self.environment["KYMO_TEST_LIGHT_TORCH"] = "1"  # read by train.py and forked.py
        self.environment["GLOO_SOCKET_IFNAME"] = "lo"

    def plain(self, *words, ranks=None):
        """The output of a program without kymo, which has been started `ranks` times, as torchrun does."""
        if words not in self.outputs:
            environments = [self.environment] if ranks is None else self.environments_of(ranks)
            codes, output, errors = run_forked(PYTHON, words, self.work, environments)
            self.assertEqual(set(codes), {0}, errors)
            self.outputs[words] = output
        return self.outputs[words]

    def environments_of(self, ranks):
        job = {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(free_port()), "WORLD_SIZE": str(ranks)}
        return [{**self.environment, **job, "RANK": str(rank), "LOCAL_RANK": str(rank)} for rank in range(ranks)]

    def trace(self, *words, options=(), code=0):
        return self.kymo("trace", *options, "--", PYTHON, *words, code=code)

    def trace_each(self, program, kinds, *words, options=(), passes=1):
        """Observes a program of several kinds at the same time, of which each is a rank of its own, in forks of one
        process that has imported torch. The output of each is that of the program without kymo."""
        done = self.trace(FORKED, len(kinds), PROGRAMS / "each.py", program, ",".join(kinds), *words, options=options)
        self.assertEqual(self.outcome(), ("ok", ""))
        for kind in kinds:
            found = (self.work / f"{kind}.txt").read_text(encoding="utf-8")
            self.assertEqual(found, passes * self.plain(program, kind, *words), kind)
        return done

    def kill_kymo(self, *options):
        """Kills kymo while it observes a program, and lets the next command import what it left."""
        process = subprocess.Popen(
            [str(self.program), "trace", "--steps", "5:40", *options, "--", PYTHON, str(ENDS), "wait"],
            cwd=self.work,
            env=self.environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            stdin=subprocess.DEVNULL,
            text=True,
        )
        self.assertEqual(process.stdout.readline(), "ready\n")
        process.kill()
        process.wait()
        self.assertEqual(process.stdout.read(), "")  # the program held the other end
        process.stdout.close()
        deadline = time.monotonic() + HANG_S
        while self.rows("SELECT status FROM run") == [("running",)] and time.monotonic() < deadline:
            self.kymo("runs")

    def outcome(self):
        return self.rows("SELECT status, detail FROM run")[0]

    def measured_steps(self):
        return self.rows("SELECT count(*) FROM sample WHERE phase = 'step' AND warmup = 0")[0][0]

    def calls_per_step(self, rows):
        """Collective calls of two ranks by operation, size, type and phase, which are the same in each of the ten steps
        on each rank."""
        found = {}
        for row in rows:
            key = (row["operation"], row["bytes"], row["dtype"], row["phase"])
            found.setdefault(key, {}).setdefault((row["rank"], row["step"]), 0)
            found[key][row["rank"], row["step"]] += 1
        result = {}
        for key, counts in found.items():
            self.assertEqual((len(counts), len(set(counts.values()))), (20, 1), key)
            result[key] = next(iter(counts.values()))
        return result

    def metric(self, name, rank=0):
        return {value for (value,) in self.rows("SELECT value FROM metric WHERE name = ? AND rank = ?", name, rank)}


# Entries of each phase per step, which are the same in each step.
STEP = {"forward": 1, "backward": 1, "optimizer": 1}
KINDS = {
    "transformer": STEP,
    "checkpointed": STEP,
    "autocast": STEP,
    "accumulated": {"forward": 3, "backward": 3, "optimizer": 1},
    "gan": {"forward": 5, "backward": 2, "optimizer": 2},
    "by_hand": {"forward": 1, "backward": 1},
    "contrastive": {"forward": 2, "backward": 1, "optimizer": 1},
    "by_hand_after_calls": {"forward": 5, "backward": 1},
    "inference": {"forward": 1},
    "loader": {"data_loading": 1, **STEP},
    "loader_fork": {"data_loading": 1, **STEP},
    "loader_spawn": {"data_loading": 1, **STEP},
    "scaled": {"forward": 1, "backward": 1, "optimizer": 0.9},  # an overflow skips a step of the optimizer
}
RANK_OF = {kind: rank for rank, kind in enumerate([*KINDS, "lbfgs"])}


@needs_torch_parts
class ProgramsTest(SharedRunTest, TraceTest):
    """What a program prints, its losses, is the same with and without kymo."""

    def run_once(self):
        self.trace_each(TRAIN, [*RANK_OF], STEPS)

    def test_steps_and_phases(self):
        self.assertEqual(self.rows("SELECT source FROM dropped_record WHERE source <> 'device'"), [])
        for kind, phases in KINDS.items():
            with self.subTest(kind):
                rows = self.rows(PHASES, RANK_OF[kind])
                self.assertEqual({phase: calls / 10 for phase, _, calls in rows}, {"step": 1, "other": 1, **phases})
                self.assertEqual({steps for phase, steps, _ in rows if phases.get(phase) != 0.9}, {10})
                reasons = self.metric("assumed_step_boundary", RANK_OF[kind])
                expected = set() if "optimizer" in phases else {"assumed"}
                self.assertEqual({reason.split(":")[0] for reason in reasons}, expected)

    def operators(self, kind):
        return self.records(OPERATORS + " AND o.rank = ?", RANK_OF[kind])

    def test_modules_of_operators(self):
        rows = self.operators("transformer")
        parts = ("Linear_0", "GELU_1", "Linear_2")
        block = {"norm", "attention", "feed_forward", *(f"feed_forward/{each}" for each in parts)}
        modules = {f"Transformer/layers.{i}/{name}" for i in (0, 1) for name in block}
        modules |= {"Transformer/embedding", "Transformer/head", "Transformer/layers.0", "Transformer/layers.1"}
        forward = {row["path"] for row in rows if row["phase"] == "forward" and not row["backward"]}
        self.assertEqual(forward - {"Transformer"}, modules - {f"Transformer/layers.{i}/feed_forward" for i in (0, 1)})
        self.assertNotIn(None, forward)  # each operator of the forward phase belongs to a module
        backward = {row["path"] for row in rows if row["phase"] == "backward" and row["backward"]}
        self.assertLessEqual(forward - {"Transformer"}, backward)
        # Nodes of the backward pass without a module: those of the loss, and the accumulation of gradients.
        without = {row["name"] for row in rows if row["backward"] and row["path"] is None}
        self.assertEqual(
            without, {"torch::autograd::AccumulateGrad", "NllLossBackward0", "LogSoftmaxBackward0", "ViewBackward0"}
        )

    @long_test
    def test_modules_of_one_class_outside_of_others_are_kept_apart(self):
        rows = [row for row in self.operators("gan") if row["path"] and not row["backward"]]
        self.assertEqual({row["path"] for row in rows}, {"generator", "discriminator"})

    def test_assumptions_are_a_warning(self):
        self.assertEqual(
            self.rows("SELECT detail FROM run_warning WHERE kind = 'assumed steps'"),
            [
                (
                    "it was assumed where 10 measured steps begin: first forward pass after a backward pass, because "
                    "the program has no optimizer; check that these are the iterations of the program",
                )
            ],
        )

    def test_recomputed_operators_belong_to_their_modules(self):
        rows = self.operators("checkpointed")
        paths = {row["path"] for row in rows if row["phase"] == "backward" and not row["backward"] and row["path"]}
        self.assertIn("layers.0/norm", {path.removeprefix("Transformer/") for path in paths})

    @long_test
    def test_calls_before_the_first_backward_pass_are_in_the_first_step(self):
        for kind in ("contrastive", "by_hand_after_calls"):
            self.assertEqual(self.metric("first_step", RANK_OF[kind]), {2})

    @long_test
    def test_an_optimizer_that_calls_the_model(self):
        phases = {phase: (steps, calls) for phase, steps, calls in self.rows(PHASES, RANK_OF["lbfgs"])}
        self.assertEqual(phases["step"], (10, 10))
        self.assertEqual(phases["forward"], phases["backward"])
        self.assertEqual(phases["forward"][0], 10)


@needs_torch_parts
class PassesTest(TraceTest):
    def test_each_pass_starts_the_program(self):
        expected = self.plain(TRAIN, "transformer", 30)
        options = ["--passes", "time,ops,memory", "--steps", "5:10", "--label", "a"]
        done = self.trace(TRAIN, "transformer", 30, options=options)
        self.assertEqual(done.stdout, 3 * expected)
        self.assertIn("KYMO_PASS", done.stderr)
        self.assertEqual(self.outcome(), ("ok", ""))
        run = self.rows("SELECT workload, timing, passes FROM run")
        self.assertEqual(run, [("train.py", "free", "time,memory,ops")])
        self.check_memory()
        self.check_later_steps(done.stderr)
        self.assertEqual(self.rows("SELECT * FROM run_warning WHERE kind = 'different executions'"), [])
        self.assertGreater(self.rows("SELECT count(*) FROM trace_overhead")[0][0], 0)
        self.check_results_appear_like_those_of_other_workloads()

    def check_memory(self):
        sizes = dict(
            self.rows("SELECT category, max(bytes) FROM memory_by_category WHERE pass = 'memory' GROUP BY category")
        )
        parameters = 50 * 16 + 16 * 50 + 50 + 2 * (32 + 4 * (16 * 16 + 16) + 2 * 16 * 64 + 64 + 16)
        self.assertEqual((sizes["parameter"], sizes["gradient"]), (4 * parameters, 4 * parameters))
        self.assertGreaterEqual(sizes["optimizer_state"], 8 * parameters)

    def check_later_steps(self, errors):
        """The program continues after the observed steps, and what its steps cost then is stored as metrics."""
        found = self.rows("SELECT pass, value, unit FROM metric WHERE name = 'later_steps' ORDER BY pass")
        self.assertEqual(found, [(name, 19.0, "steps") for name in ("memory", "ops", "time")])
        medians = self.rows("SELECT value, unit FROM metric WHERE name = 'later_step_median'")
        self.assertEqual([(value > 0, unit) for value, unit in medians], 3 * [(True, "ms")])
        self.assertEqual(self.measured_steps(), 15)  # later steps are no samples
        self.assertIn("later steps of the ops pass, with nothing recorded: 19, median", errors)

    def check_results_appear_like_those_of_other_workloads(self):
        self.assertIn("train.py", self.kymo("runs").stdout)
        shown = self.kymo("show", "1").stdout
        self.assertIn("arguments=transformer 30", shown)
        self.assertIn("backward", shown)
        # Steps that are not synchronized are not compared with others.
        self.trace(TRAIN, "transformer", 30, options=["--passes", "time", "--steps", "5:10", "--label", "b"])
        keys = self.rows("SELECT DISTINCT case_key, timing FROM run")
        self.assertEqual(len(keys), 1)
        self.assertIn("train.py", self.kymo("compare", "a", "b").stdout)

    @long_test
    def test_a_window_that_ends_with_the_program(self):
        self.trace(TRAIN, "by_hand", 10, options=["--steps", "6:9"])
        self.assertEqual(self.measured_steps(), 3)
        self.assertEqual(self.metric("first_step"), {3})
        self.assertEqual(self.metric("later_steps"), set())

    def test_stop_ends_each_pass_after_the_window(self):
        options = ["--steps", "1:3", "--stop", "--passes", "memory,ops"]
        # Neither a shell nor another PYTHONPATH is in kymo's way.
        program = f"{PYTHON} {TRAIN} by_hand 1000; true train.py"
        done = self.kymo("trace", *options, "--", "env", "PYTHONPATH=/nowhere", "sh", "-c", program)
        self.assertEqual(len(done.stdout.splitlines()), 6)
        self.assertEqual(self.measured_steps(), 4)
        self.assertEqual(self.metric("later_steps"), set())

    def test_rejected_arguments(self):
        for words, message in (
            (["--steps", "5", "--", PYTHON, TRAIN], "FIRST:END"),
            (["--steps", "5:5", "--", PYTHON, TRAIN], "--steps"),
            (["--passes", "verify", "--", PYTHON, TRAIN], "no reference"),
            (["--stop", "--no-stop", "--", PYTHON, TRAIN], "--no-stop"),
            (["--", PYTHON, "missing.py"], "no script 'missing.py'"),
            (["--", "missing-program"], "no program 'missing-program'"),
        ):
            self.assertIn(message, self.kymo("trace", *words, code=2).stderr)
        self.assertFalse((self.work / "kymo.db").exists())


@needs_torch_parts
class EndsTest(TraceTest):
    """However a program ends, kymo ends in the same way and keeps what was observed, and nothing is left behind."""

    def setUp(self):
        super().setUp()
        self.addCleanup(self.check_nothing_is_left)

    def check_nothing_is_left(self):
        self.assertFalse((self.work / "kymo.db.scratch").exists())

    def check(self, how, code, status, detail, steps, options=()):
        done = self.trace(ENDS, how, options=options, code=code)
        found = self.outcome()
        self.assertEqual(found[0], status, found)
        self.assertIn(detail, found[1])
        self.assertEqual(self.measured_steps(), steps)
        return done

    def test_within_the_window(self):
        self.check("exit_early", 3, "failed", "exit code 3", 2)
        warnings = self.rows("SELECT detail FROM run_warning WHERE kind = 'fewer steps'")
        self.assertEqual(warnings, [("the program ended after 2 of the 10 steps to measure",)])

    def test_without_the_exit_handlers(self):
        self.check("_exit", 5, "failed", "exit code 5", 2)

    def test_with_an_exception(self):
        done = self.check("raise", 1, "failed", "ValueError: bad value (ends.py:", 2)
        self.assertIn("Traceback", done.stderr)

    @long_test
    def test_with_an_exception_of_torch(self):
        self.check("raise_deep", 1, "failed", "(ends.py:", 3)

    def test_out_of_memory(self):
        self.check("memory", 1, "oom", "DefaultCPUAllocator", 2)

    def test_before_the_window(self):
        self.check("short", 3, "failed", "the program ended after 1 complete steps, before the first step", 0)

    def test_without_training(self):
        self.check("evaluate", 3, "failed", "created an optimizer, but made no backward pass", 0)

    def test_inference_in_training_mode(self):
        reason = "10 module calls in training mode with gradients enabled, no backward passes and no optimizer steps"
        self.check("forgotten", 3, "failed", reason, 0)
        self.assertIn("call eval() of the module", self.outcome()[1])

    def test_killed_after_the_window(self):
        self.check("kill", 128 + signal.SIGKILL, "crashed", "signal 9", 10)

    def test_replaced_by_another_program(self):
        done = self.check("exec", 7, "failed", "exit code 7", 10)
        self.assertEqual(done.stdout, "replaced\n")

    def test_hanging(self):
        for timeout_s in (15, 150, 1500):
            (self.work / "kymo.db").unlink(missing_ok=True)
            self.trace(ENDS, "hang", options=["--timeout", timeout_s], code=128 + signal.SIGKILL)
            if self.measured_steps() > 0:  # in time, for which an idle machine needs two seconds
                break
        self.assertEqual(self.measured_steps(), 2)
        status, detail = self.outcome()
        self.assertEqual(status, "timeout")
        self.assertIn("no progress", detail)

    @long_test
    def test_forks_that_import_torch_themselves(self):
        code = """
            import os, runpy, sys
            for _ in range(2):
                if os.fork() == 0:
                    sys.argv = sys.argv[1:]
                    sys.path[0] = os.path.dirname(sys.argv[0])
                    runpy.run_path(sys.argv[0], run_name="__main__")
                    sys.stdout.flush()
                    os._exit(0)
                os.wait()
        """
        self.trace("-c", textwrap.dedent(code), TRAIN, "by_hand", STEPS)
        self.assertEqual(self.measured_steps(), 10)
        ((detail,),) = self.rows("SELECT detail FROM run_warning WHERE kind = 'unobserved processes'")
        self.assertIn("1 other process trained and was not observed: it is a fork", detail)

    def test_other_processes(self):
        """Forks, and processes with models, are not observed; detached ones are ended."""
        self.check("others", 0, "ok", "", 10)
        ((detail,),) = self.rows("SELECT detail FROM run_warning WHERE kind = 'unobserved processes'")
        self.assertIn("3 other processes trained and were not observed: 2 of them are forks without a process", detail)
        self.assertRegex(detail, f"observe the command of such a process itself: kymo trace -- .*{ENDS} short$")
        self.assertEqual(self.metric("later_steps"), {28.0})
        kinds = self.rows("SELECT detail FROM run_warning WHERE kind = 'detached processes'")
        self.assertIn("sleep", kinds[0][0])

    def start(self, *words):
        return subprocess.Popen(
            [str(KYMO), "trace", "--", PYTHON, *map(str, words)],
            cwd=self.work,
            env=self.environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )

    def test_much_output(self):
        code = "import sys\nfor _ in range(1 << 10): sys.stdout.buffer.write(bytes(1 << 20))"
        with self.start("-c", code) as process:
            size = 0
            while block := process.stdout.read(1 << 20):
                size += len(block)
        self.assertEqual((process.returncode, size), (3, 1 << 30))

    def test_input_is_passed_on_and_signals_are_forwarded(self):
        with self.start(ENDS, "wait") as process:
            self.assertEqual(process.stdout.readline(), b"ready\n")
            process.stdin.write(b"a line\n")
            process.stdin.flush()
            self.assertEqual(process.stdout.readline(), b"a line\n")
            os.kill(process.pid, signal.SIGTERM)
            self.assertEqual(process.stdout.read(), b"SIGTERM\n")
        self.assertEqual(process.returncode, 4)
        self.assertEqual(self.outcome()[0], "failed")
        self.assertIn("exit code 4", self.outcome()[1])
        self.assertEqual(self.measured_steps(), 10)

    def test_the_keys_of_a_terminal(self):
        pid, terminal = pty.fork()
        if pid == 0:
            os.chdir(self.work)
            os.execve(KYMO, [str(KYMO), "trace", "--", PYTHON, str(ENDS), "wait"], self.environment)
        self.addCleanup(self.close_terminal, pid, terminal)
        self.assertEqual(self.line_of(terminal), "ready")
        os.write(terminal, b"\x1a")  # Ctrl-Z
        self.assertEqual(os.waitpid(pid, os.WUNTRACED)[1], signal.SIGSTOP << 8 | 0x7F)
        os.kill(pid, signal.SIGCONT)  # as the shell does for `fg`, after it has given the terminal to kymo
        os.write(terminal, b"a line\n")
        while self.line_of(terminal) != "a line":  # the echo of the keys comes first
            pass
        os.write(terminal, b"\x03")  # Ctrl-C
        while "SIGINT" not in self.line_of(terminal):
            pass
        with contextlib.suppress(OSError):  # reports the end: the last process has closed the terminal
            while self.read(terminal, 1000):  # what kymo prints would fill the terminal
                pass
        self.assertEqual(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), 4)
        self.assertEqual(self.measured_steps(), 10)

    def close_terminal(self, pid, terminal):
        """Ends a kymo that still runs after a failed test: it would write to the folder that the test removes."""
        os.close(terminal)
        with contextlib.suppress(ChildProcessError):  # the test has seen it end
            if os.waitpid(pid, os.WNOHANG) == (0, 0):
                os.kill(pid, signal.SIGKILL)
                os.waitpid(pid, 0)

    def read(self, terminal, size):
        """Reads from a terminal, but does not wait for a program that hangs."""
        self.assertEqual(select.select([terminal], [], [], HANG_S)[0], [terminal], "nothing was printed")
        return os.read(terminal, size)

    def line_of(self, terminal):
        line = b""
        while not line.endswith(b"\n"):
            line += self.read(terminal, 1)
        return line.decode().strip()

    def test_a_rank_that_fails(self):
        self.trace(FORKED, 2, PROGRAMS / "ddp.py", STEPS, 6, code=1)
        self.assertEqual(self.outcome()[0], "failed")
        self.assertEqual(self.measured_steps(), 20)


@needs_torch_parts
class NothingObservedTest(TraceTest):
    def check(self, reason, *words, code=3):
        self.kymo("trace", "--", *words, code=code)
        status, detail = self.outcome()
        self.assertEqual(status, "failed")
        self.assertIn(reason, detail)

    def test_without_torch(self):
        self.check("never imported torch", PYTHON, "-c", "print(1)")

    def test_without_a_module(self):
        self.check("no process called a torch.nn.Module", PYTHON, ENDS, "call_no_module")

    @long_test
    def test_on_another_thread(self):
        self.check("no process called a torch.nn.Module on its main thread", PYTHON, ENDS, "thread")

    def test_isolated(self):
        self.check("with -S, or with -I or -E", PYTHON, "-I", "-c", "pass")

    def test_not_python(self):
        self.check("does not run Python", "/bin/echo", "text")

    def test_the_users_sitecustomize_is_imported(self):
        (self.work / "site").mkdir()
        (self.work / "site" / "sitecustomize.py").write_text("print('the user')\n", encoding="utf-8")
        self.environment["PYTHONPATH"] = str(self.work / "site")
        done = self.kymo("trace", "--", PYTHON, "-c", "import sys; print('kymo' in sys.modules, sys.path[1])", code=3)
        self.assertEqual(done.stdout, f"the user\nFalse {self.work / 'site'}\n")


if __name__ == "__main__":
    unittest.main()
