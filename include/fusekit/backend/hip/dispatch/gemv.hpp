// SPDX-License-Identifier: MIT
#pragma once

#include "fusekit/backend/hip/dispatch/launcher.hpp"
#include "fusekit/backend/hip/dispatch/orders.hpp"
#include "fusekit/backend/hip/mainloop/gemv.hpp"
#include "fusekit/backend/hip/schedule/gemv.hpp"
#include "fusekit/backend/hip/tuning/select.hpp"

namespace fusekit::hip::detail {

template <>
struct Launcher<GemvEntry> {
    template <class Schedule, Orders orders, class Plan, Element T, OutputElement U>
    FUSEKIT_H static Result<Launch<ConvParams<Plan, T, U>>> prepare(Gpu const& gpu,
                                                                    ConvOperands<Plan, T, U> const& operands, int,
                                                                    IndexLimits const& limits) {
        Unmet unmet = first_unmet(GemvEntry::can_implement<Schedule, T, U>(case_of(operands, is_sm90a(gpu), 0, limits)),
                                  holds(!operands.exceed_offsets(), "offsets in a row exceed 32 bits", "use Direct"));
        if (unmet) return refuse_schedule(type_name<Plan>, GemvEntry::name, unmet);
        return *launch<Schedule>(gpu, operands, 1, unmet);
    }

    /// Prepares a launch. Precondition: can_implement(), and offsets fit 32 bits.
    template <class Schedule, class Plan, Element T, OutputElement U>
    [[gnu::cold]] FUSEKIT_H static Maybe<Launch<ConvParams<Plan, T, U>>> launch(
        Gpu const& gpu, ConvOperands<Plan, T, U> const& operands, int, Unmet&) {
        using Weight = typename Plan::Head::template WeightElement<T>;
        ConvParams<Plan, T, U> params = conv_params(operands);
        GpuRates const rates = rates_of(gpu);
        GroupedProduct const product = operands.product();
        GemvProduct const of{product.m, product.n, operands.weights.shape[1] * std::int64_t{sizeof(T)},
                             std::is_same_v<T, Weight> && GemvEntry::is_by_mma(sizeof(T), rates),
                             has_transposed_conv<Plan>};
        GemvCut const cut = with_tuning(gpu.architecture(),
                                        [&]<class Tuning>(Tuning) { return GemvEntry::cut(of, Tuning::costs, rates); });
        params.gemv = cut.tiles;
        auto const filters = typed<Weight>(Plan::Head::filters(params.bound.head));
        if constexpr (has_transposed_conv<Plan>)
            params.gemv.vector = problem::vectorizable(params.x, 4, 1) && problem::vectorizable(filters, 2, 0) ? 4 : 1;
        else params.gemv.vector = vector_of(params.x, filters);
        return *prepare_launch<Plan, GemvConv<Plan, Schedule, T, U>>(
            gpu, params, divide_up(product.n, cut.tiles.filters()) * cut.tiles.row_tiles.value(), cut.tiles.threads());
    }

private:
    /// Returns the number of elements, a power of two, of the widest load (up to 16 bytes) that is aligned in all rows
    /// of x and of the weights.
    template <class T, class W>
    FUSEKIT_H static int vector_of(TensorView<T> const& x, TensorView<W> const& w) {
        int vector = 16 / static_cast<int>(sizeof(T) > sizeof(W) ? sizeof(T) : sizeof(W));
        while (vector > 1 && !(problem::vectorizable(x, vector, 1) && problem::vectorizable(w, vector, 1))) vector /= 2;
        return vector;
    }
};

}  // namespace fusekit::hip::detail
