// SPDX-License-Identifier: MIT
#pragma once

#include <type_traits>

#include "fusekit/backend/hip/arch/target.hpp"
#include "fusekit/backend/hip/arch/tensor_map.hpp"
#include "fusekit/backend/hip/collective/merge_parts.hpp"
#include "fusekit/backend/hip/conv_problem.hpp"
#include "fusekit/backend/hip/copy/wgrad/load_pixels.hpp"
#include "fusekit/backend/hip/thread_coord.hpp"
#include "fusekit/plan/plan.hpp"

namespace fusekit::hip {

/// Whether a gradient by the weights also has a kernel for sm_90a's matrix units: of half or bfloat16.
template <class Plan, Element T>
inline constexpr bool has_bulk_weight_gradient =
    arch::is_targeted<arch::Sm90a> && sizeof(T) == 2 && Plan::Head::collapsed_space == 2;

/// How its bulk copies find x and dy: (C, W, H, N) as windows, or the pixels of each as rows.
struct WeightGradientMaps {
    TensorMap x, dy;
    bool in_use = false, has_windows = false;

    FUSEKIT_H void replace_memory(void const* of_x, void const*) { hip::replace_memory(x, of_x); }
};

/// What the kernel of a ConvWeightGradient is given; y is dw.
template <class Plan, Element T, detail::OutputElement U>
struct WeightGradientParams {
    static constexpr int space = Plan::Head::collapsed_space;

    BoundPlan<Plan> bound;
    TensorView<T const> x;
    TensorView<U> y;
    problem::Slices<space> slices = {};
    Neighbours in_x = Neighbours::pixels, in_dy = Neighbours::pixels;
    int part_pixels = 0;  ///< that a block adds up
    bool in_slabs = false;  ///< whether 32 bits do not count the pixels of all images
    /// Whether WeightGradientPackets, -Pixels or -Rows may compute it.
    bool in_packets = false, in_pixels = false, in_rows = false;
    BlockParts parts = {};
    std::conditional_t<has_bulk_weight_gradient<Plan, T>, WeightGradientMaps, detail::Nothing> maps = {};

    /// The Conv, whose output is dy.
    __device__ ConvProblem<T, space> problem() const {
        auto const& dy = bound.head.dy;
        return {{x, {nullptr, y.layout}, dy.layout.shape, Plan::Head::geometry(bound.head)}, dy.layout.stride, slices};
    }
    /// Weights of a filter, and columns of the product.
    FUSEKIT_HD std::int64_t weights() const {
        Index<4> const& dw = y.layout.shape;
        return dw[1] * dw[2] * dw[3];
    }
    FUSEKIT_HD std::int64_t columns() const { return weights() + bound.head.bias_gradient.given(); }

    /// Takes a sum through the epilogue to dw.
    __device__ void store(float sum, OutputCoord const& to) const {
        float const value = result(sum, to);
        if constexpr (Element<U>) y(to.n, to.k, to.p, to.q) = U(value);
    }
    /// Whether four neighbouring channels of x may be stored by one access, from a place on and in every other filter.
    __device__ bool stores_packets(OutputCoord const& from) const {
        if constexpr (Element<U>)
            return y.layout.stride[1] == 1 && y.layout.stride[0] % 4 == 0 &&
                   reinterpret_cast<std::uintptr_t>(&y(from.n, from.k, from.p, from.q)) % (4 * sizeof(U)) == 0;
        else return true;
    }
    __device__ void store(Packet<float, 4> const& sums, OutputCoord const& to) const {
        Packet<float, 4> values;
#pragma unroll
        for (int i = 0; i < 4; ++i) values.values[i] = result(sums.values[i], {to.n, to.k + i, to.p, to.q});
        if constexpr (Element<U>)
            *reinterpret_cast<Packet<U, 4>*>(&y(to.n, to.k, to.p, to.q)) = {U(values.values[0]), U(values.values[1]),
                                                                            U(values.values[2]), U(values.values[3])};
    }
    __device__ void store_bias(float sum, std::int64_t k) const {
        auto const& bias = bound.head.bias_gradient;
        bias.data[k * bias.layout.stride[0]] = sum;
    }

private:
    __device__ float result(float sum, OutputCoord const& at) const {
        using Epilogue = typename Plan::Epilogue;
        auto const state = Epilogue::prepare(at.n, bound.epilogue);
        return Epilogue::apply(sum, ThreadCoord(at), state, bound.epilogue);
    }
};

}  // namespace fusekit::hip
