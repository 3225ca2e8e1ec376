# SPDX-License-Identifier: Apache-2.0
"""Joining the modules of the HTML report into one script."""

import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[3] / "host" / "report" / "page"))
import bundle

MODULES = {
    "start.js": 'import { a } from "./a.js";\nimport {\n  b,\n} from "./b.js";\n\na(b);\n',
    "a.js": 'import { b } from "./b.js";\n\nexport function a() {\n  return b;\n}\n',
    "b.js": "export const b = 1;\n",
}


class BundleTest(unittest.TestCase):
    def bundled(self, **changed):
        with tempfile.TemporaryDirectory() as folder:
            for name, text in {**MODULES, **{f"{name}.js": text for name, text in changed.items()}}.items():
                (Path(folder) / name).write_text(text, encoding="utf-8")
            return bundle.bundled(Path(folder) / "start.js")

    def assert_rejected(self, why, **changed):
        with self.assertRaisesRegex(ValueError, why):
            self.bundled(**changed)

    def test_a_module_comes_once_after_those_that_it_imports(self):
        lines = [line for line in self.bundled().splitlines() if line]
        self.assertEqual(lines, ["const b = 1;", "function a() {", "  return b;", "}", "a(b);"])

    def test_modules_that_import_each_other_are_rejected(self):
        self.assert_rejected("a.js imports b.js imports a.js", b='import { a } from "./a.js";\n\nexport const b = a;\n')

    def test_a_name_that_two_modules_declare_is_rejected(self):
        self.assert_rejected("a.js and b.js both declare a", b="export const b = 1;\nconst a = 2;\n")

    def test_what_cannot_be_joined_is_rejected(self):
        self.assert_rejected("b.js: only imports of names", b="export default 1;\n")
        self.assert_rejected("b.js: only imports of names", b='import * as all from "./c.js";\n')

    def test_a_missing_module_is_an_error(self):
        with self.assertRaises(FileNotFoundError):
            self.bundled(b='import { c } from "./c.js";\n')


if __name__ == "__main__":
    unittest.main()
