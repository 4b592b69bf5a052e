// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include "fusekit/backend/hip/atom/wgmma_tile.hpp"
#include "fusekit/backend/hip/collective/stem_shape.hpp"

namespace fusekit::hip {

/// Puts 64 filters from `first` on into shared memory in the order of a StemShape: zeros where it has none of w's, and
/// past the last filter. Called by `threads` threads.
template <class Tile, class Problem>
__device__ void put_stem_filters(Tile* panels, StemShape const& shape, Problem const& conv, int first, unsigned thread,
                                 unsigned threads) {
    constexpr unsigned chunk = StemShape::chunk, of_panel = Tile::tile_k / chunk, filters = 64;
    using T = typename Tile::Operand;
    Index<4> const& stride = conv.w.layout.stride;
    int const channels = conv.group_c();
    for (unsigned i = thread; i < filters * of_panel * static_cast<unsigned>(shape.panels); i += threads) {
        unsigned const row = i % filters, at = i / filters;
        int const r = static_cast<int>(at) / shape.chunks,
                  j = (static_cast<int>(at) - r * shape.chunks) * static_cast<int>(chunk) - shape.lead;
        int const filter = first + static_cast<int>(row);
        bool const exists = filter < conv.group_k() && r < conv.window_rows();
        T const* const from = conv.w.data + (exists ? filter * stride[0] + r * stride[2] : 0);
        int s = max(j, 0) / channels, c = max(j, 0) - s * channels;
        panels[at / of_panel].template put_along_k<chunk>(at % of_panel * chunk, row, [&](int k) {
            if (!exists || j + k < 0 || j + k >= shape.row_elements) return T{};
            T const weight = from[s * stride[3] + c * stride[1]];
            if (++c == channels) c = 0, ++s;
            return weight;
        });
    }
}

/// What a thread multiplies of a tile of windows: words of two pixels' windows, lane / 4 and 8 further of its warp's
/// 16, as Wgmma takes them from registers. Source: PTX ISA 8.7, section 9.7.15.5.1, the figure of A for .k16.
template <class Atom>
class StemWindows {
    static constexpr int steps = Atom::tile_k / Atom::k;

public:
    using Words = std::uint32_t[steps][4];

    __device__ StemWindows(StemShape const& the_shape, Filter<2> const& filter, unsigned the_thread)
        : shape(the_shape),
          rows(filter.size[0]),
          row_bytes(filter.dilations[0] * the_shape.pitch * 2),
          pair(static_cast<int>(the_thread) % 4 * 2) {
        for (int i = 0; i < 2; ++i) {
            int const pixel = Atom::row(static_cast<int>(the_thread), 2 * i);
            int const p = pixel >> shape.shift, q = pixel - (p << shape.shift);
            places[i] = (p * filter.strides[0] * shape.pitch + q * shape.step + pair) * 2;
        }
        int const end = shape.lead + shape.row_elements - (shape.chunks - 1) * StemShape::chunk - pair;
        last = (end > 0 ? 0xffffu : 0u) | (end > 1 ? 0xffff0000u : 0u);
        first = shape.lead == 1 && pair == 0 ? 0xffff0000u : ~0u;
    }

    /// Loads the words of the next panel from a stage, whose windows begin at `begin`.
    template <bool whole_words>
    __device__ void load(unsigned char const* begin, Words& words) {
#pragma unroll
        for (int step = 0; step < steps; ++step)
#pragma unroll
            for (int half = 0; half < 2; ++half) {
                std::uint32_t const mask =
                    r == rows ? 0u : (chunk == 0 ? first : ~0u) & (chunk == shape.chunks - 1 ? last : ~0u);
#pragma unroll
                for (int i = 0; i < 2; ++i)
                    words[step][half * 2 + i] = word<whole_words>(begin + places[i] + offset) & mask;
                advance();
            }
    }

    /// Goes back to the first panel.
    __device__ void rewind() { chunk = 0, r = 0, offset = 0; }

private:
    StemShape const& shape;
    int rows, row_bytes, pair;
    int places[2];
    std::uint32_t first, last;  ///< what of a word is no zero, in the first and the last chunk of a row
    int chunk = 0, r = 0, offset = 0;

    /// Past the last row it stays where it is.
    __device__ void advance() {
        if (r == rows) return;
        offset += StemShape::chunk * 2;
        if (++chunk < shape.chunks) return;
        chunk = 0, ++r;
        offset = r == rows ? 0 : r * row_bytes;
    }

    template <bool whole_words>
    __device__ static std::uint32_t word(unsigned char const* from) {
        if constexpr (whole_words) return *reinterpret_cast<std::uint32_t const*>(from);
        auto const* const halves = reinterpret_cast<std::uint16_t const*>(from);
        return halves[0] | std::uint32_t{halves[1]} << 16;
    }
};

}  // namespace fusekit::hip
