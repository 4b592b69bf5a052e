// SPDX-License-Identifier: MIT
#pragma once

#include "support/oracle.hpp"

/// Batch norm in training, and its gradients, from their definitions, in double.
namespace test::oracle {

/// How far a float sum may be from the exact one, as a share of its terms' magnitudes: 168 half ulps, where a term is
/// rounded once in each addition on its way to the total (Higham 2002, section 4.2).
inline constexpr double sum_share = 1e-5;

/// A sum in any order. Multiples of 2^-8 whose magnitudes come to 2^16 at most are added without error.
Bounded sum(std::vector<Bounded> const& terms);

/// For every mean the elements that it is of: a channel's, or those of one place in all images.
std::vector<std::vector<std::size_t>> sharing(Tensor const& x, bool per_place);

/// A tensor of what belongs to each mean.
Tensor shared(Shape const& x, bool per_place);

struct BatchStatistics {
    Tensor mean, variance;
    double count;
};

/// The statistics of an input without errors. They are `exact` where the test has chosen numbers whose partial means
/// are all floats.
///
/// Otherwise a mean carries the errors of a sum of the values' distances from one of them, and 32 half ulps of its own
/// from being put together out of others. The squares of those distances average 2 (variance + farthest^2) at most; and
/// between parts whose means are off by e, the variance is off by 2 e deviation + e^2.
BatchStatistics batch_statistics(Tensor const& x, bool per_place, bool exact);

Bounded inverse_deviation(Bounded variance, double epsilon);
Tensor inverse_deviations(BatchStatistics const& batch, double epsilon);

/// y = scale (x - mean) / sqrt(variance + epsilon) + shift
Tensor batch_norm_training(Tensor const& x, Statistics const& s, bool per_place, bool exact);

/// What a statistic that runs becomes.
Bounded moved(double running, Bounded to, double momentum);

/// An activation's derivative, over the interval of x.
Bounded slope(Mode const& mode, Bounded x);

/// What batch statistics' numbers were, in floats.
struct Saved {
    std::vector<double> mean, inverse_deviation;
};

struct TrainingGradients {
    Tensor dx, scale, shift;
};

/// From dy, the gradient of what follows `mode`, back to x and the parameters:
///   g = dy mode'(y), dshift = sum of g, dscale = sum of g (x - mean) inverse_deviation,
///   dx = scale inverse_deviation (g - (dshift + (x - mean) inverse_deviation dscale) / count).
/// Source: Ioffe and Szegedy 2015, section 3.
TrainingGradients training_gradients(Tensor const& x, std::vector<double> const& dy, Mode const& mode,
                                     Statistics const& s, Saved const& saved, bool per_place);

}  // namespace test::oracle
