// SPDX-License-Identifier: MIT
#pragma once

#include "fusekit/backend/hip/arch/access.hpp"
#include "fusekit/backend/hip/arch/reload.hpp"
#include "fusekit/backend/hip/collective/prologue.hpp"
#include "fusekit/backend/hip/conv_problem.hpp"

namespace fusekit::hip {

/// A pixel of dy: where it is there, and where its window begins in x.
template <int Space>
struct PixelPlace {
    std::int64_t in_dy, in_x;
    PerMode<Space> window;
    bool exists;
};

/// A column of the gradient: a tap and a channel of x; a column of ones, whose sums are the bias' gradient; or nothing,
/// past the last.
template <int Space>
struct WindowColumn {
    enum Kind { nothing, window, ones };
    std::int64_t in_x;  ///< from where a window begins
    PerMode<Space> distance;
    KCoord at;
    Kind kind;
};

/// How the elements of an operand neighbour in memory: four channels of a pixel, in packets; channels; or pixels.
enum class Neighbours { packets, channels, pixels };

/// A thread's share of an operand of TileK pixels and Size rows, which are channels or columns, on its way from memory
/// to an atom's tile. Neighbouring threads load neighbours.
template <Element T, int Size, int TileK, int threads>
class TileOfPixels {
    static constexpr int share = Size * TileK / threads;
    static_assert(threads % Size == 0 && threads % TileK == 0 && share % 4 == 0 && share * threads == Size * TileK);

public:
    /// load(Packet of 1 or 4 elements, pixel, row) fills the packet.
    template <class Load>
    __device__ void load(Neighbours along, unsigned thread, Load const& load) {
        if (along == Neighbours::packets) each<4, Neighbours::packets>(thread, load);
        else if (along == Neighbours::channels) each<1, Neighbours::channels>(thread, load);
        else each<1, Neighbours::pixels>(thread, load);
    }
    template <class Tile>
    __device__ void store(Neighbours along, unsigned thread, Tile& tile) {
        auto const put = [&]<int Count>(Packet<T, Count> const& packet, unsigned pixel, unsigned row) {
            using Operand = typename Tile::Operand;
            Packet<Operand, Count> operands;
#pragma unroll
            for (int i = 0; i < Count; ++i) operands.values[i] = as_operand<Operand>(packet.values[i]);
            tile.template put_along_rows<Count>(pixel, row, operands);
        };
        if (along == Neighbours::packets) each<4, Neighbours::packets>(thread, put);
        else if (along == Neighbours::channels) each<1, Neighbours::channels>(thread, put);
        else each<1, Neighbours::pixels>(thread, put);
    }

private:
    alignas(16) T values[share];

    template <int Count, Neighbours along, class F>
    __device__ void each(unsigned the_thread, F const& f) {
        unsigned const thread = opaque_per_thread(the_thread);
        constexpr unsigned wide = along == Neighbours::pixels ? TileK : Size / Count, step = threads / wide;
#pragma unroll
        for (unsigned i = 0; i < share / Count; ++i) {
            unsigned const near = thread % wide, far = thread / wide + i * step;
            auto& packet = *reinterpret_cast<Packet<T, Count>*>(values + i * Count);
            if constexpr (along == Neighbours::pixels) f(packet, near, far);
            else f(packet, far, near * Count);
            keep_apart();
        }
    }
};

}  // namespace fusekit::hip
