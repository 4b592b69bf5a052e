// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <type_traits>

#include "fusekit/backend/hip/arch/access.hpp"
#include "fusekit/backend/hip/arch/target.hpp"
#include "fusekit/backend/hip/atom/native.hpp"
#include "fusekit/backend/hip/integer.hpp"

namespace fusekit::hip {

/// Size of the tile of dw that a CTA of a weight gradient computes: m columns of dw (taps and channels of x) and n
/// channels of y. All targets of a vendor have the same tile, so that the host need not know a target's matrix
/// instruction. On AMD the accumulators are staged through LDS in `passes` passes, so that `per_processor` = 3 CTAs
/// share a compute unit's 64 KB. On NVIDIA the CTAs of a cluster read each other's accumulators through DSMEM.
struct WeightGradientTile {
    static constexpr bool of_amd = arch::has<arch::Amd>;
    static constexpr int m = of_amd ? 128 : 64, n = 64, threads = m * n / 64, passes = of_amd ? 2 : 1,
                         per_processor = of_amd ? 3 : 4;
};

/// Size of a tile of dw with 128 channels of y, for the k-loop WeightGradientPackets alone: a third fewer loads per
/// product.
struct WideWeightGradientTile {
    static constexpr bool of_amd = true;
    static constexpr int m = 128, n = 128, threads = 256, passes = 4, per_processor = 2;
};

/// True if the architecture Tag has a weight-gradient kernel with this Tile. On gfx11 the promoted sums of the wide
/// tile fit neither registers nor LDS.
template <class Tile, Element T, class Tag>
inline constexpr bool has_weight_gradient = true;
template <Element T, class Tag>
inline constexpr bool has_units_of_halves =
    sizeof(T) == 2 && std::is_base_of_v<arch::Amd, Tag> && !std::is_void_v<typename detail::NativeUnit<T, Tag>::Type>;
template <Element T, class Tag>
inline constexpr bool has_weight_gradient<WideWeightGradientTile, T, Tag> =
    has_units_of_halves<T, Tag> && !std::is_same_v<Tag, arch::Gfx11>;

/// A CTA's tile of dw and its range [begin, end) of pixels of dy (split-K). The CTA's index enumerates, fastest first:
/// rank in the cluster, tile, the cluster's range of pixels; so CTAs that run at the same time read the same pixels.
/// Pixels are numbered over the whole batch or, with params.in_slabs (more pixels than 32 bits can count), from the
/// first pixel of image first_image on, in which the CTA's range begins.
template <class Tile>
struct WeightGradientTileAt {
    unsigned rank, number, split_group;
    int group, first_k, first_column, begin, end, first_image = 0;

    template <class Params, class Problem>
    __device__ WeightGradientTileAt(Params const& params, Problem const& conv, unsigned block) {
        auto const across = static_cast<unsigned>(detail::divide_up(params.columns(), Tile::m)),
                   down = static_cast<unsigned>(detail::divide_up(conv.group_k(), Tile::n)),
                   tiles = across * down * static_cast<unsigned>(conv.groups());
        rank = block % params.split_k.cluster;
        number = block / params.split_k.cluster % tiles;
        split_group = block / params.split_k.cluster / tiles;
        first_column = static_cast<int>(number % across) * Tile::m;
        first_k = static_cast<int>(number / across % down) * Tile::n;
        group = static_cast<int>(number / across / down);
        unsigned const split = split_group * params.split_k.cluster + rank;
        if (params.in_slabs) {
            begin_in_image(params, conv, split);
        } else {
            begin = static_cast<int>(split) * params.split_pixels;
            end = (min)(begin + params.split_pixels, conv.gemm_m());
        }
    }
    /// Returns the index in the tile of the column of ones, whose sums are the bias gradient; -1 if the tile has none.
    template <class Params>
    __device__ int ones(Params const& params) const {
        auto const column = static_cast<int>(params.weights()) - first_column;
        return params.bound.head.bias_gradient.given() && column < Tile::m ? column : -1;
    }

private:
    /// Sets first_image, begin and end with params.in_slabs: the CTA's range is number `split`, and its pixels are
    /// counted from the first pixel of image first_image.
    template <class Params, class Problem>
    __device__ void begin_in_image(Params const& params, Problem const& conv, unsigned split) {
        std::int64_t const plane = conv.y[2] * conv.y[3], all = conv.y[0] * plane,
                           first = std::int64_t{split} * params.split_pixels, remaining = all - first;
        first_image = static_cast<int>(first / plane);
        begin = static_cast<int>(first % plane);
        end = begin +
              (remaining < params.split_pixels ? remaining < 0 ? 0 : static_cast<int>(remaining) : params.split_pixels);
    }
};

/// Member Type: MMA atom of a weight gradient for elements T: the target's matrix instruction, or SIMT arithmetic.
/// Other members:
///
///     stage_count     number of SMEM stages: 2; 1 on AMD, whose LDS is small
///     addends         number of pixels after which accumulators are promoted: added to FP32 running sums
///     promotes        true if accumulators are promoted. On gfx908 they leave no registers for the sums, and LDS would
///                     hold those of one CTA only. gfx90a has no registers for the sums if it rounds halves
///     keeps_totals    true if the running sums are in registers, false if in LDS. gfx11 has no registers for them,
///                     because both halves of its waves hold all operands
template <Element T, class Tile = WeightGradientTile,
          class Unit = typename detail::NativeUnit<detail::GradientFactor<T>, arch::Target>::Type>
struct WeightGradientAtom {
    using Type = WaveTile<T, Unit, Tile::m, Tile::n>;
    static constexpr int tile_k = Type::tile_k, stage_count = Tile::of_amd ? 1 : 2, addends = 1024;
    static constexpr bool promotes = !std::is_same_v<arch::Target, arch::Gfx908> &&
                                     !(Tile::n == 64 && std::is_same_v<Unit, RoundedHalfMfma<8>>),
                          keeps_totals = !std::is_same_v<arch::Target, arch::Gfx11>;
};
template <Element T, class Tile>
struct WeightGradientAtom<T, Tile, void> {
    static constexpr int tile_k = 8, stage_count = 2, addends = 256;
    static constexpr bool promotes = true, keeps_totals = false;
    using Type =
        Simt<T, Tile::m, Tile::n, tile_k, arch::Target::processor.unroll_of_gemm(Tile::threads* Tile::per_processor)>;
};

/// Returns a 32-bit word that consists of elements of type T with the value 1.
template <Element T>
__device__ std::uint32_t word_of_ones() {
    Packet<T, 4 / static_cast<int>(sizeof(T))> ones;
    for (T& one : ones.values) one = T(1.0f);
    std::uint32_t word;
    __builtin_memcpy(&word, &ones, sizeof word);
    return word;
}

}  // namespace fusekit::hip
