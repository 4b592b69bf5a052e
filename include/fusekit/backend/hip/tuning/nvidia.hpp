// SPDX-License-Identifier: MIT
#pragma once

#include "fusekit/backend/hip/arch/tags.hpp"
#include "fusekit/backend/hip/tuning/cost.hpp"
#include "fusekit/backend/hip/tuning/policy.hpp"

namespace fusekit::hip {

/// Tiles and costs for sm_90, measured on an H200 and an H100, and used for other NVIDIA GPUs too.
struct NvidiaTuning {
    using Architecture = arch::Nvidia;

    /// Fitted costs, with the error of the estimated times (root mean square for the GEMMs):
    /// GEMMs: 130 convolutions of batch 1 to 128, H100: 11 %.
    /// TMA loads: 13 layers of batch 1 to 256 with five schedules, H200: 8 %.
    /// Planes: 13 layers of batch 1 to 64: float on an H100 7 %; half on an H200 6 % for 1x1 filters, 18 % for larger
    /// filters, 11 % for split-K.
    /// Stem: 12 first layers and 22 of 1x1 filters, H200: 20 %.
    /// Groups of Halo, of WarpSpecialized: 22 and 33 layers of batch 1 to 32, H200.
    /// Totals (statistics): 13 layers of batch 8 to 256, H100. Halo: H200 and H100; 8-bit: three layers of batch 8 to
    /// 256, H100.
    /// Weight gradients: L2 and memory of an H100; `overlap`: 29 layers of one tap, H200, the choice takes 1.03 of the
    /// fastest one's time, 1.05 without it; `persistent`: 16 layers; `cluster_streamed`: 84 layers,
    /// H200, the choice takes 1.009 of the fastest one's time, 1.015 without it. `simt` is fitted on an H200 for 2 and
    /// 3 waves. `direct`: 36 grouped convolutions of half, H200: 3x3 and larger filters take 0.8 to 1.4 of it, 1x1
    /// filters 2 to 3. TMA's `copy`: 3 layers of 116, 122 and 57 channels, H200, 22 to 68 cycles. TMA's rows of few
    /// channels: 20 layers of 16 to 232 channels; their factor with ping-pong: 65 layers with four or five schedules
    /// each, H200. The choice takes 1.02 and 1.01 of the fastest one's time, 1.09 and 1.03 without it. GatheredPlanes:
    /// 30 layers of batch 32, H200; a step takes 1.45 times gather_cycles(). PhasedHalo: 14 gradients of batch 32,
    /// H200. WarpSpecialized's costs, TMA's `chain`, `exchange` and `stored_pixel`, split_warp_specialized, bulk_split:
    /// 146 layers of batch 1 to 128 with ten tiles each, most of them short, and 29 larger ones, H200: 13 %; the choice
    /// takes 1.02 of the fastest one's time, 1.03 before. `launch` of ping-pong and `output` of cooperative roles refit
    /// for plain kernels (bench/results/h200/plain_kernels.txt): 397 layers, the choice takes 1.018, 1.021 before.
    /// `split_cache`: 18 splits of 74 layers (bench/results/h200/tiles.txt), which take 1.00 of it, 1.04 before.
    /// TallGemm: 32 layers, H200: 19 %. Gemv: 8 layers of batch 1 and 32, H200. A step waits for memory once, about 700
    /// cycles. `arithmetic`: for each FMA instruction there is another one that loads or converts. Halo of several
    /// tiles per row, and of streamed filters: 31 layers of batch 32, H200. Gradients by x: TallGemm 31 layers, 9 %;
    /// WarpSpecialized's MN-major filters 50 layers with up to seven tiles each; Col2im 5 layers, 10 %; batch 32, H200.
    /// The choice takes 1.01 of the fastest one's time, 1.04 without the costs of MN-major filters. StripHalo: 43
    /// layers and gradients by x of batch 1 to 32, H200, relative to the other schedules' estimates: 10
    /// %.
    /// Planes of floats with several taps: 10 layers of batch 32, H200. TallPlanes: 50 layers of batch 32, H200: 12 %.
    /// TmaPlanes: 21 layers of batch 32, H200: 10 %, most for 16 channels.
    /// Halo with tiles of 64 channels of y, TMA's `beside_narrow`, `packed_pixel` and `divided_cache`,
    /// and Gemv's gradients: 290 layers and gradients by x of batch 1 to 64, H200
    /// (bench/results/h200/forward_choices.txt): Halo 12 %. The choice takes 1.020 of the fastest one's time, 1.044
    /// before.
    static constexpr CostTable costs = {
        .gemm = {.launch = 4060, .output = 0.25},
        .native = {.launch = 4060, .output = 0.25, .arithmetic = 4},
        .matrix = {.round = 7700, .output = 0.34, .step = 3380, .arithmetic = 2.6},
        .gathering_matrix = {.launch = 630, .round = 5200, .output = 0.1, .step = 2660, .arithmetic = 3.2},
        .float_matrix = {.launch = 180, .round = 6400, .output = 0.83, .step = 2660, .arithmetic = 1.5},
        .gathering_float_matrix = {.round = 3400, .output = 0.5, .step = 2800, .arithmetic = 1.43},
        .tf32_matrix = {.launch = 180, .round = 6400, .output = 0.83, .step = 1330, .arithmetic = 1.5},
        .warp_specialized = {.launch = 1600, .round = 270, .output = 0.0885, .arithmetic = 1.04},
        .warp_specialized_ping_pong = {.launch = 1330, .round = 390, .output = 0.06, .arithmetic = 1.04},
        .split_warp_specialized = {.launch = 4000, .round = 200, .output = 0.084, .arithmetic = 1.08},
        .halo = {.launch = 4140, .output = 0.037, .step = 86, .arithmetic = 0.98},
        .tiled_halo = {.launch = 4800, .output = 0.037, .step = 135, .arithmetic = 0.98},
        .streamed_halo = {.launch = 4800, .output = 0.037, .step = 230, .arithmetic = 0.98},
        .halo_bytes = {.launch = 4140, .output = 0.037, .step = 40, .arithmetic = 1.1},
        .halo_groups = {.launch = 5640, .output = 0.037, .step = 240, .arithmetic = 0.9},
        .halo_stored_groups = {.launch = 8140, .output = 0.19, .step = 240, .arithmetic = 0.9},
        .planes = {.launch = 4100, .round = 7670, .step = 1525, .arithmetic = 1.05},
        .planes_taps = {.launch = 2910, .round = 13050, .output = 0.016, .step = 7800, .arithmetic = 0.35},
        .shared_planes = {.round = 17500, .output = 0.027, .step = 1420, .arithmetic = 0.53},
        .shared_planes_taps = {.round = 14690, .output = 0.288, .step = 3400, .arithmetic = 0.97},
        .float_planes = {.launch = 9000, .output = 0.4, .step = 2500, .arithmetic = 0.55},
        .float_planes_taps = {.launch = 5850, .round = 7060, .output = 0.4, .arithmetic = 1.58},
        .float_pixels = {.launch = 3240, .output = 0.18, .step = 2010, .arithmetic = 0.645},
        .float_pixels_taps = {.launch = 970, .output = 0.37, .step = 1170, .arithmetic = 1.32},
        .stem = {.launch = 3050, .round = 500},
        .direct = {.arithmetic = 64},
        .depthwise = {.arithmetic = 4},
        .depthwise_halo = {.output = 0.2, .arithmetic = 1.85},
        .grouped = {.arithmetic = 1.65},
        .grouped_planes = {.arithmetic = 7},
        .grouped_tma = {},
        .gemv = {.launch = 1400, .output = 8, .min_step = 700, .arithmetic = 2},
        .gathered_planes = {.launch = 2910, .round = 22000, .output = 0.03, .arithmetic = 1.45},
        .shared_gathered_planes = {.launch = 2910, .round = 20000, .output = 0.288, .arithmetic = 1.45},
        .tall_gemm = {.launch = 2000, .round = 300, .output = 0.3, .arithmetic = 1.35},
        .transposed_gemv = {.launch = 2000, .output = 8, .min_step = 1050, .arithmetic = 2},
        .transposed_tall_gemm = {.launch = 2800, .round = 400, .output = 0.175, .arithmetic = 1.95},
        .tall_planes = {.launch = 4000, .output = 0.16, .min_step = 2000, .arithmetic = 10},
        .tall_planes_taps = {.launch = 4000, .output = 0.16, .min_step = 2500, .arithmetic = 11},
        .float_tall_planes = {.launch = 4000, .output = 0.16, .min_step = 2300, .arithmetic = 2.05},
        .float_tall_planes_taps = {.launch = 4000, .output = 0.16, .min_step = 3100, .arithmetic = 3.2},
        .tma_planes = {.launch = 5300, .arithmetic = 1.1},
        .phased_halo = {.launch = 4000, .round = 2700, .output = 0.3, .arithmetic = 1.15},
        .col2im = {.launch = 4000, .round = 1500, .output = 0.08},
        .strip_halo = {.launch = 6000, .round = 4500, .step = 350, .arithmetic = 0.95},
        // GroupNorm and Silu take 1.3 to 1.7 of the time of a tile's MMAs (bench/results/h200/decoder.txt)
        .strip_halo_prologue = {.launch = 6000, .round = 4500, .step = 350, .arithmetic = 1.425},
        .totals = {.launch = 2300, .round = 750, .output = 0.08},
        .totals_ping_pong = {.launch = 2900, .round = 500, .output = 0.045},
        .maxima = {.launch = 2000, .round = 1250},
        .split = {.max_tiles = 3, .cluster_cycles = 200, .workspace_cycles = 4000},
        .matrix_split = {.max_tiles = 2, .cluster_cycles = 500, .workspace_cycles = 4000},
        .bulk_split = {.cluster_cycles = 245},
        .tma = {.ping_pong_last_round = 1,
                .products = 1.15,
                .shared_memory = 1.5,
                .narrow_row = 5,
                .odd_row = 20,
                .short_row = 2.8,
                .misaligned_row = 4.85,
                .least_misaligned_row = 3.7,
                .clipped_odd_row = 10.5,
                .beside_narrow = 0.8,
                .chain = 110,
                .chain_row = 2.1,
                .group_row = 7.5,
                .last_group_row = 1.8,
                .packed_row = 7,
                .packed_step = 350,
                .packed_pixel = 12,
                .ping_pong_narrow = 2.2,
                .split_cache = 1.2,
                .row_beyond = 4,
                .processors_beyond = 8,
                .transposed_row = 5.4,
                .clipped_row = 30,
                .past_row = 5,
                .copy = 25,
                .stored_pixel = 27,
                .partial_sectors = 2.3,
                .exchange = 2200,
                .exchanged_bytes = 24,
                .divided_cache = 1.5},
        .packing = {.packed = 9.4, .whole = 4.4, .even = 3.9, .odd = 9.5},
        .stem_reads = {.filters = 16, .words = 16, .box = 50},
        .weights = {.cache_bytes = 58,
                    .cluster_cache_bytes = 43,
                    .cache_bytes_of_all = 7700,
                    .max_cache_bytes = 90,
                    .window_cache = 1.15,
                    .cache_size = 110e6,
                    .reread = 1.25,
                    .reread_size = 60e6,
                    .copied_pixel = 0.8,
                    .copied_window = 200,
                    .partial_pixel = 5.5,
                    .memory_bytes = 1960,
                    .tile = 2000,
                    .accumulators = 320,
                    .cluster = 1500,
                    .cluster_accumulators = 55,
                    .merge = 5500,
                    .merge_accumulators = 70,
                    .turn = 2800,
                    .reused = 27000,
                    .reused_turn = 3200,
                    .overlap = 0.5,
                    .persistent = 2740,
                    .persistent_accumulators = 100,
                    .persistent_overlap = 0.7,
                    .cluster_streamed = 1.1,
                    .persistent_latency = 1780,
                    .one_warpgroup = 1.75},
        .idle = {.of_8 = 11, .of_4 = 11},  // of an H200's 132 SMs, 120 run clusters of 8 CTAs, 120 or 124 clusters of 4
        .transposed_filter = 0.25,
        .tall_planes_filters = 1500,
        .phased_filter = 0.3,
        .memory_share = 0.83};

