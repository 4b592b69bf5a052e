// SPDX-License-Identifier: MIT
#pragma once

#include "fusekit/backend/hip/arch/target.hpp"
#include "fusekit/backend/hip/bulk_maps.hpp"
#include "fusekit/backend/hip/collective/grid_group.hpp"
#include "fusekit/backend/hip/conv_problem.hpp"
#include "fusekit/backend/hip/image_order.hpp"
#include "fusekit/backend/hip/schedule/planes.hpp"
#include "fusekit/backend/hip/schedule/stem.hpp"
#include "fusekit/backend/hip/slabs.hpp"
#include "fusekit/backend/hip/stem_shape.hpp"
#include "fusekit/plan/plan.hpp"
#include "fusekit/tensor/products.hpp"

namespace fusekit::hip {

/// A value in shared memory, where nothing is constructed.
template <class T>
struct Uninitialized {
    alignas(T) unsigned char bytes[sizeof(T)];

    __device__ T& value() { return *reinterpret_cast<T*>(bytes); }
};

/// Where a mainloop's own outputs would lie: more than y has where a plan pools them.
template <class Plan>
FUSEKIT_HD constexpr Layout<4> conv_output(Layout<4> y) {
    if constexpr (Plan::pools) y.shape[2] *= 2, y.shape[3] *= 2;
    return y;
}

/// The tiles of a grid whose totals are merged: groups of `group_size` neighbouring tiles first, then the groups.
struct TileGroups {
    GroupWorkspace workspace;  ///< a state for each group of each column of tiles, and for each column; or GridShares'
    unsigned tiles = 0, group_size = 0;
};

/// The blocks that share GemmK of a tile.
struct TileParts {
    GroupWorkspace workspace;  ///< a state for each tile and sums of each block, where blocks are not clusters
    unsigned count = 1;
};

/// Whether an operator reads a tensor of y's shape, which TMA loads. Statistics take the shared memory.
template <class Plan, Element T, detail::OutputElement U>
inline constexpr bool reads_in_bulk = WarpSpecializedEntry::has_kernel<Plan, T, U> && sizeof(U) == 2 &&
                                      Plan::Epilogue::reads_named && !Plan::totals_tiles;

/// What the kernel of a plan with a Conv or Gemm is given.
template <class Plan, Element T, detail::OutputElement U = T>
struct ConvParams {
    BoundPlan<Plan> bound;
    TensorView<T const> x;
    TensorView<U> y;
    bool channels_fastest = true;  ///< GemmK runs over channels first, then over taps; else the other way
    bool inputs_vectorized = true;  ///< packets of x along GemmK lie together and are aligned
    bool weights_vectorized = true;
    problem::Slices<Plan::Head::collapsed_space> slices = {};
    Slabs slabs = {};
    std::conditional_t<Plan::totals_tiles, TileGroups, detail::Nothing> tile_groups = {};
    static constexpr bool by_tma = WarpSpecializedEntry::has_kernel<Plan, T, U> || PlanesEntry::has_kernel<Plan, T, U>;
    std::conditional_t<by_tma, BulkMaps, detail::Nothing> maps = {};
    std::conditional_t<reads_in_bulk<Plan, T, U>, ReadMap, detail::Nothing> read = {};
    std::conditional_t<StemEntry::has_kernel<Plan, T, U>, StemShape, detail::Nothing> stem = {};
    /// Whether ChannelOperands, QuadOperands or TapOperands load what a kernel for AMD's matrix units multiplies.
    std::conditional_t<arch::is_targeted<arch::Amd>, bool, detail::Nothing> fits_32bit_offsets = {};
    std::conditional_t<can_split<Plan, T>, TileParts, detail::Nothing> parts = {};

    using Weight = typename Plan::Head::template WeightElement<T>;

    using Groups = problem::GroupsOf<typename Plan::Head>;
    using Geometry = problem::GeometryOf<typename Plan::Head>;

    /// Of all images.
    __device__ ConvProblem<T, Plan::Head::collapsed_space, Weight, Groups, Geometry> problem() const {
        return {{x, detail::typed<Weight>(Plan::Head::filters(bound.head)), conv_output<Plan>(y.layout).shape,
                 Plan::Head::geometry(bound.head), problem::groups_of<typename Plan::Head>(bound.head)},
                y.layout.stride,
                slices};
    }
};

/// What the kernel of a plan without one is given. The tensors are read in `iterations` over the same places, in
/// packets of neighbours; the parameters are the same in each. Numbers that all threads read come first, beside each
/// other: a kernel's first access to each 64 bytes of its argument waits for a cache, 2 % of a small tensor's time.
template <class Plan, Element T, detail::OutputElement U = T>
struct StreamParams {
    ImageOrder order;  ///< in which places are counted
    FastDivmod tiles = {}, packets = {};  ///< of places; packets of one tile, which all of a block are of
    unsigned all_packets = 0;  ///< which the last tile may exceed
    std::int64_t iterations = 0, splits = 1;  ///< and the threads that share those of one place
    std::int64_t x_step = 0, y_step = 0;  ///< elements from one iteration to the next,
    std::int64_t x_stride = 0, y_stride = 0;  ///< and to the next of a thread
    BoundPlan<Plan> bound;
    TensorView<T const> x;
    TensorView<U> y;
};

}  // namespace fusekit::hip
