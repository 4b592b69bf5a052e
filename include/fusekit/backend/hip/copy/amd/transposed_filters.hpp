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

/// True if ChannelOperands loads the tile's w by TransposedFilters.
template <class Plan, class Atom, Element T, detail::Axis fast>
inline constexpr bool has_transposed_filters = false;
template <class Plan, class Atom, Element T, detail::Axis fast>
    requires requires {
        requires arch::has<arch::Amd> && has_transposed_conv<Plan> && fast == detail::Axis::channel;
        requires Atom::stages == 1 && decltype(Atom::Stage::w)::takes_words && sizeof(T) > 1;
        requires std::is_same_v<typename Plan::Head::template WeightElement<T>, T>;
    }
inline constexpr bool has_transposed_filters<Plan, Atom, T, fast> = !Plan::has_prologue && !Plan::pools;

/// Loads w if consecutive filters, not consecutive GemmK indices, are contiguous in memory: in the gradient of an NHWC
/// convolution with respect to x. A thread loads 16 bytes of consecutive filters at several consecutive GemmK indices
/// and stores them transposed to LDS. tile_row() gives the LDS row of a filter.
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
        // Rows past the last filter may load any filter: their results are not stored.
        bool const in_bounds = static_cast<int>(row) < conv.group_k() - first_filter;
        step = static_cast<std::uint32_t>(conv.w.layout.stride[1]) * std::uint32_t{sizeof(W)};
        first = Buffer::bias + (in_bounds ? row : 0) * std::uint32_t{sizeof(W)} +
                Fragment::first_pixel(in_packets, thread) % packet * step;
    }

    /// Reads from the LDS table the thread's byte offset for the k-tile whose entries begin at `table_offset`.
    template <class Offsets>
    __device__ void find(Offsets const& offsets, int table_offset) {
        own = first + offsets.w_at(table_offset, Fragment::first_pixel(in_packets, thread));
    }
    /// Loads the k-tile of the last find(), or the one after the last load(): advances the offset to the next k-tile's
    /// channels.
    __device__ void load() {
        std::uint32_t at = 0;
        per_thread.each(in_packets, thread, [&](auto& to, unsigned, unsigned) {
            to = buffer.template load<std::remove_reference_t<decltype(to)>>(own, at);
            at += step;
        });
        own += TileK * step;
    }
    /// Waits for this thread's loads.
    __device__ void wait() { per_thread.wait(in_packets); }
    __device__ void store(Tile& tile) { per_thread.store(in_packets, thread, tile); }

    /// Row of the operand tile in LDS that holds a filter.
    __device__ static unsigned tile_row(unsigned filter) { return Fragment::tile_row(in_packets, filter); }

private:
    unsigned thread;
    Buffer buffer;
    std::uint32_t first, own, step;
    Fragment per_thread;
};

}  // namespace fusekit::hip