    /// Tiles of Gemm. Long k-tiles, of 16, are faster; SMEM holds the stages of all resident CTAs.
    static constexpr GemmTile gemm[] = {{.m = 128, .n = 64, .k = 16, .blocks = 3},
                                        {.m = 64, .n = 64, .k = 16, .blocks = 6}};

    /// Tile of Gemm with split-K. A CTA may use more registers, because few CTAs are resident on an SM.
    static constexpr GemmTile split = {.m = 64, .n = 64, .k = 16, .blocks = 4};
    static constexpr bool chooses_split = true;

    /// Tiles of NativeGemm: those of `gemm`, because before sm_80 NativeGemm computes in SIMT arithmetic.
    static constexpr NativeTile native[] = {{.m = 128, .n = 64, .blocks = 3, .k = 16},
                                            {.m = 64, .n = 64, .blocks = 4, .k = 16}};
    static constexpr bool native_floats = false;

    static constexpr GemmTile matrix[] = {{.m = 128, .n = 64, .k = 64, .blocks = 2}};
    /// Tiles of MatrixGemm for float: a CTA of 128 x 128 uses all registers and SMEM of an SM.
    static constexpr GemmTile matrix_float[] = {{.m = 128, .n = 128, .k = 64, .blocks = 1},
                                                {.m = 128, .n = 64, .k = 64, .blocks = 1}};
    static constexpr GemmTile matrix_tf32[] = {{.m = 128, .n = 128, .k = 32, .blocks = 1},
                                               {.m = 128, .n = 64, .k = 32, .blocks = 2}};
    static constexpr GemmTile matrix_split = {.m = 64, .n = 64, .k = 64, .blocks = 4};

