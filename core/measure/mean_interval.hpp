// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <vector>

/// How precisely the mean of consecutive steps is known, although steps depend on those before them and some take much
/// longer than others.
namespace kymo::measure {

/// 95 % confidence interval of a mean, in the unit of the samples.
struct MeanInterval {
  double low = 0;
  double high = 0;
  double half_width = 0;  ///< half of the width without the correction for skewness
  std::size_t block = 1;  ///< samples per block; 1: the samples count as independent
};

/// Returns the interval from the means of blocks of consecutive samples: Student's t of the block means, corrected for
/// their skewness by Hall's transformation. The blocks are as long as the autocorrelation demands
/// (optimal_block_length()), and at least ten. Below 20 samples, too few to estimate any of this, it is Student's t of
/// the samples. Pass at least two samples, in the order in which they were measured.
///
/// B. Schmeiser, "Batch size effects in the analysis of simulation output", Operations Research 30, 1982 (10 to 30
/// blocks); P. Hall, "On the removal of skewness by transformation", Journal of the Royal Statistical Society B 54,
/// 1992 (the cubic transformation and its inverse).
MeanInterval mean_interval(const std::vector<double>& samples);

/// Returns the block length that minimizes the mean squared error of the variance of the mean, estimated from the
/// autocorrelation of the samples; at least 1, not bounded above. Computes about √n autocovariances of n samples.
///
/// D. N. Politis and H. White, "Automatic block-length selection for the dependent bootstrap", Econometric Reviews 23,
/// 2004, with the correction of A. Patton, D. N. Politis and H. White, Econometric Reviews 28, 2009 (circular blocks).
double optimal_block_length(const std::vector<double>& samples);

}  // namespace kymo::measure
