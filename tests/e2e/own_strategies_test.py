# SPDX-License-Identifier: Apache-2.0
"""The classes of docs/own-strategies.md for parallel training, and mistakes in them, which verification finds."""

import re
import unittest
from pathlib import Path

from kymo_tool import KymoTest, long_test, needs_torch_parts

DOCUMENT = Path(__file__).resolve().parents[2] / "docs" / "own-strategies.md"
FILES = dict(re.findall(r"^```python ([\w./-]+)\n(.*?)^```$", DOCUMENT.read_text(), re.MULTILINE | re.DOTALL))
MEAN = "            parameter.grad /= dist.get_world_size()\n"
# Name of the file, what is replaced in it by what, the check that fails, and what it says.
MISTAKES = {
    "no broadcast": (
        "ddp_mine.py",
        "            dist.broadcast(parameter.data, src=0)\n",
        "",
        "toy, SGD: initial weights",
        r"layers\.\d\.weight after wrap\(\) differs by up to [\d.]+, [\d.]+ % of its largest value",
    ),
    "sum": (
        "ddp_mine.py",
        MEAN,
        "",
        "toy, SGD: gradients, 4 steps, 5 times",
        r"the gradient of layers\.\d\.weight in step 1 of repetition \d .*it is 2 times the mean over the ranks",
    ),
    "race of gradients": (
        "ddp_mine.py",
        "            call.wait()\n",
        "",
        "transformer, AdamW: gradients, 4 steps, 5 times",
        r"the gradient of [a-z_.0-9]+ in step \d of repetition \d differs by",
    ),
    "race of parameters": (
        "sharded_mine.py",
        "dist.broadcast(parameter.data, src=owner)",
        "dist.broadcast(parameter.data, src=owner, async_op=True)",
        "toy, SGD: parameters, 4 steps, 5 times",
        r"layers\.\d\.weight in step \d of repetition \d differs by",
    ),
    "no wait for a gather": (
        "fsdp_mine.py",
        "dist.all_gather_into_tensor(self.flat.data, self.data)",
        "dist.all_gather_into_tensor(self.flat.data, self.data, async_op=True)",
        "asynchronous calls of the first step",
        r"^all_gather_into_tensor in fsdp_mine.py, line \d+: \d+ not waited for$",
    ),
}


@needs_torch_parts
class OwnStrategiesTest(KymoTest):
    def setUp(self):
        super().setUp()
        self.environment |= {"GLOO_SOCKET_IFNAME": "lo", "OMP_NUM_THREADS": "1"}

    def run_file(self, file, content, *words, ranks=2, code=0):
        (self.work / file).write_text(content)
        (self.work / "kymo.db").unlink(missing_ok=True)
        self.kymo("run", f"./{file}", "--ranks", ranks, "--device", "cpu", *words, code=code)

    def test_two_ranks_equal_one_process_bitwise(self):
        for file, content in FILES.items():
            with self.subTest(file):
                self.run_file(file, content, "--passes", "verify")
                checks = self.rows("SELECT rank, count(*), max(max_rel_error) FROM verification GROUP BY rank")
                self.assertEqual(checks, [(rank, 20 if file == "fsdp_mine.py" else 26, 0) for rank in range(2)])

    @long_test
    def test_three_ranks(self):
        self.kymo("new", "--python", "--template", "ddp", "my_ddp")
        self.run_file("my_ddp.py", (self.work / "my_ddp.py").read_text(), "--passes", "verify", ranks=3)
        self.assertEqual(self.rows("SELECT status, verification FROM run"), [("ok", "passed")])

    @long_test
    def test_mistakes_are_found(self):
        for mistake, (file, right, wrong, name, message) in MISTAKES.items():
            with self.subTest(mistake):
                self.assertEqual(FILES[file].count(right), 1)
                self.run_file(file, FILES[file].replace(right, wrong), "--passes", "verify", code=3)
                found = self.rows(
                    f"SELECT detail FROM verification WHERE outcome = 'failed' AND name = '{name}' ORDER BY rank DESC"
                )
                self.assertTrue(found, self.rows("SELECT name, detail FROM verification WHERE outcome = 'failed'"))
                self.assertRegex(found[0][0], message)

    def test_stands_beside_the_included_strategies(self):
        self.run_file("ddp_mine.py", FILES["ddp_mine.py"], "--passes", "time", "--steps", "3", "--against", "ddp_naive")
        found = self.rows("SELECT strategy, baseline, speedup > 0 FROM ddp_summary ORDER BY strategy_order DESC")
        self.assertEqual(len(found), 2)
        self.assertEqual(found[0][1:], (found[1][0], 1))


if __name__ == "__main__":
    unittest.main()
