# SPDX-License-Identifier: Apache-2.0
"""The modules that `kymo trace` attributes operators to are those of another method, which knows nothing of kymo."""

import json
import re
import unittest

from kymo_tool import needs_torch_parts
from trace_program_test import PROGRAMS, TraceTest

PROGRAM = PROGRAMS / "attributed.py"
STEPS = 12
OPERATORS = """SELECT n.text AS name, p.text AS phase, q.text AS path, count(*) AS calls FROM op o
               JOIN string n ON n.string_id = o.name_id JOIN string p ON p.string_id = o.phase_id
               LEFT JOIN string q ON q.string_id = o.scope_id
               WHERE EXISTS (SELECT 1 FROM sample s WHERE s.step = o.step AND s.phase = 'step' AND s.warmup = 0)
               GROUP BY 1, 2, 3"""
RANGE = "attend"


def module_of(path):
    """The qualified name of the module of a scope; that of the model is empty."""
    parts = [re.sub(r"^[A-Z][a-zA-Z]*_", "", part) for part in (path or "").split("/") if part != RANGE]
    return ".".join(parts[1:]) if parts[0] else None


@needs_torch_parts
class AttributionTest(TraceTest):
    def test_operators_belong_to_their_modules(self):
        expected_output = self.plain(PROGRAM, STEPS)
        self.assertEqual(self.plain(PROGRAM, STEPS, "reference.json"), expected_output)
        reference = json.loads((self.work / "reference.json").read_text(encoding="utf-8"))
        self.assertEqual(self.trace(PROGRAM, STEPS, options=["--steps", "3:11"]).stdout, expected_output)
        found = {}
        for row in self.records(OPERATORS):
            key = (row["phase"], row["name"].removesuffix("_"), module_of(row["path"]))
            found[key] = found.get(key, 0) + row["calls"]
        # Ranges of NVTX are scopes, too.
        self.assertIn(f"Model/layers.1/{RANGE}/attention", {row["path"] for row in self.records(OPERATORS)})
        # With a dispatch mode, LibTorch calls some operators out of place, and attention calls aten::detach.
        self.assertNotIn(("forward", "aten::detach"), {key[:2] for key in found})
        expected = {}
        for text, count in reference.items():
            phase, name, module = text.split(" ")
            key = (phase, name.removesuffix("_"), module)
            if name != "aten::detach":
                expected[key] = expected.get(key, 0) + count
        self.assertGreater(sum(expected.values()), 0.95 * sum(reference.values()))
        steps, expected_steps = self.measured_steps(), STEPS - 1
        self.assertEqual(steps, 8)
        calls = sum(expected.values())
        self.assertGreater(calls, 1000)
        self.assertEqual({phase for phase, _, _ in expected}, {"forward", "backward"})
        # Operators that others call are not seen by the dispatch mode, so kymo may find more, but not elsewhere.
        agreeing = sum(min(count / expected_steps, found.get(key, 0) / steps) for key, count in expected.items())
        share = agreeing * expected_steps / calls
        print(f"{100 * share:.2f} % of {calls // expected_steps} operators per step have the same module", flush=True)
        self.assertGreaterEqual(share, 0.995, self.differences(expected, found))
        # Matrix products are called by nothing else that is in another module, so their numbers are equal.
        for name in ("aten::addmm", "aten::mm", "aten::bmm", "aten::native_layer_norm", "aten::embedding"):
            for key in {key for key in [*expected, *found] if key[1] == name}:
                self.assertEqual(found.get(key, 0) / steps, expected.get(key, 0) / expected_steps, key)

    def test_collections_of_garbage_are_ranges_unless_of_the_youngest_generation(self):
        database = self.work / "kymo.db"
        for generation in ("old", "young"):
            database.unlink(missing_ok=True)
            self.trace(PROGRAMS / "collects.py", generation, options=["--steps", "3:6"])
            found = self.rows(
                """SELECT s.text, count(*) FROM range r JOIN string n ON n.string_id = r.name_id
                   JOIN string s ON s.string_id = r.scope_id
                   WHERE n.text = 'garbage collection' AND r.step >= 3 GROUP BY 1"""
            )
            self.assertEqual(found, [("Model/garbage collection", 3)] if generation == "old" else [])

    def differences(self, expected, found):
        steps = self.measured_steps()
        return {key: count for key, count in expected.items() if found.get(key, 0) / steps < count / (STEPS - 1)}


if __name__ == "__main__":
    unittest.main()
