# SPDX-License-Identifier: Apache-2.0
"""The example notebook, and kymo.run in a notebook."""

import os
import unittest
from pathlib import Path

from kymo_tool import HANG_S
from results_test import PACKAGE, InWork, installed

EXAMPLE = Path(__file__).parents[2] / "docs" / "examples" / "results.ipynb"


@installed("pandas", "matplotlib", "nbclient", "ipykernel")
class NotebookTest(InWork):
    def execute(self, notebook):
        import nbclient

        os.environ.update(PYTHONPATH=str(PACKAGE), IPYTHONDIR=str(self.folder / "ipython"))
        os.environ["JUPYTER_RUNTIME_DIR"] = str(self.folder / "jupyter")
        nbclient.NotebookClient(notebook, timeout=HANG_S, resources={"metadata": {"path": str(self.work)}}).execute()
        return [output for cell in notebook.cells for output in cell.get("outputs", [])]

    def test_example(self):
        import nbformat

        outputs = self.execute(nbformat.read(EXAMPLE, as_version=4))
        self.assertGreater(sum("text/html" in output.get("data", {}) for output in outputs), 2)
        self.assertEqual(sum("image/png" in output.get("data", {}) for output in outputs), 1)

    def test_workload_of_a_cell(self):
        from nbformat import v4

        code = (
            "from kymo import _results\nclass Mine:\n    name = 'mine'\n    def step(self, run): pass\n"
            "try:\n    _results.run(Mine)\nexcept _results.Error as error:\n    print(error)"
        )
        (output,) = self.execute(v4.new_notebook(cells=[v4.new_code_cell(code)]))
        self.assertIn("start its cell with '%%writefile mine.py'", output["text"])


if __name__ == "__main__":
    unittest.main()