    /// Tiles of WarpSpecialized for 16 bits: four of the best five of thirteen, on 13 layers of batch 1, 8, 64 and 256;
    /// 64 x 128 for few rows (layers of up to 132 tiles); and cooperative tiles for filters that fill columns of 128
    /// badly and for numbers of tiles that fill rounds badly: 27 layers of batch 32 and 64
    /// (bench/results/h200/last_column.txt). 96 x 128 in cooperative roles for long GemmK in a single round, where one
    /// warpgroup of ping-pong idles (bench/results/h200/short_tiles.txt). Three of them, and split-K, have the general
    /// kernel too. By the model these three take 1.010 of the time of all tiles, 1.58 at most, on 1,857 problems that
    /// general kernels compute (the zoo's layers, random ones, slices); the best two 1.023, the best four 1.005.
    static constexpr WarpSpecializedTile warp_specialized[] = {
        {.m = 192, .n = 128, .stages = 4},
        {.m = 64, .n = 128, .stages = 8, .kernels = Kernels::plain},
        {.m = 96, .n = 128, .stages = 5, .roles = Roles::ping_pong},
        {.m = 64, .n = 64, .stages = 8, .roles = Roles::ping_pong},
        {.m = 96, .n = 64, .stages = 8, .roles = Roles::ping_pong, .kernels = Kernels::plain},
        {.m = 96, .n = 128, .stages = 6, .kernels = Kernels::plain},
        {.m = 128, .n = 128, .stages = 5, .kernels = Kernels::plain},
        {.m = 144, .n = 128, .stages = 5, .kernels = Kernels::plain},
        {.m = 144, .n = 192, .stages = 4, .kernels = Kernels::plain}};

