# SPDX-License-Identifier: Apache-2.0
"""kymo mcp, called by the client of the official package over stdin and stdout."""

import asyncio
import importlib.util
import json
import os
import sys

from kymo_tool import SharedRunTest, needs_installed

TOOLS = {"list_runs", "show_run", "findings", "compare", "sql", "schema"}


@needs_installed(importlib.util.find_spec("mcp"), "mcp")
class McpTest(SharedRunTest):
    words = ["saxpy", "--set", "n=1024", "--steps", "5", "--warmup", "1", "--repeat", "3", "--label", "before"]

    def converse(self, *calls, words=()):
        """Call tools in one session; a call is (name, arguments). Returns the tools and the answers."""
        import mcp

        server = mcp.StdioServerParameters(
            command=str(self.program),
            args=["mcp", "--db", "kymo.db", "--python", sys.executable, *words],
            env={**os.environ, **self.environment},
            cwd=self.work,
        )

        async def talk():
            async with mcp.stdio_client(server) as streams, mcp.ClientSession(*streams) as session:
                await session.initialize()
                tools = (await session.list_tools()).tools
                answers = []
                for name, arguments in calls:
                    result = await session.call_tool(name, arguments)
                    answers.append(json.loads(result.content[0].text))
                return tools, answers

        return asyncio.run(talk())

    def test_every_tool(self):
        before = (self.work / "kymo.db").read_bytes()
        tools, (runs, run, found, query, views, view) = self.converse(
            ("list_runs", {}),
            ("show_run", {"run_id": 2}),
            ("findings", {"run_id": 2}),
            ("sql", {"query": "SELECT run_id FROM phase_time WHERE phase = 'step' ORDER BY 1;"}),
            ("schema", {}),
            ("schema", {"name": "phase_time"}),
        )
        self.assertEqual({tool.name for tool in tools}, TOOLS)
        for tool in tools:
            self.assertTrue(tool.annotations.read_only_hint, tool.name)
            self.assertTrue(tool.description, tool.name)
        self.assertEqual([row["run_id"] for row in runs["answer"]], [3, 2, 1])
        self.assertEqual(run["answer"]["parameters"]["n"], 1024)
        self.assertEqual(set(found["answer"]), {"findings", "warnings", "not_recorded"})
        self.assertIn("--passes memory", json.dumps(found["answer"]["not_recorded"]))
        self.assertEqual(query["answer"], [{"run_id": 1}, {"run_id": 2}, {"run_id": 3}])
        self.assertIn("phase_time", views["answer"])
        self.assertIn("median_ms", view["answer"]["columns"])
        self.assertEqual((self.work / "kymo.db").read_bytes(), before)

    def test_no_answer_has_a_fixed_form(self):
        calls = [
            ("show_run", {"run_id": 99}),
            ("findings", {"run_id": 99}),
            ("list_runs", {"label": "it's"}),
            ("compare", {"before": "before", "after": "nothing"}),
            ("sql", {"query": "SELECT * FROM run WHERE run_id > 99"}),
            ("sql", {"query": "SELECT * FROM runs"}),
            ("sql", {"query": "DELETE FROM run"}),
            ("compare", {"before": "before", "after": "./kymo.db"}),
            ("schema", {"name": "phase_times"}),
        ]
        _, answers = self.converse(*calls)
        for call, answer in zip(calls, answers, strict=True):
            self.assertEqual(list(answer), ["answer", "reason", "how", "truncated"], call)
            self.assertIsNone(answer["answer"], call)
            self.assertTrue(answer["reason"] and answer["how"], call)
        self.assertIn("no run 99", answers[0]["reason"])
        self.assertIn("did you mean 'phase_time'", answers[-1]["reason"])
        self.assertEqual(self.rows("SELECT count(*) FROM run"), [(3,)])

    def test_limits(self):
        endless = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT max(i) FROM n"
        _, (rows, stopped) = self.converse(
            ("list_runs", {}), ("sql", {"query": endless}), words=["--rows", "2", "--timeout", "2"]
        )
        self.assertEqual((len(rows["answer"]), rows["truncated"]), (2, True))
        self.assertRegex(stopped["reason"], "stopped after its limit of 2 s")


if __name__ == "__main__":
    import unittest

    unittest.main()
