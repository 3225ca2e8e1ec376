// SPDX-License-Identifier: Apache-2.0
// Wrappers for the Hopper instructions (PTX ISA, sm_90a) used by the kernels: mbarriers, the tensor memory accelerator
// (TMA), named barriers, register reallocation, and wgmma with the fences around it.
#pragma once
#include <cuda.h>

#include "ptx.cuh"
#include "wgmma.cuh"

namespace kymo::flash {

// ---------------------------------------------------------------- mbarriers: arrival and byte counts with a phase
// parity
__device__ __forceinline__ void barrier_init(uint32_t barrier, int arrivals) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(barrier), "r"(arrivals));
}
__device__ __forceinline__ void barriers_ready() { asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory"); }
__device__ __forceinline__ void barrier_expect(uint32_t barrier, uint32_t bytes) {
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(barrier), "r"(bytes) : "memory");
}
__device__ __forceinline__ void barrier_arrive(uint32_t barrier) {
  asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(barrier) : "memory");
}
/// Waits until the phase with this parity has completed.
__device__ __forceinline__ void barrier_wait(uint32_t barrier, uint32_t parity) {
  asm volatile(
      "{ .reg .pred done;\n"
      "WAIT: mbarrier.try_wait.parity.shared::cta.b64 done, [%0], %1;\n"
      "@done bra DONE;\n bra WAIT;\n DONE: }\n" ::"r"(barrier),
      "r"(parity)
      : "memory");
}

// ---------------------------------------------------------------- thread block clusters
/// Orders only the initialization of mbarriers.
__device__ __forceinline__ void cluster_arrive() { asm volatile("barrier.cluster.arrive.relaxed.aligned;"); }
__device__ __forceinline__ void cluster_wait() { asm volatile("barrier.cluster.wait.acquire.aligned;" ::: "memory"); }
/// Address of the same shared memory in another block of the cluster.
__device__ __forceinline__ uint32_t shared_of_block(uint32_t address, int block) {
  uint32_t there;
  asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(there) : "r"(address), "r"(block));
  return there;
}
/// Stores to shared memory of any block of the cluster and completes the bytes on an mbarrier of that block.
__device__ __forceinline__ void send(uint32_t to, uint32_t barrier, float4 x) {
  asm volatile("st.async.shared::cluster.mbarrier::complete_tx::bytes.v4.f32 [%0], {%1, %2, %3, %4}, [%5];" ::"r"(to),
               "f"(x.x), "f"(x.y), "f"(x.z), "f"(x.w), "r"(barrier)
               : "memory");
}
__device__ __forceinline__ void send(uint32_t to, uint32_t barrier, float2 x) {
  asm volatile("st.async.shared::cluster.mbarrier::complete_tx::bytes.v2.f32 [%0], {%1, %2}, [%3];" ::"r"(to), "f"(x.x),
               "f"(x.y), "r"(barrier)
               : "memory");
}
/// Like barrier_wait(), for data that other blocks of the cluster sent.
__device__ __forceinline__ void barrier_wait_cluster(uint32_t barrier, uint32_t parity) {
  asm volatile(
      "{ .reg .pred done;\n"
      "WAIT: mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 done, [%0], %1;\n"
      "@done bra DONE;\n bra WAIT;\n DONE: }\n" ::"r"(barrier),
      "r"(parity)
      : "memory");
}

// ---------------------------------------------------------------- named barriers, registers
__device__ __forceinline__ void named_arrive(int id, int threads) {
  asm volatile("bar.arrive %0, %1;" ::"r"(id), "r"(threads) : "memory");
}
template <int kRegisters>
__device__ __forceinline__ void release_registers() {
  asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(kRegisters));
}
template <int kRegisters>
__device__ __forceinline__ void acquire_registers() {
  asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(kRegisters));
}