    static constexpr WarpSpecializedTile warp_specialized_split = {.m = 64, .n = 64, .stages = 8};

    /// Tiles of WarpSpecialized for int8. The k-tiles of tiles with TileN = 64 are 64 bytes of GemmK.
    static constexpr WarpSpecializedTile warp_specialized_int8[] = {
        {.m = 128, .n = 128, .stages = 4, .roles = Roles::ping_pong},
        {.m = 64, .n = 128, .stages = 5, .roles = Roles::ping_pong},
        {.m = 96, .n = 128, .stages = 5, .roles = Roles::ping_pong},
        {.m = 256, .n = 64, .stages = 8, .roles = Roles::ping_pong},
        {.m = 192, .n = 64, .stages = 8, .roles = Roles::ping_pong}};

    /// Tiles of WarpSpecialized for 8-bit floats: the best four of eleven. Promotion needs registers for the
    /// accumulators of a k-tile in addition to those of the tile. With cooperative roles one warpgroup promotes its
    /// accumulators while the others multiply.
    static constexpr WarpSpecializedTile warp_specialized_float8[] = {
        {.m = 192, .n = 128, .stages = 4},
        {.m = 96, .n = 128, .stages = 7},
        {.m = 64, .n = 128, .stages = 8},
        {.m = 192, .n = 64, .stages = 8, .roles = Roles::ping_pong}};

