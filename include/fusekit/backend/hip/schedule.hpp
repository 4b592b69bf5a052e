// SPDX-License-Identifier: MIT
#pragma once

#include <type_traits>
#include <utility>

#include "fusekit/backend/hip/arch/bulk_row.hpp"
#include "fusekit/backend/hip/atom/simt.hpp"
#include "fusekit/backend/hip/schedule_kind.hpp"
#include "fusekit/plan/reduction.hpp"
#include "fusekit/plan/structure.hpp"
#include "fusekit/tensor/dtype.hpp"
#include "fusekit/tensor/products.hpp"

namespace fusekit::hip {

/// How an implicit GEMM is cut: a block computes TileM output pixels of TileN channels and walks GemmK in steps of
/// TileK; a thread computes 8 pixels of 8 channels. Blocks is how many blocks a processor is meant to hold at once.
template <int TileM, int TileN, int TileK, int Blocks = 2>
struct Gemm {
    static constexpr int tile_m = TileM, tile_n = TileN, tile_k = TileK, blocks = Blocks;
    static constexpr int threads = SimtShape{TileM, TileN, TileK}.threads();
};

/// The same with the best that the processor has (atom/native.hpp): 16 and 8 bits are multiplied on matrix
/// units or by dot instructions, where there are some, in steps of their own; TileK is for plain arithmetic. A thread
/// computes 64 sums.
template <int TileM, int TileN, int Blocks = 2, int TileK = 8>
struct NativeGemm {
    static constexpr int tile_m = TileM, tile_n = TileN, tile_k = TileK, blocks = Blocks;
    static constexpr int threads = SimtShape{TileM, TileN, TileK}.threads();
    static constexpr bool is_native = true;
};

/// The same on matrix units, for half, bfloat16 and float: a warpgroup of 128 threads computes 64 pixels of TileN
/// channels. Operands reach shared memory through registers, whatever their layout, their padding and what stands
/// before a Conv. Floats are sums of three bfloat16 there (atom/bf16x6.hpp), which take three times the shared memory,
/// or, by Products<tf32>, cut to TF32.
template <int TileM, int TileN, int Blocks = 2>
struct MatrixGemm {
    static constexpr int tile_m = TileM, tile_n = TileN, tile_k = 64, blocks = Blocks;
    static constexpr int threads = TileM / 64 * 128;
    static constexpr bool on_matrix_units = true;
};

/// A Gemm, a MatrixGemm, WarpSpecialized<64, 64, Stages> or Planes of 16 bits whose tiles' GemmK neighbouring blocks
/// share, Parts of them: 2, 4 or 8; 0 where the library chooses the number with the schedule. Planes are shared by one
/// block for each 64 channels of x at most.
template <class Schedule, int Parts = 0>
struct Split : Schedule {
    using Whole = Schedule;
    static constexpr int parts = Parts;
    static constexpr int piece_k = Schedule::threads < 128 ? 64 : 128;  ///< parts begin at its multiples
};

/// How warpgroups share a product on sm_90a. Cooperative: they multiply one tile, 64 channels each. Ping-pong: two have
/// a tile each, and one multiplies while the other's results go through the epilogue.
enum class Roles { cooperative, ping_pong };

/// How an implicit GEMM on sm_90a's matrix units is cut, for 16 and 8 bits: a tile has TileM output pixels of
/// TileN channels. One warp copies operands, 128 bytes of GemmK at a time, or, of 8 bits where TileN is 64, 64 bytes,
/// into Stages of shared memory; warpgroups multiply them. A block computes tile after tile. Blocks is as in Gemm.
template <int TileM, int TileN, int Stages, Roles TheRoles = Roles::cooperative, int Blocks = 1>
struct WarpSpecialized {
    static constexpr int tile_m = TileM, tile_n = TileN, stages = Stages, blocks = Blocks;
    static constexpr Roles roles = TheRoles;
    static constexpr bool ping_pong = roles == Roles::ping_pong;
    static constexpr int consumers = ping_pong ? 2 : TileN / 64;  ///< warpgroups that multiply
    static constexpr int products = ping_pong ? TileN / 64 : 1;  ///< of 64 channels, which each of them has
    static constexpr int threads = (consumers + 1) * 128;
    /// Of operands of so many bytes an element, and of y with 16 bits.
    FUSEKIT_H static constexpr int shared_bytes(int element_bytes) {
        return stages * (TileM + TileN) * bulk_row_bytes(TileN, element_bytes) + consumers * products * TileM * 128;
    }
};

/// How a convolution of 64 channels at most, of x and of y, is cut on sm_90a's matrix units, where its stride and
/// dilation are 1: a tile has rows of y, Pixels with what lies between rows, and copies their rows of x once for all
/// taps. Filters of most_taps taps stay in shared memory.
template <int Pixels = 232>
struct Halo {
    static constexpr int pixels = Pixels, channels = 64, most_taps = 9, most_stages = 8, halo_bytes = 150 * 1024;
    static constexpr int consumers = 2, threads = (consumers + 1) * 128, blocks = 1;
};

/// How a convolution of planes is cut on sm_90a's matrix units, where its stride and dilation are 1: a block computes
/// 128 channels, of floats 64, of Parts parts of y, each of Pixels places at most: rows of an image, or, of single
/// pixels, any. Parts of 64 and 56 are whole images of 8 x 8 and 7 x 7. Floats may have channels last.
template <int Pixels = 240, int Parts = 1>
struct Planes {
    static constexpr int pixels = Pixels, parts = Parts, consumers = 2;
    static constexpr int products = Pixels > 128 ? 2 : 1;  ///< that have the places of a part
    static constexpr int threads = (consumers + 2) * 128, blocks = 1;
    FUSEKIT_H static constexpr int channels(int element_bytes) { return element_bytes == 4 ? 64 : 64 * consumers; }
    /// Of shared memory for x, whose elements have so many bytes.
    FUSEKIT_H static constexpr int x_bytes(int size) { return (size == 4 ? 189 : Pixels > 128 ? 141 : 152) * 1024; }
};

/// How a convolution of few channels of x is cut on sm_90a's matrix units: Warpgroups have tiles of 64 pixels and 64
/// channels of y, one after another. A block keeps most_panels panels of 64 indices of GemmK of its filters, and of
/// each warpgroup two stages of x.
template <int Warpgroups = 4>
struct Stem {
    static constexpr int pixels = 64, channels = 64, most_panels = 8, consumers = Warpgroups;
    static constexpr int stage_bytes = 96 * 1024 / (2 * Warpgroups) / 128 * 128;
    static constexpr int threads = consumers * 128, blocks = 1;
};

/// How a gradient by the weights is cut on sm_90a's matrix units: a block computes Rows channels of y of Columns taps
/// and channels of x, and takes Pixels at a time through so many stages. A warpgroup has Products times 64 rows.
template <int Rows, int Columns, int Pixels, int Stages, int Products = 1>
struct BulkWeights {
    static constexpr int rows = Rows, columns = Columns, pixels = Pixels, stages = Stages, products = Products;
    static constexpr int warpgroups = Rows / (64 * Products);
    /// Whether registers have room to add up sums of few pixels; else a block takes unpromoted_pixels at most.
    static constexpr bool promotes = Columns * Products <= 128 && warpgroups <= 2;
    static constexpr int unpromoted_pixels = 4096;
};

/// How thin convolutions, with few channels a group, are cut: a thread computes one output at a time.
template <int Threads = 256>
struct Direct {
    static constexpr int threads = Threads, blocks = 2, outputs = 1;
};

/// How a plan without a Conv is cut: a thread has Bytes of neighbouring places, whose parameters it prepares once, and
/// takes Iterations steps over the batch, Unroll loads ahead of the arithmetic. Blocks is as in Gemm. Where channels
/// are last and the block prepares their parameters, a thread takes TileIterations steps over pixels.
template <int Threads = 256, int Bytes = 16, int Iterations = 8, int Unroll = 4, int Blocks = 1280 / Threads,
          int TileIterations = Iterations>
struct Elementwise {
    static constexpr int threads = Threads, bytes = Bytes, iterations = Iterations, unroll = Unroll, blocks = Blocks,
                         tile_iterations = TileIterations;
};

/// How a plan that reduces is cut: a thread has Unroll loads of Bytes in flight at a time. Blocks is as in Gemm; small
/// segments have smaller blocks.
template <int Threads = 256, int Bytes = 16, int Unroll = 8, int Blocks = 512 / Threads>
struct Reduction {
    static constexpr int threads = Threads, bytes = Bytes, unroll = Unroll, blocks = Blocks;
    static constexpr bool merges_blocks = true;
};

/// What a device takes that runs with one schedule, or with the library's choice where Schedule is void. Refuses, in
/// words, what does not suit the schedule. It is one function, because compilers print all that led to an error.
template <class Schedule>
struct Suits {
    template <class X, class BoundPlan>
    static consteval bool takes(void const*, BoundPlan const*) {
        using Plan = typename BoundPlan::Plan;
        using T = std::remove_cvref_t<decltype(*std::declval<X const&>().const_view().data)>;
        constexpr bool on_gpu = !std::is_same_v<T, double>, chosen = !std::is_void_v<Schedule>;
        static_assert(
            on_gpu, "double runs on the host only: a plan on a GPU takes float, half, bfloat16, int8 or 8-bit floats");
        if constexpr (!on_gpu || !chosen) {
            return on_gpu;
        } else {
            constexpr bool warps = WarpSpecializedSchedule<Schedule>, planes = PlanesSchedule<Schedule>,
                           stem = StemSchedule<Schedule>, halo = HaloSchedule<Schedule> || planes || stem;
            constexpr bool gemm = GemmSchedule<Schedule>, reduction = Plan::head_kind == detail::HeadKind::reduction;
            constexpr bool right_kind = Plan::has_mainloop ? gemm || warps || halo || DirectSchedule<Schedule>
                                        : reduction        ? ReductionSchedule<Schedule>
                                                           : ElementwiseSchedule<Schedule>;
            static_assert(right_kind,
                          "a plan with a Conv or Gemm runs with Gemm or Direct, one of batch statistics with "
                          "Reduction, others with "
                          "Elementwise, or with a type that has all the numbers of one of them");
            constexpr bool one = (Plan::pools && !Plan::has_mainloop) || Plan::has_weight_gradient;
            static_assert(!one, "a ConvWeightGradient, or a plan that pools what it reads, has the library's schedule");
            if constexpr (right_kind && !one) {
                constexpr int threads = Schedule::threads;
                constexpr bool block = threads > 0 && threads <= 1024;
                static_assert(block, "a block has 1 to 1024 threads");
                constexpr bool holds = !block || (Schedule::blocks > 0 && threads * Schedule::blocks <= 2048);
                static_assert(holds, "a processor holds 1 block or more, of 2048 threads together");
                constexpr bool splits = !SplitSchedule<Schedule> || may_split<Plan, T>();
                static_assert(splits,
                              "Split: a Gemm of float by float, a MatrixGemm, or WarpSpecialized<64, 64, Stages> or "
                              "Planes of 16 bits, in 2, 4 or 8 parts; a plan without ChannelStatistics");
                if constexpr (!block || !holds || !splits) {
                    return false;
                } else if constexpr (reduction) {
                    constexpr bool halves = threads >= 64 && (threads & (threads - 1)) == 0;
                    static_assert(halves, "Reduction: the threads of a block are a power of two, and 64 or more");
                    constexpr bool loads = Schedule::bytes == 16 || Schedule::bytes == 8 || Schedule::bytes == 4;
                    static_assert(loads, "Reduction: a thread loads 4, 8 or 16 bytes at a time");
                    constexpr bool steps = Schedule::unroll >= 2;
                    static_assert(steps, "Reduction: a thread has 2 loads or more in flight");
                    using Total = typename detail::ReductionSteps<typename Plan::Head>::template Total<float>;
                    constexpr bool fits = threads * (Schedule::bytes / sizeof(T)) * sizeof(Total) < 48 * 1024;
                    static_assert(
                        fits, "Reduction: a block's totals, one a thread and an element of its loads, must fit 48 KB");
                    return halves && loads && steps && fits;
                } else if constexpr (!Plan::has_mainloop) {
                    constexpr bool loads = Schedule::bytes == 16 || Schedule::bytes == 8 || Schedule::bytes == 4;
                    static_assert(loads, "Elementwise: a thread loads 4, 8 or 16 bytes at a time");
                    constexpr bool steps =
                        Schedule::iterations > 0 && Schedule::tile_iterations > 0 && Schedule::unroll > 0;
                    static_assert(steps,
                                  "Elementwise: a thread takes 1 step or more, and has 1 load or more in flight");
                    return loads && steps;
                } else if constexpr (warps || halo || MatrixSchedule<Schedule>) {
                    using Weight = typename Plan::Head::template WeightElement<T>;
                    constexpr bool of_float = std::is_same_v<T, float>, of_bytes = sizeof(T) == 1;
                    constexpr bool factors =
                        (std::is_same_v<T, half> || std::is_same_v<T, bfloat16> ||
                         ((warps || HaloSchedule<Schedule>) && of_bytes && !std::is_same_v<T, e4m3_fnuz> &&
                          !std::is_same_v<T, e5m2_fnuz>) ||
                         ((MatrixSchedule<Schedule> || planes) && of_float &&
                          !std::is_same_v<typename detail::FactorOf<typename Plan::Head>::Type, float>)) &&
                        std::is_same_v<T, Weight>;
                    static_assert(
                        factors,
                        "matrix units multiply half by half, or bfloat16 by bfloat16; WarpSpecialized and Halo: or "
                        "int8 by int8, e4m3 by e4m3 or e5m2 by e5m2; MatrixGemm and Planes: or float by float, where "
                        "no Products<float> are asked for");
                    constexpr bool plain = !(warps || halo) || (!Plan::has_prologue && !Plan::pools);
                    static_assert(
                        plain,
                        "WarpSpecialized, Halo, Planes and Stem: a plan without operators before the Conv or Gemm "
                        "and without Pool");
                    constexpr bool totals = !(planes || stem || of_bytes) || !Plan::totals_tiles;
                    static_assert(totals, "Planes, Stem, and all of 8 bits: a plan without ChannelStatistics");
                    constexpr bool places =
                        !planes || (!Plan::Epilogue::located && !Plan::Epilogue::per_place && !Plan::Epilogue::stores);
                    static_assert(places,
                                  "Planes: a plan of a Conv whose operators read and write no other tensor by place");
                    if constexpr (halo) {
                        constexpr int pixels = Schedule::pixels, of_tile = stem ? 64 : of_bytes ? 240 : 232;
                        constexpr bool tile =
                            planes ? pixels == 240 || pixels == 64 || pixels == 56 : pixels == of_tile;
                        static_assert(tile,
                                      "tiles of Halo have 232 pixels, of 8 bits 240; parts of Planes 240, 64, 56");
                        return factors && plain && totals && places && tile;
                    } else {
                        constexpr int m = Schedule::tile_m, n = Schedule::tile_n;
                        constexpr bool tile = (m == 64 || m == 128 || m == 256 || (warps && (m == 96 || m == 192))) &&
                                              (n == 64 || n == 128);
                        static_assert(tile,
                                      "matrix units: TileM is 64, 128 or 256, of WarpSpecialized also 96 or 192, and "
                                      "TileN 64 or 128");
                        if constexpr (warps) {
                            constexpr bool fits =
                                Schedule::stages >= 2 && Schedule::shared_bytes(sizeof(T)) <= 224 * 1024;
                            static_assert(fits,
                                          "WarpSpecialized: 2 stages or more of (TileM + TileN) 128 bytes, and 128 "
                                          "TileM bytes for each 64 channels, or in turns twice as many, must fit 224 "
                                          "KB; stages of 8 bits with TileN 64 have half as many");
                            return factors && tile && plain && totals && fits;
                        } else if constexpr (of_float) {
                            constexpr bool fits = m + n <= 256;
                            static_assert(fits,
                                          "MatrixGemm of float: two stages of (TileM + TileN) 384 bytes must fit 192 "
                                          "KB");
                            return factors && tile && fits;
                        }
                        return factors && tile;
                    }
                } else if constexpr (gemm) {
                    constexpr SimtShape tile{Schedule::tile_m, Schedule::tile_n, Schedule::tile_k};
                    constexpr bool whole = tile.has_whole_waves();
                    static_assert(whole,
                                  "Gemm: TileM must be a multiple of 64 and TileN of 32, the 8 x 8 shares of a wave");
                    constexpr bool columns = !whole || tile.has_whole_columns();
                    static_assert(columns,
                                  "Gemm: the threads, TileM TileN / 64, must be a multiple of TileM and of TileN");
                    constexpr bool shares = !whole || tile.has_equal_shares();
                    static_assert(shares,
                                  "Gemm: the threads, TileM TileN / 64, must divide TileM TileK and TileN TileK");
                    constexpr bool fits = !whole || tile.shared_bytes() <= 38 * 1024;
                    static_assert(fits, "Gemm: two buffers of (TileM + TileN + 8) TileK floats must fit 38 KB");
                    constexpr bool units = !NativeSchedule<Schedule> || Schedule::tile_n % 64 == 0;
                    static_assert(units, "NativeGemm: TileN is a multiple of 64, the channels of a wave");
                    return whole && columns && shares && fits && units;
                }
                return true;
            }
            return false;
        }
    }

private:
    /// Whether a Split is of what it may be, and in so many parts.
    template <class Plan, class T>
    static consteval bool may_split() {
        if constexpr (SplitSchedule<Schedule>) {
            constexpr bool of_float = std::is_same_v<T, float> &&
                                      std::is_same_v<typename Plan::Head::template WeightElement<T>, float> &&
                                      GemmSchedule<Schedule> && !NativeSchedule<Schedule>;
            constexpr int parts = Schedule::parts;
            bool in_bulk = PlanesSchedule<Schedule>;
            if constexpr (WarpSpecializedSchedule<Schedule>) in_bulk = Schedule::tile_m == 64 && Schedule::tile_n == 64;
            return (of_float || MatrixSchedule<Schedule> || (in_bulk && sizeof(T) == 2)) && !Plan::totals_tiles &&
                   (parts == 2 || parts == 4 || parts == 8);
        }
        return true;
    }
};

}  // namespace fusekit::hip
