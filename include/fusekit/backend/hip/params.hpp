// SPDX-License-Identifier: MIT
#pragma once

#include "fusekit/backend/hip/arch/target.hpp"
#include "fusekit/backend/hip/bulk_maps.hpp"
#include "fusekit/backend/hip/collective/grid_group.hpp"
#include "fusekit/backend/hip/conv_problem.hpp"
#include "fusekit/backend/hip/image_order.hpp"
#include "fusekit/backend/hip/phase_maps.hpp"
#include "fusekit/backend/hip/schedule/col2im.hpp"
#include "fusekit/backend/hip/schedule/depthwise.hpp"
#include "fusekit/backend/hip/schedule/gathered_planes.hpp"
#include "fusekit/backend/hip/schedule/gemv.hpp"
#include "fusekit/backend/hip/schedule/grouped.hpp"
#include "fusekit/backend/hip/schedule/halo.hpp"
#include "fusekit/backend/hip/schedule/phased_halo.hpp"
#include "fusekit/backend/hip/schedule/planes.hpp"
#include "fusekit/backend/hip/schedule/stem.hpp"
#include "fusekit/backend/hip/schedule/stream_k_tail.hpp"
#include "fusekit/backend/hip/schedule/strip_halo.hpp"
#include "fusekit/backend/hip/schedule/tall_gemm.hpp"
#include "fusekit/backend/hip/schedule/tall_planes.hpp"
#include "fusekit/backend/hip/schedule/tma_planes.hpp"
#include "fusekit/backend/hip/slabs.hpp"
#include "fusekit/backend/hip/stem_shape.hpp"
#include "fusekit/backend/hip/stride_phases.hpp"
#include "fusekit/plan/plan.hpp"
#include "fusekit/tensor/products.hpp"

namespace fusekit::hip {

/// Storage for a T in shared memory, where variables must not have constructors.
template <class T>
struct Uninitialized {
    alignas(T) unsigned char bytes[sizeof(T)];

    __device__ T& value() { return *reinterpret_cast<T*>(bytes); }
};

/// Layout of the convolution's output for a y of layout `y`: the same or, before a 2 x 2 pool, with twice the rows and
/// columns.
template <class Plan>
FUSEKIT_HD constexpr Layout<4> conv_output(Layout<4> y) {
    if constexpr (Plan::pools) y.shape[2] *= 2, y.shape[3] *= 2;
    return y;
}

/// Kernel argument: how the statistics of tiles are merged, in two levels. First those of `group_size` consecutive
/// tiles (a group) are merged, then those of all groups. `tiles`: number of tiles.
struct TileGroups {
    /// barrier counters in the workspace: for each column of tiles, one per group and one for all groups; or the
    /// workspace of GridShares (statistics/grid_shares.hpp)
    GroupWorkspace workspace;
    unsigned tiles = 0, group_size = 0;
};

/// Kernel argument of split-K: the number of CTAs that reduce one output tile, and their workspace.
struct SplitK {
    /// barrier counters of each tile, then the accumulators of each CTA; unused if the CTAs of a tile form a cluster
    GroupWorkspace workspace;
    unsigned count = 1;
    unsigned whole = 0;  ///< number of the first tiles that one CTA each computes (StreamKTail)
};

/// True if TMA loads the tensor of y's shape that an operator of the epilogue reads, such as a Residual's z.
template <class Plan, Element T, detail::OutputElement U>
inline constexpr bool reads_in_bulk =
    WarpSpecializedEntry::has_kernel<Plan, T, U> && sizeof(U) == 2 && Plan::Epilogue::reads_named;

/// True if StripHalo loads that tensor by TMA, with statistics, too.
template <class Plan, Element T, detail::OutputElement U>
inline constexpr bool strips_read_in_bulk = StripHaloEntry::has_kernel<Plan, T, U> && Plan::Epilogue::reads_named;

/// True if WarpSpecialized has code with which threads store a y whose pixels are misaligned for TMA: for 16-bit
/// results, unless TMA loads an operator's tensor into the same SMEM buffer, or tiles are of one phase, whose pixels
/// are not consecutive.
template <class Plan, Element T, detail::OutputElement U>
inline constexpr bool stores_by_threads = sizeof(U) == 2 && !reads_in_bulk<Plan, T, U> && !has_phases<Plan>();

/// True if WarpSpecialized has code with which threads load an x or w that is misaligned for TMA
/// (copy/copied_rows.hpp): not with statistics, which the same warps merge, not with Amax, whose maxima occupy the
/// SMEM, not for a TransposedConv, whose weights are not contiguous along GemmK, and not with a Pool, whose tiles have
/// every second row.
template <class Plan, Element T, detail::OutputElement U>
inline constexpr bool copies_rows = sizeof(T) == 2 && sizeof(U) == 2 && !Plan::totals_tiles &&
                                    Plan::Epilogue::maxima == 0 && !has_transposed_conv<Plan> && !Plan::pools;

/// Kernel argument of a plan with a Conv or Gemm.
template <class Plan, Element T, detail::OutputElement U = T>
struct ConvParams {
    BoundPlan<Plan> bound;
    TensorView<T const> x;
    TensorView<U> y;
    bool channels_fastest = true;  ///< true if channels are GemmK's fastest mode, before taps; false if taps are
    bool inputs_vectorized = true;  ///< true if vectors of x along GemmK are contiguous and aligned
    bool weights_vectorized = true;
    problem::Slices<Plan::Head::collapsed_space> slices = {};
    Slabs slabs = {};
    std::conditional_t<Plan::totals_tiles, TileGroups, detail::Nothing> tile_groups = {};
    static constexpr bool by_tma = WarpSpecializedEntry::has_kernel<Plan, T, U> ||
                                   PlanesEntry::has_kernel<Plan, T, U> || StripHaloEntry::has_kernel<Plan, T, U>;
    static constexpr int phases = count_phases<Plan>();
    /// True if WarpSpecialized computes several groups of channels.
    static constexpr bool may_have_groups = WarpSpecializedEntry::may_have_groups<Plan, T, U>;
    static constexpr bool pools = Plan::pools;
    std::conditional_t<!by_tma, detail::Nothing, std::conditional_t<(phases > 1), PhaseMaps<phases>, BulkMaps>> maps =
        {};
    std::conditional_t<!reads_in_bulk<Plan, T, U> && !strips_read_in_bulk<Plan, T, U>, detail::Nothing,
                       std::conditional_t<(phases > 1), PhaseReadMaps<phases>, ReadMap>>
        read = {};
    std::conditional_t<StemEntry::has_kernel<Plan, T, U>, StemTiles, detail::Nothing> stem = {};
    std::conditional_t<DepthwiseEntry::has_kernel<Plan, T, U>, DepthwiseTiles, detail::Nothing> depthwise = {};
    std::conditional_t<DepthwiseEntry::has_halo<Plan, T, U>, DepthwiseHaloTiles, detail::Nothing> depthwise_halo = {};
    std::conditional_t<DepthwiseEntry::has_planes<Plan, T, U>, DepthwisePlaneTiles, detail::Nothing> depthwise_planes =
        {};
    std::conditional_t<GroupedEntry::has_kernel<Plan, T, U>, GroupedTiles, detail::Nothing> grouped = {};
    std::conditional_t<GroupedEntry::has_tma_kernel<Plan, T, U>, GroupedTmaTiles, detail::Nothing> grouped_tma = {};
    std::conditional_t<GatheredPlanesEntry::has_kernel<Plan, T, U>, GatherTiles, detail::Nothing> gather = {};
    std::conditional_t<GemvEntry::has_kernel<Plan, T, U>, GemvTiles, detail::Nothing> gemv = {};
    std::conditional_t<TallGemmEntry::has_kernel<Plan, T, U>, TallTiles, detail::Nothing> tall = {};
    std::conditional_t<TallPlanesEntry::has_kernel<Plan, T, U>, TallPlaneTiles, detail::Nothing> tall_planes = {};
    std::conditional_t<TmaPlanesEntry::has_kernel<Plan, T, U>, TmaPlaneTiles, detail::Nothing> tma_planes = {};
    std::conditional_t<PhasedHaloEntry::has_kernel<Plan, T, U>, PhasedHaloTiles, detail::Nothing> phased_halo = {};
    std::conditional_t<Col2imEntry::has_kernel<Plan, T, U>, Col2imTiles, detail::Nothing> col2im = {};
    std::conditional_t<HaloEntry::has_kernel<Plan, T, U>, TiledHalo, detail::Nothing> tiled_halo = {};
    std::conditional_t<StripHaloEntry::has_kernel<Plan, T, U>, HaloStrips, detail::Nothing> halo_strips = {};
    /// On AMD, true if 32-bit buffer offsets reach x and w, so that ChannelOperands, QuadOperands or TapOperands load
    /// them.
    std::conditional_t<arch::is_targeted<arch::Amd>, bool, detail::Nothing> fits_32bit_offsets = {};
    std::conditional_t<can_split<Plan, T> || has_stream_k_tail<Plan, T>, SplitK, detail::Nothing> split_k = {};