    /// Tiles of weight gradients. Those that promote their accumulators have no limit on the number of pixels per CTA.
    /// persistent_weights: for filters of one tap and few pixels; one CTA on an SM loads while another stores.
    static constexpr WeightCut weights[] = {{.rows = 128, .columns = 128, .pixels = 64, .stages = 6},
                                            {.rows = 192, .columns = 128, .pixels = 64, .stages = 5},
                                            {.rows = 128, .columns = 64, .pixels = 64, .stages = 8},
                                            {.rows = 64, .columns = 64, .pixels = 128, .stages = 6},
                                            {.rows = 128, .columns = 192, .pixels = 64, .stages = 5}},
                               persistent_weights[] = {
                                   {.rows = 128, .columns = 128, .pixels = 32, .stages = 6, .blocks = 2},
                                   {.rows = 64, .columns = 64, .pixels = 32, .stages = 4, .blocks = 4}};
    static constexpr unsigned max_gradient_cluster = 8;

    static constexpr bool chooses_planes = true;
    /// Tiles of Planes. 240 pixels: a whole image of 14 x 14, or rows of larger images. 64 pixels: two images of 7 x 7
    /// per tile; 56 pixels, for float: four images per tile.
    static constexpr PlanesTile planes[] = {{.pixels = 240, .parts = 1}, {.pixels = 64, .parts = 2}},
                                planes_float[] = {{.pixels = 240, .parts = 1}, {.pixels = 56, .parts = 4}};

    /// Tile of an elementwise plan. One load per thread and many threads of few registers reach the most bandwidth,
    /// near that of a copy; more loads in flight are slower. Plans with parameters per pixel, or with operators that
    /// store tensors, need more registers per thread, and gain from more iterations. A load is 16 bytes, or 8 for 8-bit
    /// elements, because a thread's registers hold 8 elements.
    FUSEKIT_H static constexpr ElementwiseCut elementwise(ElementwiseCase plan) {
        int const element = plan.element_bytes, packet = element == 1 ? 8 : 16;
        if (plan.stores)
            return {
                .threads = 128, .bytes = 4 * element, .iterations = 4, .unroll = 1, .blocks = 8, .tile_iterations = 4};
        if (plan.pixelwise)
            return {.threads = 128, .bytes = packet, .iterations = 8, .unroll = 4, .blocks = 8, .tile_iterations = 8};
        return {.threads = 128,
                .bytes = packet,
                .iterations = 2,
                .unroll = 1,
                .blocks = 16,
                .tile_iterations = element == 4 ? 1 : 2};
    }

    FUSEKIT_H static constexpr ReductionCut reduction(int) {
        return {.threads = 256, .bytes = 16, .unroll = 8, .blocks = 2};
    }
};

}  // namespace fusekit::hip
