// SPDX-License-Identifier: MIT
#pragma once

#include "fusekit/backend/hip/copy/amd/quad_loads.hpp"
#include "fusekit/backend/hip/copy/amd/table_operands.hpp"

namespace fusekit::hip {

namespace detail {

template <class Plan, class Atom, Element T, OutputElement U>
struct QuadOperandsOf {
    static constexpr bool padded = Plan::Head::may_be_padded;
    static constexpr int table = Atom::tile_m >= 128 ? 128 : 64;
    using Weight = typename Plan::Head::template WeightElement<T>;
    using Base = TableOperands<Plan, Atom, T, U, QuadLoads<T, Atom::tile_m, Atom::tile_k, Atom::threads, padded>,
                               FilterPackets<Weight, Atom::tile_n, Atom::tile_k, Atom::threads, !Plan::totals_tiles>,
                               QuadOffsets<T, Weight, table, Plan::Head::collapsed_space, padded>, table>;
};

}  // namespace detail

/// Operand loader for x in quads of four consecutive pixels (NCHW, column stride 1) and w in 16 bytes along GemmK, by
/// buffer loads at 32-bit offsets from an LDS table (QuadOffsets). For filters whose size is known at run time;
/// TapOperands is for filters in the plan's type.
template <class Plan, class Atom, Element T, detail::OutputElement U>
class QuadOperands : public detail::QuadOperandsOf<Plan, Atom, T, U>::Base {
    using Base = typename detail::QuadOperandsOf<Plan, Atom, T, U>::Base;
    using Base::conv, Base::inputs, Base::offsets, Base::weights;

public:
    using typename Base::Shared, typename Base::Stage, typename Base::Step;
    static constexpr bool has_table = true;

    template <class Tile>
    __device__ QuadOperands(typename Base::Params const& params, typename Base::Problem const& the_conv, Shared& shared,
                            Pixel const* pixels, Tile const& at, unsigned thread)
        : Base(params, the_conv, shared, pixels, at, thread) {
        if constexpr (Base::padded) inputs.find_position(Plan::Head::collapsed_space, 0, conv.window_columns() - 1);
    }

    /// Fills the LDS table with the offsets and selectors of k-tile `step` and those after it; returns the number of
    /// k-tiles that the table covers. All threads call it.
    __device__ int find(int step) const {
        this->fill_table(step, [&](unsigned i, KCoord const& at, auto const& k_offset) {
            offsets.put(i, k_offset.x, k_offset.w, at.s, conv);
        });
        return Base::table_steps;
    }
    __device__ static int stride() { return Base::tile_k; }
    __device__ void start(Step step, Stage&) {
        inputs.load(offsets, step);
        weights.find(offsets, step);
        weights.load();
    }
};

}  // namespace fusekit::hip
