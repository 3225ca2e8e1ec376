# SPDX-License-Identifier: Apache-2.0
"""Programs that harm kymo, which observes them, go on as without it and keep their exit code. What is lost is said."""

import signal
import unittest

from kymo_tool import long_test, needs_torch_parts
from trace_program_test import PROGRAMS, TraceTest

HARMS = PROGRAMS / "harms.py"
CODE = 5
ENDED = f"the program ended with exit code {CODE}"


class HarmTest(TraceTest):
    def setUp(self):
        super().setUp()
        self.addCleanup(lambda: self.assertFalse((self.work / "kymo.db.scratch").exists()))

    def harm(self, *words, options=(), code=CODE):
        done = self.trace(HARMS, *words, options=options, code=code)
        self.assertNotIn("filesystem error", done.stderr)
        return done

    def warning(self, kind):
        """The only warning of a kind."""
        ((detail,),) = self.rows("SELECT detail FROM run_warning WHERE kind = ?", kind)
        return detail


@needs_torch_parts
class HarmsTest(HarmTest):
    def check_unharmed(self, *words, options=()):
        done = self.harm(*words, options=options)
        self.assertEqual(self.outcome(), ("failed", ENDED))
        self.assertEqual(self.measured_steps(), 10)
        kinds = {kind for (kind,) in self.rows("SELECT kind FROM run_warning")}
        self.assertLessEqual(kinds, {"failed", "interference"})  # a busy machine may be the reason of the latter
        return done

    def test_nothing_is_lost(self):
        for harm in ("unlink", "forget", "limit_memory", "execute_nothing"):
            with self.subTest(harm):
                (self.work / "kymo.db").unlink(missing_ok=True)
                self.check_unharmed(harm)

    def test_closed_descriptors(self):
        self.check_unharmed("close_descriptors")
        self.assertEqual({file.read_bytes() for file in self.work.glob("own-*")}, {b""})

    def test_truncated_files(self):
        """The results are in memory, too."""
        for harm, name in (("truncate", "time"), ("truncate_with_faulthandler", "ops")):
            with self.subTest(harm):
                (self.work / "kymo.db").unlink(missing_ok=True)
                done = self.check_unharmed(harm, options=["--passes", name, "--steps", "5:15"])
                self.assertIn("was truncated: if the program is killed, its steps are lost", done.stderr)
                self.assertNotIn("Bus error", done.stderr)

    @long_test
    def test_truncated_files_of_a_killed_program(self):
        done = self.harm("truncate_and_end", code=128 + signal.SIGKILL)
        self.assertIn("the journal of rank 0 of run 1 is damaged, and was moved to ", done.stderr)
        self.assertEqual(self.outcome()[0], "crashed")
        dropped = self.rows("SELECT detail FROM dropped_record")
        self.assertIn("the journal of steps is damaged at byte 0 of 0 (it is empty)", str(dropped))
        kept = {file.name for file in (self.work / "kymo.db.damaged").iterdir()}
        self.assertEqual(kept, {"RUN-1-0-ops.kymo.steps", "RUN-1-0-ops.kymo.steps.events"})

    def test_other_bus_errors_end_the_program(self):
        self.harm("truncate_own", code=128 + signal.SIGBUS)
        self.assertEqual(self.outcome()[0], "crashed")
        self.assertIn("signal 7", self.outcome()[1])
        self.assertEqual(self.measured_steps(), 2)

    def test_a_removed_directory(self):
        done = self.harm("delete")
        status, detail = self.outcome()
        self.assertEqual(status, "failed")
        self.assertRegex(detail, r"^the directory '.*kymo\.db\.scratch/\w+' was removed during the run, and with ")
        self.assertIn(detail, done.stderr)
        self.assertEqual(self.rows("SELECT exit_code FROM run"), [(CODE,)])

    def test_files_that_cannot_be_written(self):
        """The steps are those of the journal."""
        for harm in ("limit_files", "limit_descriptors"):
            with self.subTest(harm):
                (self.work / "kymo.db").unlink(missing_ok=True)
                self.harm(harm)
                self.assertEqual(self.outcome()[0], "failed")
                self.assertRegex(self.outcome()[1], r"^database '.*RUN-1-0-ops\.kymo\.unfinished-\d+': ")
                self.assertEqual(self.measured_steps(), 10)

    def test_a_thread_that_ends_the_process(self):
        self.harm("exit_in_a_thread")
        self.assertEqual(self.outcome()[0], "crashed")
        self.assertIn(f"exited with code {CODE} before reporting an outcome", self.outcome()[1])
        self.assertEqual(self.measured_steps(), 2)

    def test_a_fork_within_a_step(self):
        self.harm("fork_within_a_step")
        self.assertEqual(self.outcome(), ("failed", ENDED))
        self.assertEqual(self.measured_steps(), 10)
        self.assertIn("it is a fork", self.warning("unobserved processes"))


@needs_torch_parts
class ExecutedTest(HarmTest):
    """A program that executes another one, or itself again, in the same process."""

    def check(self, how, command, code=CODE):
        self.harm(how, code=code)
        self.assertEqual(self.measured_steps(), 2)
        self.assertEqual(self.warning("fewer steps"), "the program ended after 2 of the 10 steps to measure")
        if command:
            self.assertEqual(self.outcome(), ("failed", ENDED))
            self.assertRegex(
                self.warning("unobserved processes"),
                rf"^the program replaced itself \(exec\) within the steps .* was not observed: {command}$",
            )

    def test_within_the_steps(self):
        self.check("execute", r".*python\S* .*harms\.py nothing")

    @long_test
    def test_another_program(self):
        self.check("execute_shell", "sh -c 'exit 5'")

    @long_test
    def test_in_c(self):
        self.check("execute_in_c", None)
        self.assertEqual(self.outcome()[0], "crashed")
        self.assertIn("it had replaced itself by another program (exec), which trained and was not", self.outcome()[1])

    def test_before_the_steps(self):
        """It is observed anew."""
        self.harm("execute", 2)
        self.assertEqual(self.outcome(), ("failed", ENDED))
        self.assertEqual(self.measured_steps(), 10)
        self.assertEqual(self.metric("first_step"), {2})


if __name__ == "__main__":
    unittest.main()
