// SPDX-License-Identifier: Apache-2.0
#include "case.hpp"

#include <cmath>
#include <cstring>
#include <random>
#include <stdexcept>

namespace kymo::flash::test {
namespace {

constexpr int64_t kGuardBytes = 4096;

uint16_t to_bf16(float x) {
  uint32_t bits;
  std::memcpy(&bits, &x, 4);
  return static_cast<uint16_t>((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}
double from_bf16(uint16_t x) {
  const uint32_t bits = static_cast<uint32_t>(x) << 16;
  float value;
  std::memcpy(&value, &bits, 4);
  return value;
}
double from_fp16(uint16_t x) {
  const int exponent = x >> 10 & 31, fraction = x & 1023;
  const double sign = x >> 15 ? -1.0 : 1.0;
  if (exponent == 31) return fraction ? std::nan("") : sign * INFINITY;
  return sign * (exponent ? std::ldexp(1024.0 + fraction, exponent - 25) : std::ldexp(fraction, -24));
}
uint16_t to_fp16(double x) {
  const uint16_t sign = std::signbit(x) ? 0x8000 : 0;
  const double size = std::fabs(x);
  if (size < std::ldexp(1.0, -14))
    return static_cast<uint16_t>(sign | static_cast<uint16_t>(std::nearbyint(std::ldexp(size, 24))));
  int exponent;
  std::frexp(size, &exponent);  // size = f * 2^exponent, 0.5 <= f < 1
  const int fraction = static_cast<int>(std::nearbyint(std::ldexp(size, 11 - exponent)));  // 1024 .. 2048
  const int bits = ((exponent + 14) << 10) + (fraction - 1024);
  return static_cast<uint16_t>(sign | (bits > 0x7c00 ? 0x7c00 : bits));
}

}  // namespace

void check_cuda(cudaError_t error, const char* what) {
  if (error != cudaSuccess) throw std::runtime_error(std::string(what) + ": " + cudaGetErrorString(error));
}

GuardedTensor::GuardedTensor(int64_t batch, int64_t heads, int64_t rows, int64_t d, Element element, Layout layout)
    : batch_(batch), heads_(heads), rows_(rows), d_(d), size_(element == Element::kFloat32 ? 4 : 2), element_(element) {
  const int64_t pitch = layout == Layout::kPadded ? d + 24 : d;
  if (layout == Layout::kRowsFirst) {
    head_stride_ = pitch, row_stride_ = heads * pitch, batch_stride_ = rows * row_stride_;
  } else {
    row_stride_ = pitch, head_stride_ = rows * pitch + (layout == Layout::kPadded ? 40 : 0),
    batch_stride_ = heads * head_stride_;
  }
  bytes_.resize(static_cast<size_t>(batch * batch_stride_ * size_ + 2 * kGuardBytes));
  values_.resize(static_cast<size_t>(batch * heads * rows * d));
  void* block = nullptr;
  check_cuda(cudaMalloc(&block, bytes_.size()), "cudaMalloc");
  block_.reset(block);
}

void* GuardedTensor::at() const { return static_cast<unsigned char*>(block_.get()) + kGuardBytes; }

size_t GuardedTensor::offset(int64_t batch, int64_t head, int64_t row, int64_t column) const {
  return static_cast<size_t>(kGuardBytes +
                             (batch * batch_stride_ + head * head_stride_ + row * row_stride_ + column) * size_);
}

void GuardedTensor::fill(uint64_t seed, double gain) {
  std::mt19937_64 random(seed);
  std::normal_distribution<float> normal;
  std::fill(bytes_.begin(), bytes_.end(), static_cast<unsigned char>(0xff));
  size_t i = 0;
  for (int64_t b = 0; b < batch_; ++b)
    for (int64_t h = 0; h < heads_; ++h)
      for (int64_t r = 0; r < rows_; ++r)
        for (int64_t c = 0; c < d_; ++c, ++i) {
          const float value = normal(random) * static_cast<float>(gain);
          unsigned char* to = &bytes_[offset(b, h, r, c)];
          if (element_ == Element::kFloat32) {
            std::memcpy(to, &value, 4);
            values_[i] = value;
          } else {
            const uint16_t rounded = element_ == Element::kBfloat16 ? to_bf16(value) : to_fp16(value);
            std::memcpy(to, &rounded, 2);
            values_[i] = element_ == Element::kBfloat16 ? from_bf16(rounded) : from_fp16(rounded);
          }
        }
  check_cuda(cudaMemcpy(block_.get(), bytes_.data(), bytes_.size(), cudaMemcpyHostToDevice), "cudaMemcpy");
}

void GuardedTensor::poison() { check_cuda(cudaMemset(block_.get(), 0xff, bytes_.size()), "cudaMemset"); }

void GuardedTensor::fetch_bytes() {
  check_cuda(cudaMemcpy(bytes_.data(), block_.get(), bytes_.size(), cudaMemcpyDeviceToHost), "cudaMemcpy");
}

void GuardedTensor::fetch() {
  fetch_bytes();
  std::vector<bool> inside(bytes_.size());
  size_t i = 0;
  for (int64_t b = 0; b < batch_; ++b)
    for (int64_t h = 0; h < heads_; ++h)
      for (int64_t r = 0; r < rows_; ++r)
        for (int64_t c = 0; c < d_; ++c, ++i) {
          const size_t at_byte = offset(b, h, r, c);
          for (int64_t byte = 0; byte < size_; ++byte) inside[at_byte + static_cast<size_t>(byte)] = true;
          if (element_ == Element::kFloat32) {
            float value;
            std::memcpy(&value, &bytes_[at_byte], 4);
            values_[i] = value;
          } else {
            uint16_t value;
            std::memcpy(&value, &bytes_[at_byte], 2);
            values_[i] = element_ == Element::kBfloat16 ? from_bf16(value) : from_fp16(value);
          }
        }
  untouched_ = true;
  for (size_t byte = 0; byte < bytes_.size(); ++byte) untouched_ = untouched_ && (inside[byte] || bytes_[byte] == 0xff);
}

Case::Case(const Problem& p, Layout how, uint64_t number, double factor)
    : problem(p),
      layout(how),
      seed(number),
      gain(factor),
      q(p.batch, p.heads_q, p.seq_q, p.d, p.element, how),
      k(p.batch, p.heads_kv, p.seq_k, p.d, p.element, how),
      v(p.batch, p.heads_kv, p.seq_k, p.d, p.element, how),
      o(p.batch, p.heads_q, p.seq_q, p.d, p.element, how),
      d_o(p.batch, p.heads_q, p.seq_q, p.d, p.element, how),
      dq(p.batch, p.heads_q, p.seq_q, p.d, p.element, how),
      dk(p.batch, p.heads_kv, p.seq_k, p.d, p.element, how),
      dv(p.batch, p.heads_kv, p.seq_k, p.d, p.element, how),
      lse(p.batch, p.heads_q, p.seq_q, 1, Element::kFloat32, Layout::kHeadsFirst) {
  q.fill(number * 7 + 1, factor), k.fill(number * 7 + 2, factor), v.fill(number * 7 + 3, 1),
      d_o.fill(number * 7 + 4, 1);
  for (GuardedTensor* out : {&o, &dq, &dk, &dv, &lse}) out->poison();
}

Forward Case::forward(Path path, int variant) const {
  Forward call;
  call.problem = problem;
  call.q = q.input(), call.k = k.input(), call.v = v.input(), call.o = o.output();
  call.lse = static_cast<float*>(lse.output().at);
  call.path = path, call.variant = variant;
  return call;
}

Backward Case::backward(Path path, bool deterministic, int variant) const {
  Backward call;
  call.problem = problem;
  call.q = q.input(), call.k = k.input(), call.v = v.input(), call.o = o.input(), call.d_o = d_o.input();
  call.lse = static_cast<const float*>(lse.input().at);
  call.dq = dq.output(), call.dk = dk.output(), call.dv = dv.output();
  call.path = path, call.deterministic = deterministic, call.variant = variant;
  return call;
}

std::string Case::text() const {
  const Problem& p = problem;
  const char* elements[] = {"fp32", "bf16", "fp16"};
  const char* layouts[] = {"heads first", "rows first", "padded"};
  std::string text = std::string(elements[static_cast<int>(p.element)]) + " batch " + std::to_string(p.batch) +
                     " heads " + std::to_string(p.heads_q) + "/" + std::to_string(p.heads_kv) + " seq " +
                     std::to_string(p.seq_q) + "/" + std::to_string(p.seq_k) + " d " + std::to_string(p.d);
  return text + (p.causal ? " causal, " : " full, ") + layouts[static_cast<int>(layout)] + ", gain " +
         std::to_string(gain) + ", seed " + std::to_string(seed);
}

Workspace::Workspace(size_t bytes) {
  check_cuda(cudaMalloc(&memory_, bytes ? bytes : 256), "cudaMalloc");
  check_cuda(cudaMemset(memory_, 0xff, bytes), "cudaMemset");  // results must not depend on its contents
}

}  // namespace kymo::flash::test
