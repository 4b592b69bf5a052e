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

/// Storage for a value in shared memory, which runs no constructor.
template <class T>
struct Uninitialized {
    alignas(T) unsigned char bytes[sizeof(T)];

    __device__ T& value() { return *reinterpret_cast<T*>(bytes); }
};

/// Layout of the mainloop's outputs: before pooling, twice y's rows and columns.
template <class Plan>
FUSEKIT_HD constexpr Layout<4> conv_output(Layout<4> y) {
    if constexpr (Plan::pools) y.shape[2] *= 2, y.shape[3] *= 2;
    return y;
}

/// Tile groups of a grid that merges totals: first groups of `group_size` consecutive tiles merge, then the groups.
struct TileGroups {
    GroupWorkspace workspace;  ///< a state for each group of each column of tiles and one for each column; or
                               ///< GridShares' workspace
    unsigned tiles = 0, group_size = 0;
};

/// Split-K: the CTAs that reduce one output tile.
struct TileParts {
    GroupWorkspace workspace;  ///< a state for each tile and each CTA's accumulators, if CTAs do not form a cluster
    unsigned count = 1;
};

/// True if TMA loads an operator's tensor of y's shape. Statistics need the SMEM for themselves.
template <class Plan, Element T, detail::OutputElement U>
inline constexpr bool reads_in_bulk = WarpSpecializedEntry::has_kernel<Plan, T, U> && sizeof(U) == 2 &&
                                      Plan::Epilogue::reads_named && !Plan::totals_tiles;

/// Kernel argument of a plan with a Conv or Gemm.
template <class Plan, Element T, detail::OutputElement U = T>
struct ConvParams {
    BoundPlan<Plan> bound;
    TensorView<T const> x;
    TensorView<U> y;
    bool channels_fastest = true;  ///< GemmK order: channels fastest, then taps; else taps fastest
    bool inputs_vectorized = true;  ///< packets of x along GemmK are contiguous and aligned
    bool weights_vectorized = true;
    problem::Slices<Plan::Head::collapsed_space> slices = {};
    Slabs slabs = {};
    std::conditional_t<Plan::totals_tiles, TileGroups, detail::Nothing> tile_groups = {};
    static constexpr bool by_tma = WarpSpecializedEntry::has_kernel<Plan, T, U> || PlanesEntry::has_kernel<Plan, T, U>;
    std::conditional_t<by_tma, BulkMaps, detail::Nothing> maps = {};
    std::conditional_t<reads_in_bulk<Plan, T, U>, ReadMap, detail::Nothing> read = {};
    std::conditional_t<StemEntry::has_kernel<Plan, T, U>, StemShape, detail::Nothing> stem = {};
    /// True if ChannelOperands, QuadOperands or TapOperands load the operands (AMD's matrix units).
    std::conditional_t<arch::is_targeted<arch::Amd>, bool, detail::Nothing> fits_32bit_offsets = {};
    std::conditional_t<can_split<Plan, T>, TileParts, detail::Nothing> parts = {};

    using Weight = typename Plan::Head::template WeightElement<T>;

    using Groups = problem::GroupsOf<typename Plan::Head>;
    using Geometry = problem::GeometryOf<typename Plan::Head>;

    /// Problem of all images.
    __device__ ConvProblem<T, Plan::Head::collapsed_space, Weight, Groups, Geometry> problem() const {
        return {{x, detail::typed<Weight>(Plan::Head::filters(bound.head)), conv_output<Plan>(y.layout).shape,
                 Plan::Head::geometry(bound.head), problem::groups_of<typename Plan::Head>(bound.head)},
                y.layout.stride,
                slices};
    }
};

/// Kernel argument of a plan without a Conv or Gemm. Each of `iterations` covers an equal range of elements, in
/// packets; a packet's parameters are the same in all iterations. Fields that all threads read come first and
/// contiguous: the first access to each 64 bytes of a kernel's argument misses a cache, 2 % of a small tensor's time.
template <class Plan, Element T, detail::OutputElement U = T>
struct StreamParams {
    ImageOrder order;  ///< order of elements
    FastDivmod tiles = {}, packets = {};  ///< tiles of elements; packets per tile, all with one CTA
    unsigned all_packets = 0;  ///< the last tile may exceed them
    std::int64_t iterations = 0, splits = 1;  ///< `splits` threads share the iterations of one packet
    std::int64_t x_step = 0, y_step = 0;  ///< elements from one iteration to the next
    std::int64_t x_stride = 0, y_stride = 0;  ///< elements from one iteration of a thread to its next
    BoundPlan<Plan> bound;
    TensorView<T const> x;
    TensorView<U> y;
};

}  // namespace fusekit::hip
