// SPDX-License-Identifier: MIT
#pragma once

#include "fusekit/backend/hip/arch/target.hpp"
#include "fusekit/backend/hip/bulk_maps.hpp"
#include "fusekit/backend/hip/collective/grid_group.hpp"
#include "fusekit/backend/hip/conv_problem.hpp"
#include "fusekit/backend/hip/image_order.hpp"
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

/// Whether a plan multiplies floats by floats.
template <class Plan, Element T>
inline constexpr bool multiplies_floats =
    std::is_same_v<T, float> && std::is_same_v<typename Plan::Head::template WeightElement<T>, float>;

/// How the user wants a plan's floats to be multiplied (tensor/products.hpp); void where nothing is said.
template <class Plan>
using FloatFactor = typename detail::FactorOf<typename Plan::Head>::Type;

/// What a plan of elements T multiplies: them, or floats cut to tf32, where the user wants it so.
template <class Plan, Element T>
using PlanFactor = std::conditional_t<multiplies_floats<Plan, T> && std::is_same_v<FloatFactor<Plan>, tf32>, tf32, T>;

/// Whether a plan has kernels for sm_90a's matrix units in this program: it multiplies half by half, or bfloat16 by
/// bfloat16.
template <class Plan, Element T>
inline constexpr bool has_matrix_units =
    arch::is_targeted<arch::Sm90a> && (std::is_same_v<T, half> || std::is_same_v<T, bfloat16>) &&
    std::is_same_v<typename Plan::Head::template WeightElement<T>, T>;

/// Whether it has kernels there that multiply floats as sums of bfloat16 (atom/bf16x6.hpp), or as tf32.
template <class Plan, Element T>
inline constexpr bool has_float_units =
    arch::is_targeted<arch::Sm90a> && multiplies_floats<Plan, T> && !std::is_same_v<FloatFactor<Plan>, float>;

/// Whether a plan has kernels whose blocks share a tile's GemmK: of float by float, or on sm_90a's matrix units,
/// without totals of tiles.
template <class Plan, Element T>
inline constexpr bool has_split = (multiplies_floats<Plan, T> || has_matrix_units<Plan, T>) && !Plan::totals_tiles;

/// Whether a plan's head is a TransposedConv: its filters are those of a Conv, transposed and in reverse.
template <class Plan>
inline constexpr bool has_transposed_conv = detail::is_transposed<problem::GeometryOf<typename Plan::Head>>;

/// Whether its head may be several products: of groups of channels, or of a batch.
template <class Plan>
inline constexpr bool may_have_groups = Plan::Head::may_be_grouped || BatchedOp<typename Plan::Head>;

/// Whether it multiplies elements of 8 bits there.
template <class Plan, Element T>
inline constexpr bool has_byte_units =
    arch::is_targeted<arch::Sm90a> && (std::is_same_v<T, int8> || std::is_same_v<T, e4m3> || std::is_same_v<T, e5m2>) &&
    std::is_same_v<typename Plan::Head::template WeightElement<T>, T>;

/// Whether bulk copies may bring a plan's operands: there is no operator before the head and no pool, no weights of
/// each matrix, and no stride of a transposed convolution.
template <class Plan>
inline constexpr bool may_copy_in_bulk =
    Plan::Head::collapsed_space == 2 && !Plan::has_prologue && !Plan::pools &&
    problem::GroupsOf<typename Plan::Head>::of_channels && !detail::spreads<problem::GeometryOf<typename Plan::Head>>;

/// Whether a plan has kernels there that copy in bulk: of 16 or 8 bits with weights of the same type. They need y of
/// x's type, or of 16 bits where x has 8; of 8 bits no statistics, and no transposed convolution.
template <class Plan, Element T, detail::OutputElement U>
inline constexpr bool has_warp_specialized =
    may_copy_in_bulk<Plan> && ((has_matrix_units<Plan, T> && std::is_same_v<T, U>) ||
                               (has_byte_units<Plan, T> && !Plan::totals_tiles && !has_transposed_conv<Plan> &&
                                (std::is_same_v<U, T> || std::is_same_v<U, half> || std::is_same_v<U, bfloat16>)));

/// Whether an operator of theirs reads a tensor of y's shape, which bulk copies bring. Statistics take the room.
template <class Plan, Element T, detail::OutputElement U>
inline constexpr bool reads_in_bulk =
    has_warp_specialized<Plan, T, U> && sizeof(U) == 2 && Plan::Epilogue::reads_named && !Plan::totals_tiles;

/// Whether a plan has a Conv of several taps and no groups, whose taps follow one another in a row; `suits` is asked of
/// a filter that the plan's type has.
template <class Plan>
consteval bool may_have_taps(bool (*suits)(Filter<2> const&)) {
    if constexpr (has_transposed_conv<Plan>) {
        return false;
    } else if constexpr (requires { Plan::Head::collapsed.size.w; } && Plan::Head::collapsed_space == 2) {
        Filter<2> const filter = Plan::Head::collapsed;
        return Plan::Head::longest > 1 && filter.group_count == 1 && filter.dilations[1] == 1 && suits(filter);
    } else {
        return Plan::Head::longest > 1;
    }
}

/// Whether a plan also has a kernel there that reads a tile of x once for all taps.
template <class Plan, Element T, detail::OutputElement U>
inline constexpr bool has_halo =
    has_warp_specialized<Plan, T, U> &&
    (has_transposed_conv<Plan> ? Plan::Head::longest > 1 : may_have_taps<Plan>([](Filter<2> const& filter) {
        return filter.strides[0] == 1 && filter.strides[1] == 1 && filter.dilations[0] == 1;
    }));

/// Whether a plan also has a kernel there for x of few channels, and totals nothing. Parameters of every place take
/// more registers than its threads have.
template <class Plan, Element T, detail::OutputElement U>
inline constexpr bool has_stem =
    has_warp_specialized<Plan, T, U> && sizeof(T) == 2 && !Plan::totals_tiles && !Plan::Epilogue::per_place &&
    may_have_taps<Plan>([](Filter<2> const&) { return true; });

/// Whether a plan also has a kernel there for tensors whose planes lie together, of 16 bits or of float: one of a Conv,
/// whose operators do not ask where an element lies.
template <class Plan, Element T, detail::OutputElement U>
inline constexpr bool has_planes =
    may_copy_in_bulk<Plan> && std::is_same_v<T, U> &&
    (has_matrix_units<Plan, T> || (has_float_units<Plan, T> && !std::is_same_v<FloatFactor<Plan>, tf32>)) &&
    requires { Plan::Head::space; } && !Plan::totals_tiles && !Plan::Epilogue::located && !Plan::Epilogue::per_place &&
    !Plan::Epilogue::stores && !has_transposed_conv<Plan>;

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
    std::conditional_t<has_warp_specialized<Plan, T, U> || has_planes<Plan, T, U>, BulkMaps, detail::Nothing> maps = {};
    std::conditional_t<reads_in_bulk<Plan, T, U>, ReadMap, detail::Nothing> read = {};
    std::conditional_t<has_stem<Plan, T, U>, StemShape, detail::Nothing> stem = {};
    /// Whether ChannelOperands, QuadOperands or TapOperands load what a kernel for AMD's matrix units multiplies.
    std::conditional_t<arch::is_targeted<arch::Amd>, bool, detail::Nothing> fits_32bit_offsets = {};
    std::conditional_t<has_split<Plan, T>, TileParts, detail::Nothing> parts = {};

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
