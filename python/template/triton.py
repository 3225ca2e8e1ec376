# SPDX-License-Identifier: Apache-2.0
#
# A workload in one file: out = a * x + y in Triton.
# It shows everything that a workload usually needs; remove what yours does not.
#
#   kymo describe ./my_kernel.py                   shows what the class below declares
#   kymo run ./my_kernel.py --set n=1048576        verifies it, times it, and stores the results
#   kymo run ./my_kernel.py --against my_kernel:implementation=torch
#   TRITON_INTERPRET=1 kymo run ./my_kernel.py --device cpu --set n=1000    without a GPU; slow
#
import kymo
import torch
import triton
import triton.language as tl


@triton.jit
def my_kernel_triton(a, x, y, out, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = at < n
    result = a * tl.load(x + at, mask=inside) + tl.load(y + at, mask=inside)
    tl.store(out + at, result, mask=inside)


class MyKernel(kymo.Workload):
    """out = a * x + y"""  # shown by `kymo list`

    name = "my_kernel"

    # Parameters are set with --set and swept with --axis; a step reads their values as self.n ...
    n = kymo.Int(1 << 20, minimum=1, axis=(1 << 16, 1 << 20, 1 << 24), unit="elements", doc="vector length")
    a = kymo.Real(2.0, doc="scalar factor of x")
    block = kymo.Choice("1024", ("256", "1024", "4096"), axis=("256", "1024", "4096"), doc="elements of one program")
    implementation = kymo.Choice("triton", ("triton", "torch"), doc="the kernel, or PyTorch to compare it with")

    phases = ("compute",)  # parts of a step that are timed separately
    asynchronous = True  # step() does not wait for the device: it can be timed with --timing hot and cold

    def prepare(self, run):
        """Never timed. Allocate, initialize, compile, and declare the work of a step."""
        if self.implementation == "triton" and run.device == "cpu" and not triton.knobs.runtime.interpret:
            run.skip("Triton kernels need a GPU; on a CPU, set TRITON_INTERPRET=1 to interpret them")
        torch.manual_seed(run.seed)  # the same on every rank; add run.rank if ranks need different data
        self.x, self.y = (torch.randn(self.n, device=run.device) for _ in range(2))
        self.out = torch.empty_like(self.x)
        self.compute_phase = run.phase("compute")
        # One multiply and one add per element; each vector is accessed once.
        run.work("compute", flops=2 * self.n, bytes=3 * self.x.nbytes)
        self.compute()  # compiles the kernel, which no step should include

    def compute(self):
        if self.implementation == "triton":
            block = int(self.block)
            my_kernel_triton[(triton.cdiv(self.n, block),)](self.a, self.x, self.y, self.out, self.n, BLOCK=block)
        else:
            torch.add(self.y, self.x, alpha=self.a, out=self.out)

    def step(self, run):
        """Timed repeatedly. Phases are timed separately and never nest."""
        with self.compute_phase:
            self.compute()

    def verify(self, run):
        """Never timed. If verification fails, the run fails. If there is no reference, return
        kymo.Verification.unavailable("why")."""
        self.compute()
        expected = self.a * self.x.double() + self.y.double()
        return kymo.Verification().compare("out", "computed in float64", self.out, expected, 1e-6)
