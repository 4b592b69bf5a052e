// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <type_traits>

#include "fusekit/backend/device.hpp"
#include "fusekit/backend/hip/arch/buffer.hpp"
#include "fusekit/backend/hip/arch/target.hpp"
#include "fusekit/backend/hip/copy/amd/buffer_loads.hpp"
#include "fusekit/backend/hip/copy/wgrad/load_pixels.hpp"
#include "fusekit/backend/hip/params.hpp"

namespace fusekit::hip {

/// True if ChannelOperands loads w by TransposedFilters: for a TransposedConv with contiguous channels on AMD, of 16-
/// or 32-bit elements, without a prologue and without pooling.
template <class Plan, class Atom, Element T, detail::Axis fast>
inline constexpr bool has_transposed_filters = false;
template <class Plan, class Atom, Element T, detail::Axis fast>
    requires requires {
        requires arch::has<arch::Amd> && has_transposed_conv<Plan> && fast == detail::Axis::channel;
        requires Atom::stages == 1 && decltype(Atom::Stage::w)::takes_words && sizeof(T) > 1;
        requires std::is_same_v<typename Plan::Head::template WeightElement<T>, T>;
    }
inline constexpr bool has_transposed_filters<Plan, Atom, T, fast> = !Plan::has_prologue && !Plan::pools;

/// Loader of w for memory in which consecutive filters are contiguous instead of consecutive indices of GemmK: for the
/// gradient of an NHWC convolution with respect to x. A thread loads 16 bytes of consecutive filters at several
/// consecutive indices of GemmK and stores them transposed to LDS. tile_row() gives the LDS row of a filter.
template <Element W, class Tile, int Size, int TileK, int threads>
class TransposedFilters {
    using Fragment = TileOfPixels<W, Tile, Size, TileK, threads>;
    static constexpr std::integral_constant<ContiguousMode, Fragment::widest> in_packets = {};
    static constexpr unsigned packet = 16 / sizeof(W);

public:
    template <class Problem>
    __device__ TransposedFilters(unsigned the_thread, Problem const& conv, int first_filter, int group)
        : thread(the_thread), buffer(conv.weight_row(first_filter, group).first) {
        unsigned const row = Fragment::first_row(in_packets, thread);
        // Rows past the last filter load filter 0 of the tile: their results are not stored.
        bool const in_bounds = static_cast<int>(row) < conv.group_k() - first_filter;
        step = static_cast<std::uint32_t>(conv.w.layout.stride[1]) * std::uint32_t{sizeof(W)};
        first = Buffer::bias + (in_bounds ? row : 0) * std::uint32_t{sizeof(W)} +
                Fragment::first_pixel(in_packets, thread) % packet * step;
    }

    /// Reads from the LDS table the byte offset of the thread's loads for the k-tile whose entries begin at byte
    /// `table_offset`.
    template <class Offsets>
    __device__ void find(Offsets const& offsets, int table_offset) {
        own = first + offsets.w_at(table_offset, Fragment::first_pixel(in_packets, thread));
    }
    /// Loads the k-tile that find() located last or, after another load(), the next k-tile: advances the offset to its
    /// channels.
    __device__ void load() {
        std::uint32_t at = 0;
        per_thread.each(in_packets, thread, [&](auto& to, unsigned, unsigned) {
            to = buffer.template load<std::remove_reference_t<decltype(to)>>(own, at);
            at += step;
        });
        own += TileK * step;
    }
    /// Waits until this thread's loads have completed.
    __device__ void wait() { per_thread.wait(in_packets); }
    __device__ void store(Tile& tile) { per_thread.store(in_packets, thread, tile); }

    /// Returns the row of the operand tile in LDS that stores filter number `filter` of the tile.
    __device__ static unsigned tile_row(unsigned filter) { return Fragment::tile_row(in_packets, filter); }

private:
    unsigned thread;
    Buffer buffer;
    std::uint32_t first, own, step;
    Fragment per_thread;
};

}  // namespace fusekit::hip
