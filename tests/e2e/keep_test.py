# SPDX-License-Identifier: Apache-2.0
"""Results of --keep for the same run: everything, the events of one step of each pass, or only the summary."""

import collections
import unittest

from kymo_tool import OBSERVED, SharedRunTest, needs_torch_parts, rows_of
from small_model import ALL_PASSES, CASE, METHOD, PHASES, STEPS, WARMUP

EVENTS = ("range", "op", "allocation", "memory_point", "stack", "stack_frame")
SAMPLED = ("sample", "step_duration")
FIGURES = (
    "statistic",
    "overhead",
    "op_total",
    "memory_phase",
    "mark",
    "metric",
    "verification",
    "work",
    "rank",
    "scope_path",
)
LESS = ("one-step", "summary")


@needs_torch_parts
class KeepTest(SharedRunTest):
    words = [*CASE, *METHOD, *ALL_PASSES, "--keep", "all"]
    made = False

    def setUp(self):
        super().setUp()
        if not KeepTest.made:
            KeepTest.made = True
            for keep in LESS:
                self.kymo("run", *CASE, *METHOD, *ALL_PASSES, "--keep", keep, "--db", f"{keep}.db")

    def of(self, keep, query, *values):
        return rows_of(self.work / ("kymo.db" if keep == "all" else f"{keep}.db"), query, *values)

    def counts(self, keep, tables):
        return {table: self.of(keep, f"SELECT count(*) FROM {table}")[0][0] for table in tables}

    def test_run_says_what_was_kept(self):
        for keep in ("all", *LESS):
            self.assertEqual(self.of(keep, "SELECT keep, status, detail FROM run"), [(keep, "ok", "")])
            self.assertEqual(
                self.of(keep, "SELECT * FROM dropped_record"), [], "what was left out on purpose is not lost"
            )

    def test_tables(self):
        everything = self.counts("all", EVENTS + SAMPLED + FIGURES)
        self.assertNotIn(0, everything.values(), everything)
        one_step = self.counts("one-step", EVENTS + SAMPLED + FIGURES)
        for table in ("range", "op", "memory_point", "allocation"):
            self.assertTrue(0 < one_step[table] < everything[table], table)
        self.assertEqual(
            {table: one_step[table] for table in SAMPLED + FIGURES},
            {table: everything[table] for table in SAMPLED + FIGURES},
        )
        summary = self.counts("summary", EVENTS + SAMPLED + FIGURES)
        self.assertEqual({table: summary[table] for table in EVENTS + SAMPLED}, dict.fromkeys(EVENTS + SAMPLED, 0))
        self.assertEqual({table: summary[table] for table in FIGURES}, {table: everything[table] for table in FIGURES})

    def test_figures_are_the_same(self):
        calls = (
            "SELECT n.text, t.backward, sum(t.calls) "
            "FROM op_total t JOIN string n ON n.string_id = t.name_id GROUP BY n.text, t.backward"
        )
        peaks = "SELECT step, phase, peak_allocated_bytes FROM memory_phase ORDER BY step, phase"
        parts = "SELECT step, phase, category, bytes FROM memory_phase_category ORDER BY step, phase, category"
        counts = "SELECT phase, clock, count FROM statistic ORDER BY phase, clock"
        costs = "SELECT pass, phase, steps FROM overhead ORDER BY pass, phase"
        for query in (calls, peaks, parts, counts, costs):
            expected = self.of("all", query)
            self.assertGreater(len(expected), 0)
            for keep in LESS:
                self.assertEqual(self.of(keep, query), expected, f"{keep}: {query}")

    def test_one_step_is_a_whole_measured_step(self):
        for name in OBSERVED:
            ((step,),) = self.of("one-step", "SELECT DISTINCT step FROM range WHERE pass = ?", name)
            self.assertIn(step, range(WARMUP, WARMUP + STEPS))
            times = self.of(
                "one-step",
                "SELECT step FROM sample WHERE pass = ? AND phase = 'step' AND NOT warmup ORDER BY host_ns",
                name,
            )
            self.assertEqual(times[STEPS // 2], (step,), "the step of the median time")
            for table in ("op", "memory_point"):
                self.assertLessEqual(
                    {row[0] for row in self.of("one-step", f"SELECT DISTINCT step FROM {table} WHERE pass = ?", name)},
                    {step},
                )
            phases = self.of(
                "one-step",
                "SELECT n.text FROM range g JOIN string n ON n.string_id = g.name_id "
                "WHERE g.pass = ? AND g.kind = 'phase'",
                name,
            )
            self.assertEqual([phase for (phase,) in phases], list(PHASES))
            modules = (
                "SELECT q.module, count(*) FROM range g JOIN scope_path q USING (scope_id) "
                "WHERE g.pass = ? AND g.step = ? GROUP BY q.module"
            )
            self.assertEqual(self.of("one-step", modules, name, step), self.of("all", modules, name, step))
        for table in ("range", "op"):
            orphans = f"""SELECT c.sequence FROM {table} c WHERE c.parent IS NOT NULL
                          AND NOT EXISTS (SELECT 1 FROM {table} p WHERE p.pass = c.pass AND p.sequence = c.parent)"""
            self.assertEqual(self.of("one-step", orphans), [], "a parent is missing")

    def test_blocks_of_one_step_make_its_peak(self):
        ((step,),) = self.of("one-step", "SELECT DISTINCT step FROM range WHERE pass = 'memory'")
        blocks = self.of("one-step", "SELECT sequence, free_sequence, allocated_bytes, category, stack FROM allocation")
        changes = collections.Counter()
        for birth, death, size, _, _ in blocks:
            changes[birth] += size
            if death is not None:
                changes[death] -= size
        level = peak = 0
        for sequence in sorted(changes):
            level += changes[sequence]
            peak = max(peak, level)
        self.assertEqual(
            self.of(
                "one-step", "SELECT peak_allocated_bytes FROM memory_phase WHERE phase = 'step' AND step = ?", step
            ),
            [(peak,)],
        )
        self.assertLessEqual({"parameter", "optimizer_state", "gradient", "activation"}, {block[3] for block in blocks})
        stacks = {stack for (stack,) in self.of("one-step", "SELECT DISTINCT stack FROM stack")}
        self.assertEqual(
            stacks, {block[4] for block in blocks} - {None}, "stacks of the blocks that stay, and no others"
        )

    def test_less_is_smaller(self):
        sizes = {
            keep: (self.work / ("kymo.db" if keep == "all" else f"{keep}.db")).stat().st_size for keep in ("all", *LESS)
        }
        self.assertTrue(sizes["all"] > sizes["one-step"] > sizes["summary"], sizes)

    def test_reports_can_be_made_of_each(self):
        for keep in ("all", *LESS):
            database = "kymo.db" if keep == "all" else f"{keep}.db"
            self.kymo("report", "quick", "--db", database, "--format", "markdown", "--out", keep)
            pages = list((self.work / keep).rglob("*.md"))
            self.assertEqual(len(pages), 1, keep)
            text = pages[0].read_text(encoding="utf-8")
            self.assertIn("transformer_lm", text)
            self.assertNotIn("{{", text)
        for form in ("html", "latex", "typst", "csv"):
            self.kymo("report", "quick", "--db", "summary.db", "--format", form, "--out", form)

    def test_unknown_word(self):
        self.assertIn("one-step", self.kymo("run", *CASE, "--keep", "some", code=2).stderr)


if __name__ == "__main__":
    unittest.main()
