# SPDX-License-Identifier: Apache-2.0
"""Steps whose memory cannot be predicted, because they need values or operators that have no shapes alone."""

import kymo
import torch


@torch.library.custom_op("kymo_test::doubled", mutates_args=())
def doubled(x: torch.Tensor) -> torch.Tensor:
    return x * 2


torch.library.define("kymo_test::halved", "(Tensor x) -> Tensor")
torch.library.impl("kymo_test::halved", "CPU", lambda x: x / 2)

FUNCTIONS = {
    "value": lambda x: x * x.sum().item(),
    "shape": lambda x: x[x.nonzero()],
    "custom_op": lambda x: doubled(x),
    "library": lambda x: torch.ops.kymo_test.halved(x),
}


class Unpredictable(kymo.Workload):
    """A function of one tensor"""

    function = kymo.Choice("value", tuple(FUNCTIONS))
    compiled = kymo.Bool(False)

    def prepare(self, run):
        self.x = torch.randn(8)
        self.call = FUNCTIONS[self.function]
        if self.compiled:
            self.call = torch.compile(self.call)

    def step(self, run):
        self.call(self.x)
