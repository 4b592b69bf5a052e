// SPDX-License-Identifier: MIT
#pragma once

#include <type_traits>
#include <utility>

#include "fusekit/backend/hip/arch/list.hpp"
#include "fusekit/backend/hip/arch/target.hpp"
#include "fusekit/backend/hip/schedule/bulk_weights.hpp"
#include "fusekit/backend/hip/schedule/depthwise.hpp"
#include "fusekit/backend/hip/schedule/direct.hpp"
#include "fusekit/backend/hip/schedule/elementwise.hpp"
#include "fusekit/backend/hip/schedule/native_gemm.hpp"
#include "fusekit/backend/hip/schedule/persistent_weights.hpp"
#include "fusekit/backend/hip/schedule/planes.hpp"
#include "fusekit/backend/hip/schedule/reduction.hpp"
#include "fusekit/backend/hip/schedule/warp_specialized.hpp"
#include "fusekit/tensor/products.hpp"

namespace fusekit::hip {

/// Entries of a tuning table, one type per schedule template; the members are the template arguments of the schedule
/// (schedule/).
struct GemmTile {
    int m, n, k, blocks;
};
struct NativeTile {
    int m, n, blocks, k = 8;
};
struct WarpSpecializedTile {
    int m, n, stages;
    Roles roles = Roles::cooperative;
    int blocks = 1;
    Kernels kernels = Kernels::both;
};
struct PlanesTile {
    int pixels, parts;
};
struct WeightCut {
    int rows, columns, pixels, stages, products = 1, blocks = 1;
};
struct ElementwiseCut {
    int threads, bytes, iterations, unroll, blocks, tile_iterations;
};
struct ReductionCut {
    int threads, bytes, unroll, blocks;
};

/// Properties of an elementwise plan on which its tile depends.
struct ElementwiseCase {
    int element_bytes;
    bool pixelwise;  ///< an operator has parameters per pixel
    bool stores;  ///< an operator writes a tensor other than y
};

// A tuning table is a type with
//   Architecture   a tag: the table is for its GPUs, and for tags derived from it without a table of their own
//   gemm           an array of GemmTile: a plan with a Conv or Gemm is compiled once for each of them
//   costs          a CostTable: the model's measured additions to the published rates
//   split          a GemmTile for split-K, for products of float with few tiles per SM
//   matrix_split   with sm_90a: a GemmTile for split-K on its tensor cores
//   chooses_split, chooses_planes
//                  true if the library may select these schedules: only after measurement on a GPU
//   matrix, matrix_float, matrix_tf32, warp_specialized, warp_specialized_int8, warp_specialized_float8
//                  with sm_90a: arrays of GemmTile and WarpSpecializedTile
//   planes, planes_float
//                  with sm_90a: arrays of PlanesTile
//   weights, persistent_weights
//                  with sm_90a: arrays of WeightCut, equally long, for filters of several taps and of one;
//                  max_gradient_cluster: the most CTAs of a cluster on one tile
//   native         optional: an array of NativeTile, in place of gemm, for kernels of 16 and 8 bits and tf32;
//                  native_floats is true if it is for float too; native_bytes replaces it for 8 bits
//   elementwise    a function that returns an ElementwiseCut for an ElementwiseCase
//   reduction      a function that returns a ReductionCut for the bytes of an element

namespace detail {

/// Number of elements of an array. Replaces std::size, whose header includes streams and strings: 20 % of this
/// library's compile time.
template <class T, int count>
consteval int count_of(T const (&)[count]) {
    return count;
}

template <class Tuning, int... i>
FUSEKIT_H constexpr auto gemm_table(std::integer_sequence<int, i...>)
    -> List<Gemm<Tuning::gemm[i].m, Tuning::gemm[i].n, Tuning::gemm[i].k, Tuning::gemm[i].blocks>...>;

/// Tiles of MatrixGemm, whose operands are loaded through registers, for elements T.
template <class Tuning, class T>
struct RegisterTiles {
    static constexpr auto const& tiles = Tuning::matrix;
};
template <class Tuning>
struct RegisterTiles<Tuning, float> {
    static constexpr auto const& tiles = Tuning::matrix_float;
};
template <class Tuning>
struct RegisterTiles<Tuning, tf32> {
    static constexpr auto const& tiles = Tuning::matrix_tf32;
};

template <class Of, int... i>
FUSEKIT_H constexpr auto matrix_table(std::integer_sequence<int, i...>)
    -> List<MatrixGemm<Of::tiles[i].m, Of::tiles[i].n, Of::tiles[i].blocks>...>;

/// NativeGemm schedule that the library may select. Code for sm_90a omits a NativeCandidate if a MatrixGemm is faster.
template <int... cut>
struct NativeCandidate : NativeGemm<cut...> {
    static constexpr bool yields_to_matrix_units = true;
};
template <class Tuning>
concept HasMatrixTiles = requires { Tuning::matrix; };
template <class Tuning, int... cut>
using NativeCandidateOf = std::conditional_t<HasMatrixTiles<Tuning>, NativeCandidate<cut...>, NativeGemm<cut...>>;

/// Tiles of NativeGemm for elements T.
template <class Tuning, class T>
struct NativeTiles {
    static constexpr auto const& tiles = Tuning::native;
};
template <class Tuning, class T>
    requires(sizeof(T) == 1 && requires { Tuning::native_bytes; })
struct NativeTiles<Tuning, T> {
    static constexpr auto const& tiles = Tuning::native_bytes;
};
template <class Tuning, class Of, int... i>
FUSEKIT_H constexpr auto native_table(std::integer_sequence<int, i...>)
    -> List<NativeCandidateOf<Tuning, Of::tiles[i].m, Of::tiles[i].n, Of::tiles[i].blocks, Of::tiles[i].k>...>;

/// Type: list of the Gemm schedules of a tuning table, or of its NativeGemm schedules if is_native.
template <class Tuning, class T, bool is_native>
struct GemmTableOf {
    using Type = decltype(gemm_table<Tuning>(std::make_integer_sequence<int, count_of(Tuning::gemm)>{}));
};
template <class Tuning, class T>
    requires requires { Tuning::native; }
struct GemmTableOf<Tuning, T, true> {
    using Of = NativeTiles<Tuning, T>;
    using Type = decltype(native_table<Tuning, Of>(std::make_integer_sequence<int, count_of(Of::tiles)>{}));
};

/// Tiles of WarpSpecialized, whose operands are loaded by TMA, for elements T.
template <class Tuning, class T>
struct MatrixTiles {
    static constexpr auto const& tiles = Tuning::warp_specialized;
};
template <class Tuning>
struct MatrixTiles<Tuning, int8> {
    static constexpr auto const& tiles = Tuning::warp_specialized_int8;
};
template <class Tuning, class T>
    requires is_float8<T>
struct MatrixTiles<Tuning, T> {
    static constexpr auto const& tiles = Tuning::warp_specialized_float8;
};

template <int m, int n, int stages, Roles roles, int blocks, Kernels kernels,
          class Tile = WarpSpecialized<m, n, stages, roles, blocks>>
using WarpSpecializedWith = std::conditional_t<kernels == Kernels::both, Tile, WithKernels<Tile, kernels>>;

template <class Of, int... i>
FUSEKIT_H constexpr auto warp_specialized_table(std::integer_sequence<int, i...>)
    -> List<WarpSpecializedWith<Of::tiles[i].m, Of::tiles[i].n, Of::tiles[i].stages, Of::tiles[i].roles,
                                Of::tiles[i].blocks, Of::tiles[i].kernels>...>;

/// Tiles of Planes for elements T.
template <class Tuning, class T>
struct PlanesParts {
    static constexpr auto const& parts = Tuning::planes;
};
template <class Tuning>
struct PlanesParts<Tuning, float> {
    static constexpr auto const& parts = Tuning::planes_float;
};

template <class Of, int... i>
FUSEKIT_H constexpr auto planes_table(std::integer_sequence<int, i...>)
    -> List<Planes<Of::parts[i].pixels, Of::parts[i].parts>...>;
template <class... Schedules>
FUSEKIT_H constexpr auto split_table(List<Schedules...>) -> List<Split<Schedules>...>;

/// True if consumer warps have the registers for a tile of weight gradients. In relocatable code those of over
/// 128 x 128 accumulators do not, and take three times as long.
FUSEKIT_H constexpr bool fits_registers(WeightCut const& tile) {
    return !arch::is_relocatable || tile.rows * tile.columns <= 128 * 128;
}
template <class Of, int... i>
FUSEKIT_H constexpr auto weight_table(std::integer_sequence<int, i...>) -> JoinedList<
    std::conditional_t<fits_registers(Of::weights[i]),
                       List<BulkWeights<Of::weights[i].rows, Of::weights[i].columns, Of::weights[i].pixels,
                                        Of::weights[i].stages, Of::weights[i].products>>,
                       List<>>...>;
template <class Of, int... i>
FUSEKIT_H constexpr auto persistent_weight_table(std::integer_sequence<int, i...>)
    -> List<PersistentWeights<Of::persistent_weights[i].rows, Of::persistent_weights[i].columns,
                              Of::persistent_weights[i].pixels, Of::persistent_weights[i].stages,
                              Of::persistent_weights[i].blocks>...>;

template <class Tuning, int element_bytes, bool pixelwise, bool stores>
struct ElementwiseOf {
    static constexpr ElementwiseCut cut = Tuning::elementwise({element_bytes, pixelwise, stores});
    using Type = Elementwise<cut.threads, cut.bytes, cut.iterations, cut.unroll, cut.blocks, cut.tile_iterations>;
};

template <class Tuning, int element_bytes>
struct ReductionOf {
    static constexpr ReductionCut cut = Tuning::reduction(element_bytes);
    using Type = Reduction<cut.threads, cut.bytes, cut.unroll, cut.blocks>;
};

}  // namespace detail

template <class Tuning>
using DefaultSplit = Split<Gemm<Tuning::split.m, Tuning::split.n, Tuning::split.k, Tuning::split.blocks>>;
template <class Tuning>
using DefaultMatrixSplit =
    Split<MatrixGemm<Tuning::matrix_split.m, Tuning::matrix_split.n, Tuning::matrix_split.blocks>>;

template <class Tuning>
using DefaultBulkSplit =
    Split<detail::WarpSpecializedWith<Tuning::warp_specialized_split.m, Tuning::warp_specialized_split.n,
                                      Tuning::warp_specialized_split.stages, Tuning::warp_specialized_split.roles,
                                      Tuning::warp_specialized_split.blocks, Tuning::warp_specialized_split.kernels>>;

/// Type: list of the Gemm or NativeGemm schedules of a tuning table, for x of type T and weights of type W that are
/// multiplied as type F. NativeGemm if T is W and the table has `native`, and for F float if native_floats.
template <class Tuning, class T = float, class W = T, class F = T>
using GemmTable =
    typename detail::GemmTableOf<Tuning, T,
                                 std::is_same_v<T, W> && (!std::is_same_v<F, float> || Tuning::native_floats)>::Type;
template <class Tuning, class T = half>
using MatrixTable = decltype(detail::matrix_table<detail::RegisterTiles<Tuning, T>>(
    std::make_integer_sequence<int, detail::count_of(detail::RegisterTiles<Tuning, T>::tiles)>{}));
template <class Tuning, class T>
using WarpSpecializedTable = decltype(detail::warp_specialized_table<detail::MatrixTiles<Tuning, T>>(
    std::make_integer_sequence<int, detail::count_of(detail::MatrixTiles<Tuning, T>::tiles)>{}));
template <class Tuning, class T>
using PlanesTable = decltype(detail::planes_table<detail::PlanesParts<Tuning, T>>(
    std::make_integer_sequence<int, detail::count_of(detail::PlanesParts<Tuning, T>::parts)>{}));
template <class Tuning, class T>
using PlanesSplitTable = decltype(detail::split_table(PlanesTable<Tuning, T>{}));
/// Type: list of the BulkWeights schedules, and of the PersistentWeights schedules, of a tuning table.
template <class Tuning>
using WeightTable =
    decltype(detail::weight_table<Tuning>(std::make_integer_sequence<int, detail::count_of(Tuning::weights)>{}));
template <class Tuning>
using PersistentWeightTable = decltype(detail::persistent_weight_table<Tuning>(
    std::make_integer_sequence<int, detail::count_of(Tuning::persistent_weights)>{}));
template <class Tuning, class T, bool pixelwise, bool stores = false>
using DefaultElementwise = typename detail::ElementwiseOf<Tuning, sizeof(T), pixelwise, stores>::Type;
template <class Tuning, class T>
using DefaultReduction = typename detail::ReductionOf<Tuning, sizeof(T)>::Type;
using DefaultDirect = Direct<256>;

/// Wider of x's and y's element types. A vector of a schedule's Bytes bytes has this type, so that x and y have one
/// access per vector; the access of the narrower type is shorter.
template <Element T, detail::OutputElement U>
using Wider = std::conditional_t<(sizeof(U) > sizeof(T)), U, T>;
/// Elements of a packet of x and y: 16 bytes of the wider type, at most 8 elements.
template <Element T, detail::OutputElement U>
inline constexpr int packet_elements = sizeof(Wider<T, U>) < 2 ? 8 : 16 / static_cast<int>(sizeof(Wider<T, U>));

}  // namespace fusekit::hip