    using Weight = typename Plan::Head::template WeightElement<T>;

    using Groups = problem::GroupsOf<typename Plan::Head>;
    using Geometry = problem::GeometryOf<typename Plan::Head>;

    /// Convolution of all images as an implicit GEMM; ConvProblem::enter() restricts it to a range of images
    /// (slabs.hpp).
    __device__ ConvProblem<T, Plan::Head::collapsed_space, Weight, Groups, Geometry> problem() const {
        return {{x, detail::typed<Weight>(Plan::Head::filters(bound.head)), conv_output<Plan>(y.layout).shape,
                 Plan::Head::geometry(bound.head), problem::groups_of<typename Plan::Head>(bound.head)},
                y.layout.stride,
                slices};
    }
};

/// Kernel argument of a plan without a Conv or Gemm. A packet is a vector of consecutive elements of an image in
/// `order`. An iteration is a range of elements (an image, for example) whose packets have the same operators'
/// parameters as the packets with equal index in the other iterations, so that a thread prepares parameters once.
/// Fields that all threads read come first and are contiguous: the first access to each 64 bytes of a kernel's argument
/// misses a cache, which is 2 % of a small tensor's time.
template <class Plan, Element T, detail::OutputElement U = T>
struct StreamParams {
    ImageOrder order;  ///< memory order in which an image's elements are numbered
    /// divisors: tiles per iteration; packets (vectors of elements) per tile, which one CTA processes
    FastDivmod tiles = {}, packets = {};
    unsigned all_packets = 0;  ///< packets (vectors of elements) per iteration; the last tile may end past them
    /// number of iterations; `splits` threads divide the iterations of each packet index among them
    std::int64_t iterations = 0, splits = 1;
    std::int64_t x_step = 0, y_step = 0;  ///< elements of x and of y from one iteration to the next
    /// elements of x and of y from one iteration of a thread to the next one of the same thread
    std::int64_t x_stride = 0, y_stride = 0;
    BoundPlan<Plan> bound;
    TensorView<T const> x;
    TensorView<U> y;
};

}  // namespace fusekit::hip
