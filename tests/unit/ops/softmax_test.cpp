// SPDX-License-Identifier: Apache-2.0
// The online softmax of the Hopper forward, in an emulated warp.
#include <gmock/gmock.h>

#include <limits>
#include <random>

#include "hopper_softmax.cuh"

namespace kymo::flash {
namespace {

constexpr int kRows = 16, kColumns = 32;  // of a warp, of a tile
constexpr float kInfinity = std::numeric_limits<float>::infinity();

/// Scores of kRows rows, tile by tile, and one column of V.
struct Problem {
  int tiles;
  float scale_log2;
  std::vector<float> scores, values;  // (kRows, tiles * kColumns); (tiles * kColumns)
  float& score(int row, int key) { return scores[static_cast<size_t>(row * tiles * kColumns + key)]; }
  float score(int row, int key) const { return scores[static_cast<size_t>(row * tiles * kColumns + key)]; }
};
struct Rows {
  std::array<double, kRows> output{}, log2_sum{};
};

Problem random_problem(unsigned seed, int tiles, float deviation) {
  Problem p{tiles, 0.25f, {}, {}};
  std::mt19937 random(seed);
  std::normal_distribution<float> normal;
  p.scores.resize(static_cast<size_t>(kRows * tiles * kColumns)),
      p.values.resize(static_cast<size_t>(tiles * kColumns));
  for (float& score : p.scores) score = deviation * normal(random);
  for (float& value : p.values) value = normal(random) < 0 ? -1.f : 1.f;
  return p;
}

/// One lane of the loop of the consumer warpgroups, with P rounded to bf16 and O in float64.
void process(const Problem& p, int of_lane, std::array<double, kRows>& outputs, std::array<double, kRows>& sums,
             std::array<float, kRows>& references, std::barrier<>& turn) {
  PieceSoftmax<kColumns> softmax(p.scale_log2, inverse_scale(p.scale_log2), 0);
  double o[2] = {0, 0};
  softmax.begin();
  for (int tile = 0; tile < p.tiles; ++tile) {
    const auto key = [&](int i) { return tile * kColumns + i / 4 * 8 + of_lane % 4 * 2 + i % 2; };
    for (int i = 0; i < kColumns / 2; ++i) softmax.s[i] = p.score(of_lane / 4 + i / 2 % 2 * 8, key(i));
    for (int k = 0; k < softmax.kPieces; ++k) softmax.maximum_piece(k);
    tile == 0 ? softmax.finish_first_maximum() : softmax.finish_maximum();
    for (int k = 0; k < softmax.kPieces; ++k) softmax.exponential_piece(k);
    softmax.finish_sum();
    for (int r = 0; r < 2; ++r)
      if (tile > 0 && softmax.raised) o[r] *= static_cast<double>(softmax.correction[r]);
    if (tile == 0 || softmax.raised) softmax.set_limits();
    for (int i = 0; i < kColumns / 2; ++i)
      o[i / 2 % 2] += static_cast<double>(rounded(softmax.s[i]) * p.values[static_cast<size_t>(key(i))]);
  }
  for (int i = 0; i < kLanes; ++i) {  // one after another
    if (i == of_lane)
      for (int r = 0; r < 2; ++r) outputs[static_cast<size_t>(of_lane / 4 + 8 * r)] += o[r];
    turn.arrive_and_wait();
  }
  for (int r = 0; r < 2; ++r) {
    const float sum = softmax.row_sum(r);
    const auto row = static_cast<size_t>(of_lane / 4 + 8 * r);
    if (of_lane % 4 == 0) sums[row] = static_cast<double>(sum), references[row] = softmax.reference[r];
  }
}

Rows emulated(const Problem& p) {
  std::array<double, kRows> outputs{}, sums{};
  std::array<float, kRows> references{};
  std::barrier<> turn(kLanes);
  run_warp([&](int of_lane) { process(p, of_lane, outputs, sums, references, turn); });
  Rows rows;
  for (size_t row = 0; row < kRows; ++row) {
    rows.output[row] = outputs[row] / sums[row];
    rows.log2_sum[row] = std::log2(sums[row]) + static_cast<double>(references[row] * p.scale_log2);
  }
  return rows;
}

/// Expects the log-sum-exp to be right, and outputs to be off by no more than what rounding P to bf16 explains if the
/// greatest of the weights is exact when it is above a half.
void expect_right(const Problem& p) {
  const Rows actual = emulated(p);
  for (int row = 0; row < kRows; ++row) {
    double highest = -std::numeric_limits<double>::infinity(), sum = 0, output = 0;
    const int keys = p.tiles * kColumns;
    const auto exponent = [&](int key) { return static_cast<double>(p.score(row, key) * p.scale_log2); };
    for (int key = 0; key < keys; ++key) highest = std::max(highest, exponent(key));
    for (int key = 0; key < keys; ++key) {
      const double weight = std::exp2(exponent(key) - highest);
      sum += weight, output += weight * static_cast<double>(p.values[static_cast<size_t>(key)]);
    }
    const double largest = 1 / sum, rounded_share = largest > 0.501 ? 1 - largest : 1;
    EXPECT_NEAR(actual.log2_sum[static_cast<size_t>(row)], highest + std::log2(sum), 2e-5 * std::max(1., highest))
        << "row " << row;
    EXPECT_NEAR(actual.output[static_cast<size_t>(row)], output / sum, rounded_share / 256 + 2e-6)
        << "row " << row << ", largest weight " << largest;
  }
}

TEST(Softmax, OfRandomScores) {
  for (const float deviation : {0.1f, 4.f, 12.f, 100.f}) expect_right(random_problem(1, 6, deviation));
}

TEST(Softmax, OfScoresThatGrow) {
  for (const float step : {0.5f, 5.3f, 11.f, 13.7f, 29.f, 33.f, 500.f})
    for (const int tiles : {5, 6, 7}) {  // the last score is the reference, or below a limit
      Problem p = random_problem(2, tiles, 1.f);
      for (int row = 0; row < kRows; ++row)
        for (int tile = 0; tile < p.tiles; ++tile)
          p.score(row, tile * kColumns + row) = step * static_cast<float>(tile);
      expect_right(p);
    }
}

TEST(Softmax, OfNegativeScores) {
  Problem p = random_problem(3, 5, 4.f);
  for (float& score : p.scores) score = -std::fabs(score) - 1;
  expect_right(p);
}

TEST(Softmax, OfRowsWhoseFirstTilesAreMasked) {
  Problem p = random_problem(4, 5, 8.f);
  for (int row = 0; row < kRows; ++row)
    for (int key = 0; key < row * 9; ++key) p.score(row, key) = -kInfinity;
  expect_right(p);
}

TEST(Softmax, OfFewKeysInTheFirstTile) {
  Problem p = random_problem(5, 4, 12.f);
  for (int row = 0; row < kRows; ++row)
    for (int key = 1; key < kColumns; ++key) p.score(row, key) = -kInfinity;
  expect_right(p);
}

TEST(Softmax, WithAScaleOfZeroIsUniform) {
  Problem p = random_problem(6, 3, 4.f);
  p.scale_log2 = 0;
  expect_right(p);
}

TEST(Softmax, OfRowsThatSeeNothingHasASumOfZero) {
  Problem p = random_problem(7, 2, 4.f);
  for (int key = 0; key < p.tiles * kColumns; ++key) p.score(3, key) = -kInfinity;
  const Rows rows = emulated(p);
  EXPECT_EQ(rows.log2_sum[3], -std::numeric_limits<double>::infinity());
  EXPECT_TRUE(std::isfinite(rows.log2_sum[4]));
}

}  // namespace
}  // namespace kymo::flash
