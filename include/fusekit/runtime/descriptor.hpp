// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include "fusekit/runtime/activation_mode.hpp"
#include "fusekit/tensor/dtype.hpp"
#include "fusekit/tensor/filter.hpp"

namespace fusekit::runtime {

/// Kind of an operator in a Descriptor. Kinds from `own` on are for the application's operators.
enum class Kind : std::uint8_t {
    conv,
    gemm,
    bias,
    batch_norm_inference,
    batch_norm_training,
    activation,
    residual,
    scale,
    requantize,
    pool,
    global_average,
    channel_statistics,
    store,
    batch_norm_backward,
    activation_backward,
    binary,
    layer_norm,
    rms_norm,
    group_norm,
    instance_norm,
    softmax,
    log_softmax,
    upsample_nearest,
    upsample_bilinear,
    pixel_shuffle,
    pixel_unshuffle,
    batched_gemm,
    transposed_conv,
    conv_weight_gradient,
    residual_backward,
    own = 64,
};

/// NormMode: mode of a batch norm, numbered as in MIOpen (miopenBatchNormMode_t). PoolMode: mode of a pool. The modes
/// of an activation are ActivationMode. BinaryMode: Add ... Minimum (ops/binary.hpp).
enum class NormMode : std::int32_t { per_activation, spatial };
enum class PoolMode : std::int32_t { max, average };
enum class BinaryMode : std::int32_t { add, subtract, multiply, divide, maximum, minimum };

/// One operator of a sequence, without its tensors: a framework builds a sequence before it has tensors.
struct Descriptor {
    Kind kind;
    std::int32_t mode = 0;  ///< an ActivationMode, NormMode, PoolMode or BinaryMode; 0 for other kinds; any number for
                            ///< an application's operator
    /// filter of a Conv, and of the Conv whose gradient a TransposedConv or ConvWeightGradient computes; window of a
    /// Pool; `size`: factors of an upsampling or a pixel shuffle; `group_count`: groups of a GroupNorm
    Filter<2> filter = fusekit::filter(1, 1);