// ---------------------------------------------------------------- TMA
struct Corner {
  int column, row, head, batch;
};
/// Loads a box of a tensor (batch, head, row, column) to shared memory and completes its bytes on the mbarrier.
/// Elements outside the tensor are zero.
__device__ __forceinline__ void load_box(uint32_t to, const CUtensorMap* map, uint32_t barrier, const Corner& at) {
  asm volatile(
      "cp.async.bulk.tensor.4d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, {%3, %4, %5, %6}], "
      "[%2];" ::"r"(to),
      "l"(map), "r"(barrier), "r"(at.column), "r"(at.row), "r"(at.head), "r"(at.batch)
      : "memory");
}
/// Stores a box from shared memory to a tensor; elements outside the tensor are not written.
__device__ __forceinline__ void store_box(const CUtensorMap* map, uint32_t from, const Corner& at) {
  asm volatile("cp.async.bulk.tensor.4d.global.shared::cta.bulk_group [%0, {%2, %3, %4, %5}], [%1];" ::"l"(map),
               "r"(from), "r"(at.column), "r"(at.row), "r"(at.head), "r"(at.batch)
               : "memory");
}
__device__ __forceinline__ void prefetch_map(const CUtensorMap* map) {
  asm volatile("prefetch.tensormap [%0];" ::"l"(map) : "memory");
}
__device__ __forceinline__ void load_bulk(uint32_t to, const void* from, uint32_t bytes, uint32_t barrier) {
  asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(to),
               "l"(from), "r"(bytes), "r"(barrier)
               : "memory");
}
/// Adds floats in shared memory to global memory with a bulk reduction in L2.
__device__ __forceinline__ void add_bulk(float* to, uint32_t from, uint32_t bytes) {
  asm volatile("cp.reduce.async.bulk.global.shared::cta.bulk_group.add.f32 [%0], [%1], %2;" ::"l"(to), "r"(from),
               "r"(bytes)
               : "memory");
}
__device__ __forceinline__ void commit_bulk() { asm volatile("cp.async.bulk.commit_group;" ::: "memory"); }
/// Waits until this thread's bulk copies have read their source.
__device__ __forceinline__ void wait_bulk_read() { asm volatile("cp.async.bulk.wait_group.read 0;" ::: "memory"); }
/// Waits until this thread's bulk copies have written their destination.
__device__ __forceinline__ void wait_bulk() { asm volatile("cp.async.bulk.wait_group 0;" ::: "memory"); }
/// Makes this thread's generic-proxy stores to shared memory visible to TMA and wgmma.
__device__ __forceinline__ void fence_shared() { asm volatile("fence.proxy.async.shared::cta;" ::: "memory"); }

// ---------------------------------------------------------------- semaphores in global memory that order
// blocks
/// Waits until the semaphore has this value. Subsequent TMA operations are ordered after those of the blocks that
/// released it before.
__device__ __forceinline__ void acquire_semaphore(const int* counter, int value) {
  int ended;
  do asm volatile("ld.acquire.gpu.global.s32 %0, [%1];" : "=r"(ended) : "l"(counter) : "memory");
  while (ended != value);
  asm volatile("fence.proxy.async;" ::: "memory");
}
/// Must follow wait_bulk().
__device__ __forceinline__ void release_semaphore(int* counter) {
  asm volatile("fence.proxy.async;" ::: "memory");
  asm volatile("red.release.gpu.global.add.s32 [%0], 1;" ::"l"(counter) : "memory");
}

// ---------------------------------------------------------------- matrices and vectors to shared memory
__device__ __forceinline__ void store_matrices(uint32_t to, uint32_t a, uint32_t b, uint32_t c, uint32_t d) {
  asm volatile("stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1, %2, %3, %4};" ::"r"(to), "r"(a), "r"(b), "r"(c),
               "r"(d)
               : "memory");
}
__device__ __forceinline__ void store_matrices_transposed(uint32_t to, uint32_t a, uint32_t b, uint32_t c, uint32_t d) {
  asm volatile("stmatrix.sync.aligned.m8n8.x4.trans.shared.b16 [%0], {%1, %2, %3, %4};" ::"r"(to), "r"(a), "r"(b),
               "r"(c), "r"(d)
               : "memory");
}
__device__ __forceinline__ void store_shared4(uint32_t to, float a, float b, float c, float d) {
  asm volatile("st.shared.v4.f32 [%0], {%1, %2, %3, %4};" ::"r"(to), "f"(a), "f"(b), "f"(c), "f"(d) : "memory");
}
/// The same for registers of any content, without reinterpreting floats as integers.
__device__ __forceinline__ void store_shared4(uint32_t to, uint32_t a, uint32_t b, uint32_t c, uint32_t d) {
  asm volatile("st.shared.v4.b32 [%0], {%1, %2, %3, %4};" ::"r"(to), "r"(a), "r"(b), "r"(c), "r"(d) : "memory");
}
__device__ __forceinline__ void load_shared4(uint32_t from, uint32_t* r) {
  asm volatile("ld.shared.v4.b32 {%0, %1, %2, %3}, [%4];"
               : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
               : "r"(from)
               : "memory");
}

// ---------------------------------------------------------------- wgmma
__device__ __forceinline__ void product_fence() { asm volatile("wgmma.fence.sync.aligned;" ::: "memory"); }
__device__ __forceinline__ void product_commit() { asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory"); }
template <int kPending>
__device__ __forceinline__ void product_wait() {
  asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(kPending) : "memory");
}
/// Tells the compiler that the registers change here (a pending wgmma reads or writes them): no use of them may move
/// across this line.
__device__ __forceinline__ void pin(float& r) { asm volatile("" : "+f"(r)::"memory"); }
__device__ __forceinline__ void pin(uint32_t& r) { asm volatile("" : "+r"(r)::"memory"); }
__device__ __forceinline__ void pin(int& r) { asm volatile("" : "+r"(r)::"memory"); }
template <class Register, int kCount>
__device__ __forceinline__ void pin(Register (&r)[kCount]) {
#pragma unroll
  for (int i = 0; i < kCount; ++i) pin(r[i]);
}

