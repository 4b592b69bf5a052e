// SPDX-License-Identifier: MIT
#pragma once

#include <type_traits>

#include "fusekit/backend/hip/arch/target.hpp"
#include "fusekit/backend/hip/atom/native.hpp"

namespace fusekit::hip {

/// The tile of a gradient by the weights: columns, and channels of y. All targets of a maker have the same, so that the
/// host need not know their units. AMD's processors have 64 KB of shared memory: a tile's sums pass through it in two
/// passes, so that three blocks run at once. On NVIDIA's, the blocks of a cluster read each other's whole sums.
struct WeightGradientTile {
    static constexpr bool of_amd = arch::has<arch::Amd>;
    static constexpr int m = of_amd ? 128 : 64, n = 64, threads = m * n / 64, passes = of_amd ? 2 : 1,
                         per_processor = of_amd ? 3 : 4;
};

/// How a block multiplies elements T: by the target's matrix instructions, or by plain arithmetic.
///   stage_count     two, or, where shared memory is short, one
///   addends         the pixels after which sums are added to totals
///   promotes        whether they are: on gfx908 the registers of sums do not hold totals too, and shared memory would
///                   hold them for a single block
///   keeps_totals    whether in registers. gfx11 has none left, because both halves of its waves hold all factors
template <Element T, class Unit = typename detail::NativeUnit<T, arch::Target>::Type>
struct WeightGradientAtom {
    using Tile = WeightGradientTile;
    using Type = WaveTile<T, Unit, Tile::m, Tile::n>;
    static constexpr int tile_k = Type::tile_k, stage_count = Tile::of_amd ? 1 : 2, addends = 1024;
    static constexpr bool promotes = !std::is_same_v<arch::Target, arch::Gfx908>,
                          keeps_totals = !std::is_same_v<arch::Target, arch::Gfx11>;
};
template <Element T>
struct WeightGradientAtom<T, void> {
    using Tile = WeightGradientTile;
    static constexpr int tile_k = 8, stage_count = 2, addends = 256;
    static constexpr bool promotes = true, keeps_totals = false;
    using Type =
        Simt<T, Tile::m, Tile::n, tile_k, arch::Target::processor.unroll_of_gemm(Tile::threads* Tile::per_processor)>;
};

}  // namespace fusekit::hip
