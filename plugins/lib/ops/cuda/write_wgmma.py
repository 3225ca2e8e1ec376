# SPDX-License-Identifier: Apache-2.0
"""Writes wgmma.cuh: one function for each warpgroup product (PTX wgmma.mma_async, sm_90a) that the Hopper kernels take.

write_wgmma.py FILE

An instruction names each of its N / 2 accumulator registers; neither the preprocessor nor a template can write that.
Wgmma<T, N> multiplies 64 x 16 by 16 x N elements of T into fp32:
  shared<kTransposeB>        A row by row and B (N rows, or 16 rows when transposed) from shared memory, by descriptors;
                             acc += A B
  shared_first<kTransposeB>  the same, acc = A B: what acc held before is not read
  registers                  A from registers, in the layout in which 64 x 16 accumulators leave a product; B
                             transposed; acc += A B
"""

import sys

COLUMNS = (64, 80, 96, 112, 128, 144, 160, 176, 192, 256)
TYPES = (("__nv_bfloat16", "bf16"), ("__half", "f16"))


def function(signature, predicate, count, kind, columns, first_operand, flags):
    """One function around one instruction; operand numbers follow the accumulators."""
    accumulators = ", ".join(f"%{i}" for i in range(count))
    constraint = "+f" if predicate else "=f"
    outputs = ", ".join(f'"{constraint}"(acc[{i}])' for i in range(count))
    operands, inputs = first_operand(count)
    return (
        f"  {signature} {{\n"
        f'    asm volatile("{{ .reg .pred p; setp.ne.b32 p, {predicate}, 0;\\n"\n'
        f'      "wgmma.mma_async.sync.aligned.m64n{columns}k16.f32.{kind}.{kind} {{{accumulators}}}, '
        f'{operands}, p, 1, 1, {flags(count)}; }}\\n"\n'
        f"      : {outputs}\n      : {inputs});\n  }}\n"
    )


def from_shared(count):
    return f"%{count}, %{count + 1}", '"l"(a), "l"(b), "n"(kTransposeB ? 1 : 0)'


def from_registers(count):
    names = ", ".join(f"%{count + i}" for i in range(4))
    return f"{{{names}}}, %{count + 4}", '"r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b)'


def wgmma(cpp_type, kind, columns):
    count = columns // 2
    inline = "__device__ static __forceinline__ void"
    both = f"template <bool kTransposeB>\n  {inline} %s(float (&acc)[{count}], uint64_t a, uint64_t b)"
    return (
        f"template <>\nstruct Wgmma<{cpp_type}, {columns}> {{\n"
        + function(both % "shared", 1, count, kind, columns, from_shared, lambda n: f"0, %{n + 2}")
        + function(both % "shared_first", 0, count, kind, columns, from_shared, lambda n: f"0, %{n + 2}")
        + function(
            f"{inline} registers(float (&acc)[{count}], const uint32_t* a, uint64_t b)",
            1,
            count,
            kind,
            columns,
            from_registers,
            lambda n: "1",
        )
        + "};\n"
    )


def main():
    with open(sys.argv[1], "w", encoding="utf-8") as file:
        file.write(
            "// Written by write_wgmma.py.\n#pragma once\n#include <cuda_bf16.h>\n#include <cuda_fp16.h>\n\n"
            "#include <cstdint>\n\n"
        )
        file.write("namespace kymo::flash {\ntemplate <class T, int kColumns>\nstruct Wgmma;\n")
        for cpp_type, kind in TYPES:
            for columns in COLUMNS:
                file.write(wgmma(cpp_type, kind, columns))
        file.write("}  // namespace kymo::flash\n")


if __name__ == "__main__":
    main()
