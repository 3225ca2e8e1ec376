# SPDX-License-Identifier: Apache-2.0
"""Which library with operators belongs to a version of torch."""

import tempfile
import unittest
from pathlib import Path
from unittest import mock

import fake_host  # noqa: F401  (finds the built package)
from kymo import operators


class OperatorsTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = Path(folder.name)
        for name in ("plugins", "operators/torch-2.9", "operators/torch-2.12"):
            (self.root / name).mkdir(parents=True)
            (self.root / name / "libkymo_ops.so").touch()
        (self.root / "operators" / "torch-2.8").mkdir()
        for name, value in (("LIBRARY", str(self.root)), ("TORCH_VERSION", "2.11.0")):
            patch = mock.patch.object(operators, name, value)
            patch.start()
            self.addCleanup(patch.stop)

    def test_a_release_has_the_library_of_its_minor_version(self):
        for version, folder in (
            ("2.11.0", "plugins"),
            ("2.11.3+cu130", "plugins"),
            ("2.12.1", "operators/torch-2.12"),
            ("2.9.0+cpu", "operators/torch-2.9"),
        ):
            self.assertEqual(operators.library(version), self.root / folder / "libkymo_ops.so")

    def test_an_error_names_the_versions(self):
        for version in ("2.13.0", "2.12.0.dev20260101+cu130", "2.11.0a0+gitb31f58d", "2.8.0", "2.1.0"):
            with self.assertRaises(ImportError) as raised:
                operators.library(version)
            self.assertEqual(
                str(raised.exception),
                f"no operators for torch {version}: kymo in {self.root} has them for releases of torch 2.9, 2.11, 2.12",
            )

    def test_a_build_without_torch_has_none(self):
        (self.root / "plugins" / "libkymo_ops.so").unlink()
        for each in (self.root / "operators").glob("*/*.so"):
            each.unlink()
        with mock.patch.object(operators, "TORCH_VERSION", ""), self.assertRaisesRegex(ImportError, "without torch$"):
            operators.library("2.11.0")


if __name__ == "__main__":
    unittest.main()
