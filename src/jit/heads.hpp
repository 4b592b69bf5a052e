// SPDX-License-Identifier: MIT
#pragma once

#include <string>

#include "fusekit/runtime/descriptor.hpp"

namespace fusekit::jit {

/// Heads of plans that are compiled at run time, with a pool where it changes the code of the host: the host has one
/// plan for each (host_plan.hpp). `none`: operators alone.
enum class Head {
    none,
    conv,
    pooled_conv,  ///< a Conv, and a pool of 2 x 2 windows as the last operator
    transposed_conv,  ///< TransposedConv, of every class of filters (transposed_class.hpp)
    gemm,
    batched_gemm,
    pool,  ///< no head, and a pool of windows as the last operator
    global_average,
    layer_norm,
    rms_norm,
    group_norm,
    instance_norm,
    softmax,
    log_softmax,
    upsampling,
    pixel_shuffle,
    spatial_norm,     ///< BatchNormTraining<Spatial>
    activation_norm,  ///< BatchNormTraining<PerActivation>
    weight_gradient,  ///< ConvWeightGradient, of every class of filters (filter_class.hpp)
    // gradients of plans without a Conv (host_gradient_plan.hpp), by their first operator
    spatial_norm_gradient,
    activation_norm_gradient,
    spatial_inference_gradient,
    activation_inference_gradient,
    activation_gradient,  ///< of a plan without a batch norm
};

/// True if the backend selects kernels of this head, and lays out their parameters, by the kinds of memory that the
/// operators after it read: then one of them may read a tensor.
constexpr bool is_product(Head head) { return head >= Head::conv && head <= Head::batched_gemm; }

/// True for norms of rows and softmax, which other operators may precede.
constexpr bool is_of_rows(Head head) { return head >= Head::layer_norm && head <= Head::log_softmax; }

/// True for gradients of plans without a Conv or Gemm: all of the plan is the head.
constexpr bool is_gradient(Head head) { return head >= Head::spatial_norm_gradient; }

/// Head of a sequence at position `at`, -1 without a head, and the operators that `Words` stands for: descriptors 0 to
/// `at` - 1, and `first` to `end` - 1.
struct Shape {
    Head head = Head::none;
    int at = -1, first = 0, end = 0;
};
Shape shape_of(runtime::Descriptors descriptors);

/// A head or a pool as in the translation unit: "Pool<Max, Filter<2>{...}>", and the header that defines it. Empty for
/// kinds that are neither.
struct TypeText {
    std::string type, header;
};
TypeText text_of_head(runtime::Descriptor const& of, Head head);

/// Text of a filter as a C++ expression.
std::string text_of(Filter<2> const& of);

/// Condition that the geometry of a pool, an upsampling, a pixel shuffle or a gradient of a Conv breaks; null if it
/// breaks none.
char const* broken_geometry(runtime::Descriptor const& of);

}  // namespace fusekit::jit