// Operand tiles are panels of 64 columns: rows of 128 bytes, swizzled in atoms of 8 rows (1024 bytes). The high word of
// a descriptor encodes this layout and is constant. The low word contains the address and, for transposed operands
// wider than 64, the distance between panels, both in units of 16 bytes. Arithmetic on the low word only keeps the
// issue of wgmma short: at d = 64, one takes 32 cycles.
__device__ __forceinline__ uint32_t operand(uint32_t tile, uint32_t panel_bytes = 0) {
  return ((tile & 0x3ffff) >> 4) | (panel_bytes >> 4 << 16);
}
__device__ __forceinline__ uint64_t descriptor(uint32_t low, uint32_t more_bytes) {
  return (uint64_t{0x40000040u} << 32) | (low + (more_bytes >> 4));
}

/// The same for an operand of 16 columns with rows of 16 bytes, which are both halves of a row, without swizzle. Groups
/// of 8 rows are 128 bytes apart or, with kRepeated, all the same.
template <bool kRepeated>
__device__ __forceinline__ uint64_t half_row_descriptor(uint32_t low) {
  return (uint64_t{kRepeated ? 0u : 128u >> 4} << 32) | low;
}

__device__ __forceinline__ int thread_now() {
  int t;
  asm volatile("mov.u32 %0, %%tid.x;" : "=r"(t));
  return t;
}
__device__ __forceinline__ void advance(int& stage, int& phase, int stages) {
  if (++stage == stages) stage = 0, phase ^= 1;
}

/// Loads 64 rows of a tile, whose panels of 64 columns are panel_bytes apart, as the left operand of a warpgroup.
template <int kD>
__device__ __forceinline__ void load_left_operand(uint32_t (&left)[kD / 4], uint32_t rows, int panel_bytes) {
  const int now = thread_now(), row = now / 32 % 4 * 16 + now % 16, high = now / 16 % 2;
#pragma unroll
  for (int step = 0; step < kD / 16; ++step) {
    const int chunk = (step % 4 * 2 + high) ^ (row % 8);
    load_matrices(reinterpret_cast<uint32_t (&)[4]>(left[4 * step]),
                  rows + step / 4 * panel_bytes + row * 128 + chunk * 16);
  }
}

// ---------------------------------------------------------------- issue of wgmma with tiles in shared memory, which
// consist of panels of 64 columns. Callers issue fences and commits.
/// acc = A B^T over kD columns. a, b: operands of 64 rows of a tile with kLeftRows rows, and of kRightRows rows of a
/// tile with kRightTileRows.
template <class T, int kD, int kLeftRows, int kRightRows, int kRightTileRows = kRightRows>
__device__ __forceinline__ void issue_by_rows(float (&acc)[kRightRows / 2], uint32_t a, uint32_t b) {
#pragma unroll
  for (int step = 0; step < kD / 16; ++step) {
    const uint32_t panel = step / 4, in_panel = step % 4 * 32;
    const uint64_t left = descriptor(a, panel * kLeftRows * 128 + in_panel),
                   right = descriptor(b, panel * kRightTileRows * 128 + in_panel);
    if (step == 0)
      Wgmma<T, kRightRows>::template shared_first<false>(acc, left, right);
    else
      Wgmma<T, kRightRows>::template shared<false>(acc, left, right);
  }
}
/// The same with A in registers: 64 x kD.
template <class T, int kD, int kRightRows>
__device__ __forceinline__ void issue_by_rows(float (&acc)[kRightRows / 2], const uint32_t (&left)[kD / 4],
                                              uint32_t b) {
#pragma unroll
  for (int step = 0; step < kD / 16; ++step) {
    const uint64_t right = descriptor(b, step / 4 * kRightRows * 128 + step % 4 * 32);
    if (step == 0)
      Wgmma<T, kRightRows>::template registers_first<false>(acc, left, right);
    else
      Wgmma<T, kRightRows>::template registers<false>(acc, left + 4 * step, right);
  }
}
/// acc += left B. left: 64 x kRows in registers; b: operand of a tile of kRows rows and kD columns.
template <class T, int kD, int kRows>
__device__ __forceinline__ void issue_by_columns(float (&acc)[kD / 2], const uint32_t (&left)[kRows / 4], uint32_t b) {
#pragma unroll
  for (int step = 0; step < kRows / 16; ++step)
    Wgmma<T, kD>::template registers<true>(acc, left + 4 * step, descriptor(b, step * 2048));
}

}  // namespace kymo::flash