    FUSEKIT_H constexpr bool operator==(Descriptor const&) const = default;
};

/// Largest valid Descriptor::mode of a kind; 0 for kinds without modes. For an application's kinds any mode is valid.
FUSEKIT_H constexpr std::int32_t last_mode(Kind kind) {
    if (kind == Kind::activation || kind == Kind::activation_backward) return activation_modes - 1;
    if (kind == Kind::binary) return static_cast<std::int32_t>(BinaryMode::minimum);
    bool const has_two = kind == Kind::batch_norm_inference || kind == Kind::batch_norm_training ||
                         kind == Kind::batch_norm_backward || kind == Kind::pool;
    return has_two ? 1 : 0;
}

/// Functions that return descriptors of the library's operators.
FUSEKIT_H constexpr Descriptor conv(Filter<2> const& filter) { return {Kind::conv, 0, filter}; }
FUSEKIT_H constexpr Descriptor transposed_conv(Filter<2> const& filter) { return {Kind::transposed_conv, 0, filter}; }
FUSEKIT_H constexpr Descriptor conv_weight_gradient(Filter<2> const& filter) {
    return {Kind::conv_weight_gradient, 0, filter};
}
FUSEKIT_H constexpr Descriptor gemm() { return {Kind::gemm}; }
FUSEKIT_H constexpr Descriptor batched_gemm() { return {Kind::batched_gemm}; }
FUSEKIT_H constexpr Descriptor bias() { return {Kind::bias}; }
FUSEKIT_H constexpr Descriptor batch_norm_inference(NormMode mode) {
    return {Kind::batch_norm_inference, static_cast<std::int32_t>(mode)};
}
FUSEKIT_H constexpr Descriptor batch_norm_training(NormMode mode) {
    return {Kind::batch_norm_training, static_cast<std::int32_t>(mode)};
}
FUSEKIT_H constexpr Descriptor batch_norm_backward(NormMode mode) {
    return {Kind::batch_norm_backward, static_cast<std::int32_t>(mode)};
}
FUSEKIT_H constexpr Descriptor activation(ActivationMode mode) {
    return {Kind::activation, static_cast<std::int32_t>(mode)};
}
FUSEKIT_H constexpr Descriptor activation_backward(ActivationMode mode) {
    return {Kind::activation_backward, static_cast<std::int32_t>(mode)};
}
FUSEKIT_H constexpr Descriptor residual() { return {Kind::residual}; }
FUSEKIT_H constexpr Descriptor residual_backward() { return {Kind::residual_backward}; }
FUSEKIT_H constexpr Descriptor scale() { return {Kind::scale}; }
FUSEKIT_H constexpr Descriptor binary(BinaryMode mode) { return {Kind::binary, static_cast<std::int32_t>(mode)}; }
FUSEKIT_H constexpr Descriptor requantize() { return {Kind::requantize}; }
FUSEKIT_H constexpr Descriptor channel_statistics() { return {Kind::channel_statistics}; }
FUSEKIT_H constexpr Descriptor store() { return {Kind::store}; }
FUSEKIT_H constexpr Descriptor global_average() { return {Kind::global_average}; }
FUSEKIT_H constexpr Descriptor pool(PoolMode mode, Filter<2> const& window) {
    return {Kind::pool, static_cast<std::int32_t>(mode), window};
}
FUSEKIT_H constexpr Descriptor layer_norm() { return {Kind::layer_norm}; }
FUSEKIT_H constexpr Descriptor rms_norm() { return {Kind::rms_norm}; }
FUSEKIT_H constexpr Descriptor group_norm(std::int32_t groups) {
    return {Kind::group_norm, 0, fusekit::filter(1, 1).groups(groups)};
}
FUSEKIT_H constexpr Descriptor instance_norm() { return {Kind::instance_norm}; }
FUSEKIT_H constexpr Descriptor softmax() { return {Kind::softmax}; }
FUSEKIT_H constexpr Descriptor log_softmax() { return {Kind::log_softmax}; }
FUSEKIT_H constexpr Descriptor upsample_nearest(std::int32_t rows, std::int32_t columns) {
    return {Kind::upsample_nearest, 0, fusekit::filter(rows, columns)};
}
FUSEKIT_H constexpr Descriptor upsample_bilinear(std::int32_t rows, std::int32_t columns) {
    return {Kind::upsample_bilinear, 0, fusekit::filter(rows, columns)};
}
FUSEKIT_H constexpr Descriptor pixel_shuffle(std::int32_t factor) {
    return {Kind::pixel_shuffle, 0, fusekit::filter(factor, factor)};
}
FUSEKIT_H constexpr Descriptor pixel_unshuffle(std::int32_t factor) {
    return {Kind::pixel_unshuffle, 0, fusekit::filter(factor, factor)};
}

/// True for kinds whose descriptors have a filter (Descriptor::filter).
FUSEKIT_H constexpr bool has_filter(Kind kind) {
    return kind == Kind::conv || kind == Kind::pool || kind == Kind::group_norm || kind == Kind::transposed_conv ||
           kind == Kind::conv_weight_gradient || (kind >= Kind::upsample_nearest && kind <= Kind::pixel_unshuffle);
}

/// Element types of x, y, and the weights of a Conv or Gemm.
struct Types {
    DataType x, y, weights;

    FUSEKIT_H constexpr Types(DataType all) : x(all), y(all), weights(all) {}
    FUSEKIT_H constexpr Types(DataType the_x, DataType the_y) : x(the_x), y(the_y), weights(the_x) {}
    FUSEKIT_H constexpr Types(DataType the_x, DataType the_y, DataType the_weights)
        : x(the_x), y(the_y), weights(the_weights) {}
    FUSEKIT_H constexpr bool operator==(Types const&) const = default;
};

/// Maximum number of operators in a sequence.
inline constexpr int max_operators = 8;

/// Contiguous descriptors: an array, or any container with data() and size().
struct Descriptors {
    Descriptor const* data;
    int size;

    FUSEKIT_H constexpr Descriptors(Descriptor const* the_data, int the_size) : data(the_data), size(the_size) {}
    template <std::size_t Count>
    FUSEKIT_H constexpr Descriptors(Descriptor const (&all)[Count]) : data(all), size(static_cast<int>(Count)) {}
    template <class Range>
        requires requires(Range const& range) {
            { range.data() } -> std::convertible_to<Descriptor const*>;
            range.size();
        }
    FUSEKIT_H constexpr Descriptors(Range const& range) : data(range.data()), size(static_cast<int>(range.size())) {}

    FUSEKIT_H constexpr Descriptor const& operator[](int i) const { return data[i]; }
    FUSEKIT_H constexpr Descriptors first(int count) const { return {data, count}; }
};

}  // namespace fusekit::runtime
