// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include "fusekit/tensor/collapse.hpp"

namespace fusekit::runtime {

/// Tensor of a framework: a pointer, and a layout whose rank is known at run time. Extents and strides, in elements,
/// are in the library's mode order (N, C, then space; K, C / groups, then space), for any memory order. An omitted
/// argument is a View of rank 0.
struct View {
    void* data = nullptr;
    DataType type = DataType::float32;
    std::int32_t rank = 0;
    std::int64_t extents[5] = {};
    std::int64_t strides[5] = {};

    FUSEKIT_H constexpr View() = default;
    template <int Rank>
    FUSEKIT_H constexpr View(DataType the_type, Layout<Rank> const& layout, void* the_data = nullptr)
        : data(the_data), type(the_type), rank(Rank) {
        for (int mode = 0; mode < Rank; ++mode) {
            extents[mode] = layout.shape[mode];
            strides[mode] = layout.stride[mode];
        }
    }
    /// Converts from a Tensor or a view.
    template <class Source>
        requires requires(Source const& source) { source.const_view().layout; }
    FUSEKIT_H constexpr View(Source const& source)
        : View(type_of(source.const_view()), source.const_view().layout, writable(source.const_view().data)) {}

    FUSEKIT_H constexpr bool operator==(View const&) const = default;

    /// Layout of a view of Rank modes (dimensions). Precondition: its rank is Rank.
    template <int Rank>
    FUSEKIT_H constexpr Layout<Rank> layout() const {
        Layout<Rank> result{};
        for (int mode = 0; mode < Rank; ++mode) {
            result.shape[mode] = extents[mode];
            result.stride[mode] = strides[mode];
        }
        return result;
    }

private:
    template <class T, int Rank>
    FUSEKIT_H static constexpr DataType type_of(TensorView<T const, Rank> const&) {
        return data_type<T>;
    }
    template <class T>
    FUSEKIT_H static constexpr void* writable(T const* data) {
        return const_cast<T*>(data);
    }
};

/// Role of a tensor among the arguments of its operator.
enum class Role : std::uint8_t {
    weights,
    bias,
    z,
    scale,
    shift,
    mean,
    variance,
    saved_mean,
    saved_inverse_deviation,
    running_mean,
    running_variance,
    x,  ///< input of the forward run, as an argument of a backward run
    scale_gradient,
    shift_gradient,
    output,  ///< tensor to which a Store writes
    scratch,
};
inline constexpr int roles = static_cast<int>(Role::scratch) + 1;

/// Name of a role, as of the field in the operator's Args.
FUSEKIT_H constexpr char const* name(Role role) {
    constexpr char const* names[] = {"weights",
                                     "bias",
                                     "z",
                                     "scale",
                                     "shift",
                                     "mean",
                                     "variance",
                                     "saved_mean",
                                     "saved_inverse_deviation",
                                     "running_mean",
                                     "running_variance",
                                     "x",
                                     "scale_gradient",
                                     "shift_gradient",
                                     "output",
                                     "scratch"};
    return names[static_cast<int>(role)];
}

/// Run-time arguments of one operator, of any kind: an operator reads the fields that it needs, and a call returns an
/// error if a required tensor is omitted.
struct Arguments {
    View tensors[roles];
    double alpha = 0, beta = 0, gamma = 0;  ///< parameters of an activation
    double factor = 1;  ///< factor of a Scale, or of a Residual's z
    double epsilon = 1e-5;
    double momentum = 0.1;  ///< weight of the new value in running statistics; MIOpen's expAvgFactor
    double zero_point = 0;  ///< zero point of a Requantize

    FUSEKIT_H constexpr Arguments() = default;

    FUSEKIT_H constexpr View& operator[](Role role) { return tensors[static_cast<int>(role)]; }
    FUSEKIT_H constexpr View const& operator[](Role role) const { return tensors[static_cast<int>(role)]; }
};

/// Contiguous Arguments, one per operator: an array, or any container with data() and size().
struct ArgumentList {
    Arguments const* data;
    int size;

    FUSEKIT_H constexpr ArgumentList(Arguments const* the_data, int the_size) : data(the_data), size(the_size) {}
    template <std::size_t Count>
    FUSEKIT_H constexpr ArgumentList(Arguments const (&all)[Count]) : data(all), size(static_cast<int>(Count)) {}
    template <class Range>
        requires requires(Range const& range) {
            { range.data() } -> std::convertible_to<Arguments const*>;
            range.size();
        }
    FUSEKIT_H constexpr ArgumentList(Range const& range) : data(range.data()), size(static_cast<int>(range.size())) {}
};

}  // namespace fusekit::runtime
