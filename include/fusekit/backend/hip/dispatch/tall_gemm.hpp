// SPDX-License-Identifier: MIT
#pragma once

#include "fusekit/backend/hip/dispatch/launcher.hpp"
#include "fusekit/backend/hip/mainloop/tall_gemm.hpp"
#include "fusekit/backend/hip/schedule/tall_gemm.hpp"

namespace fusekit::hip::detail {

template <>
struct Launcher<TallGemmEntry> {
    template <class Schedule, class Plan, Element T, OutputElement U>
    [[gnu::cold]] FUSEKIT_H static Maybe<Launch<ConvParams<Plan, T, U>>> launch(
        Gpu const& gpu, ConvOperands<Plan, T, U> const& operands, int, Unmet& unmet) {
        auto const kernel = kernel_of<Plan, TallGemmConv<Plan, Schedule, T, U>>();
        ConvParams<Plan, T, U> params = conv_params(operands);
        auto const filters = typed<T>(Plan::Head::filters(params.bound.head));
        Layout<4> const& w = filters.layout;
        GroupedProduct const product = operands.product();
        std::int64_t const c = operands.weights.shape[1];
        params.tall = TallTiles::of(product.m, c, product.n, sizeof(U), has_transposed_conv<Plan>);
        unmet = first_unmet(
            unmet_by_code(gpu, kernel),
            holds(has_transposed_conv<Plan> || ((c == 1 || w.stride[1] == 1) && (product.n == 1 || w.stride[0] == c) &&
                                                problem::aligned(filters.data, 16)),
                  "the filters are not dense, with channels last, at a multiple of 16 bytes", "use WarpSpecialized"),
            holds(params.tall.rows > 0, "a tile exceeds shared memory", "use WarpSpecialized"));
        if (unmet) return {};
        if constexpr (has_transposed_conv<Plan>) {
            for (int const vector : {2, 4, 8})
                if (problem::vectorizable(filters, vector, 0)) params.tall.filter_vector = vector;
        }
        std::int64_t const most = std::int64_t{Schedule::blocks} * gpu.processors(), tiles = params.tall.tiles;
        return *prepare_launch(gpu, kernel, params, tiles < most ? tiles : most);
    }
};

}  // namespace fusekit::hip::detail
