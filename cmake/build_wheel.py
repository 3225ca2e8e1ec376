# SPDX-License-Identifier: Apache-2.0
"""Build the wheel dist/kymo-VERSION-TAG.whl from the build directory.

    build_wheel.py BUILD_FOLDER DIST_FOLDER

After `pip install`, the prefix of the environment is the root of the installation: the program is among its scripts,
everything else has the paths that `cmake --install` gives it, and kymo.pth puts lib/kymo/python on the module path.
kymo_trace.pth, which is read after it, lets `kymo trace` observe programs whose interpreter ignores PYTHONPATH.
Fails if a library needs newer versions of glibc's or libstdc++'s symbols than the tag of the wheel allows, or if the
wheel is larger than its limit.
"""

import json
import pathlib
import shutil
import subprocess
import sys
import tempfile

# The extension uses the limited API of 3.10. Debian 12's and Ubuntu 22.04's libstdc++ are the oldest that work.
TAG = "cp310-abi3-manylinux_2_35_x86_64"
LIMIT_MB = 25
# Libraries of torch's wheel and its dependencies, which workers load before the modules that need them.
FROM_TORCH = {
    *(f"lib{name}.so" for name in ("c10", "c10_cuda", "torch", "torch_cpu", "torch_cuda")),
    *("libcudart.so.13", "libcupti.so.13", "libnccl.so.2"),
}
# Relative to site-packages, which is lib/pythonX.Y/site-packages below the prefix.
MODULE_PATH = "../../kymo/python\n"

METADATA = """\
Metadata-Version: 2.4
Name: kymo
Version: {version}
Summary: Profile and benchmark LLM training: workloads in Python and C++, results in one SQLite database
License-Expression: Apache-2.0
License-File: LICENSE
Requires-Python: >=3.10
Classifier: Operating System :: POSIX :: Linux
Classifier: Programming Language :: C++
Classifier: Programming Language :: Python :: 3
Classifier: Topic :: System :: Benchmark
Provides-Extra: pandas
Requires-Dist: pandas; extra == "pandas"
Provides-Extra: plot
Requires-Dist: matplotlib; extra == "plot"
Requires-Dist: pandas; extra == "plot"
Provides-Extra: slurm
Requires-Dist: submitit; extra == "slurm"
Description-Content-Type: text/markdown

`pip install kymo` into an environment with torch, which is not installed with this wheel. Programs and workloads in
Python are observed under any torch, and completely under releases of torch {minors}.
There are kymo's operators for the same releases. The included workloads in C++ need torch {torch}.
See `share/doc/kymo/docs/install.md` in the environment.
"""

WHEEL = """\
Wheel-Version: 1.0
Generator: kymo build_wheel.py
Root-Is-Purelib: false
Tag: {tag}
"""


def cached(build, name):
    """A variable of the CMake build."""
    for line in (build / "CMakeCache.txt").read_text(encoding="utf-8").splitlines():
        if line.startswith(f"{name}:"):
            return line.partition("=")[2]
    sys.exit(f"build_wheel.py: no {name} in {build / 'CMakeCache.txt'}; configure the build first")


def other_torch_folders(root):
    """The directories of modules for other versions of torch in an installation, such as torch-2.15."""
    return sorted(folder.name for folder in (root / "lib" / "kymo" / "modules").glob("torch-*"))


def assemble(build, folder, version):
    """Fill a folder with the contents of the wheel."""
    contents, information = folder / f"kymo-{version}.data", folder / f"kymo-{version}.dist-info"
    subprocess.run(
        ["cmake", "--install", build, "--prefix", contents / "data", "--strip"], check=True, stdout=subprocess.DEVNULL
    )
    (contents / "data" / "bin").rename(contents / "scripts")
    (contents / "purelib").mkdir()
    (contents / "purelib" / "kymo.pth").write_text(MODULE_PATH)
    shutil.copy(contents / "data" / "lib" / "kymo" / "inject" / "kymo_trace.pth", contents / "purelib")
    for cache in contents.rglob("__pycache__"):
        shutil.rmtree(cache)
    share = contents / "data" / "share"
    (information / "licenses").mkdir(parents=True)
    # `pip uninstall` removes a directory and the directories in it only if it directly contains a file.
    for folder_with_license in (information / "licenses", share / "kymo"):
        shutil.copy(share / "doc" / "kymo" / "LICENSE", folder_with_license)
    torch = (pathlib.Path(cached(build, "KYMO_TORCH")) / "version.py").read_text(encoding="utf-8")
    torch_version = torch.partition("__version__ = '")[2].partition("+")[0]
    minors = [torch_version.rpartition(".")[0]]
    minors += (name.removeprefix("torch-") for name in other_torch_folders(contents / "data"))
    minors.sort(key=lambda minor: [*map(int, minor.split("."))])
    metadata = METADATA.format(version=version, torch=torch_version, minors=", ".join(minors))
    (information / "METADATA").write_text(metadata)
    (information / "WHEEL").write_text(WHEEL.format(tag=TAG))
    (information / "entry_points.txt").write_text("[pytest11]\nkymo.pytest_plugin = kymo.pytest_plugin\n")


def check_symbols(wheel):
    """Fail if a file needs symbols or libraries that systems with the wheel's tag may lack."""
    shown = subprocess.run(
        [sys.executable, "-m", "auditwheel", "show", "--json", wheel], check=True, capture_output=True, text=True
    )
    facts = json.loads(shown.stdout)
    if not TAG.endswith(f"-{facts['sym_tag']}"):
        sys.exit(f"build_wheel.py: the symbols that the wheel needs have the tag {facts['sym_tag']}, but TAG is {TAG}")
    unknown = sorted(set(facts["external_libs"]) - FROM_TORCH)
    if unknown:
        sys.exit(
            f"build_wheel.py: neither manylinux nor torch's wheel provides {', '.join(unknown)}: link it statically"
        )


def main(build, out):
    version = cached(build, "CMAKE_PROJECT_VERSION")
    out.mkdir(exist_ok=True)
    for older in out.glob("kymo-*.whl"):
        older.unlink()
    with tempfile.TemporaryDirectory(prefix="kymo-wheel") as temporary:
        folder = pathlib.Path(temporary, "contents")
        assemble(build, folder, version)
        subprocess.run(
            [sys.executable, "-m", "wheel", "pack", folder, "--dest-dir", out], check=True, stdout=subprocess.DEVNULL
        )
    wheel = out / f"kymo-{version}-{TAG}.whl"
    check_symbols(wheel)
    megabytes = wheel.stat().st_size / 1e6
    if megabytes > LIMIT_MB:
        sys.exit(f"build_wheel.py: {wheel} has {megabytes:.1f} MB, more than the limit of {LIMIT_MB} MB")
    others = ", ".join(name.removeprefix("torch-") for name in other_torch_folders(build))
    print(f"{wheel} ({megabytes:.1f} MB)" + (f", also for torch {others}" if others else ""))


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    main(*map(pathlib.Path, sys.argv[1:]))
