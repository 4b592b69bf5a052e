// SPDX-License-Identifier: MIT
#pragma once

#include "support/oracle.hpp"

/// Batch norm in training and its gradients, by definition, in double.
namespace test::oracle {

/// Relative error of a float sum, as a share of its terms' magnitudes: 168 half ulps, with one rounding per addition on
/// a term's path to the total (Higham 2002, section 4.2).
inline constexpr double sum_share = 1e-5;

/// Sum in any order. Multiples of 2^-8 whose magnitudes total at most 2^16 are added without error.
Bounded sum(std::vector<Bounded> const& terms);

/// Elements of each mean: those of a channel, or those of one pixel in all images.
std::vector<std::vector<std::size_t>> sharing(Tensor const& x, bool per_pixel);

/// Tensor with one element per mean.
Tensor shared(Shape const& x, bool per_pixel);

struct BatchStatistics {
    Tensor mean, variance;
    double count;
};

/// Statistics of an input without errors. `exact`: the test has chosen numbers whose partial means are all floats.
///
/// Otherwise a mean has the error of a sum of the values' deviations from one of them, and 32 half ulps from merging.
/// The squares of these deviations average at most 2 (variance + farthest^2); between parts whose means have error e,
/// the variance has error 2 e deviation + e^2.
BatchStatistics batch_statistics(Tensor const& x, bool per_pixel, bool exact);

Bounded inverse_deviation(Bounded variance, double epsilon);
Tensor inverse_deviations(BatchStatistics const& batch, double epsilon);

/// y = scale (x - mean) / sqrt(variance + epsilon) + shift
Tensor batch_norm_training(Tensor const& x, Statistics const& s, bool per_pixel, bool exact);

/// Updated running statistic.
Bounded moved(double running, Bounded to, double momentum);

/// Derivative of an activation, over the interval of x.
Bounded slope(Mode const& mode, Bounded x);

/// Saved batch statistics, as floats.
struct Saved {
    std::vector<double> mean, inverse_deviation;
};

struct TrainingGradients {
    Tensor dx, scale, shift;
};

/// Gradients of x and the parameters, from dy, the gradient after `mode`:
///   g = dy mode'(y), dshift = sum of g, dscale = sum of g (x - mean) inverse_deviation,
///   dx = scale inverse_deviation (g - (dshift + (x - mean) inverse_deviation dscale) / count).
/// Source: Ioffe and Szegedy 2015, section 3.
TrainingGradients training_gradients(Tensor const& x, std::vector<double> const& dy, Mode const& mode,
                                     Statistics const& s, Saved const& saved, bool per_pixel);

}  // namespace test::oracle
