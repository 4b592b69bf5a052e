// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include "fusekit/backend/hip/arch/access.hpp"
#include "fusekit/backend/hip/arch/packed.hpp"
#include "fusekit/backend/hip/copy/tiled_halo.hpp"
#include "fusekit/backend/hip/epilogue/tma_stage.hpp"
#include "fusekit/backend/hip/params.hpp"
#include "fusekit/backend/hip/thread_coord.hpp"

namespace fusekit::hip {

/// Epilogue, 2 x 2 pool and store of a warpgroup's tile of image rows (HaloShape): 64 channels x Atom::n pixels, whose
/// rows are an even number of pixels apart. Two columns of a window are in one thread, its two rows in general are not:
/// stage() reduces the columns to floats in SMEM, store() reduces the rows and stores y. The epilogue depends on
/// channels alone.
template <class Plan, class Atom, class U>
class HaloPool {
    using Epilogue = typename Plan::Epilogue;
    using Reduce = typename Plan::Pool::Reduce;
    using State = typename Epilogue::template State<float>;
    using Args = typename Epilogue::Args;
    using Packet4 = Packet<float, 4>;
    static constexpr unsigned channels = Atom::m, packets = channels / 4;
    static_assert(sizeof(U) == 2);

public:
    static constexpr bool reads_coord = false;
    /// Bytes of SMEM that stage() uses: a float for each channel and two columns.
    static constexpr int bytes = Atom::n / 2 * Atom::m * static_cast<int>(sizeof(float));

    /// Prepares the parameters of the thread's two channels, among the 64 from channel `the_first` of y on. A channel
    /// out of bounds of y gets the parameters of y's last channel, `the_count` - 1.
    __device__ HaloPool(Args const& arguments, int the_first, int the_count, unsigned the_thread, int = 0)
        : thread(the_thread), first(the_first), count(the_count) {
        if constexpr (Epilogue::channelwise) {
            for (int own = 0; own < 2; ++own)
                states[own] = Epilogue::prepare(std::int64_t{(min)(first + row(own), count - 1)}, arguments);
        }
    }

    /// Applies the epilogue and stores the reduced columns to `staged`. A barrier of the warpgroup must follow.
    __device__ void stage(typename Atom::Accumulators const& acc, float* staged, Args const& arguments) const {
#pragma unroll
        for (int own = 0; own < 2; ++own) {
            ThreadCoord const at({0, first + row(own), 0, 0});
            auto const channel = static_cast<unsigned>(row(own));
#pragma unroll
            for (int block = 0; block < Atom::n / 8; ++block) {
                float total = Reduce::template neutral<float>();
#pragma unroll
                for (int i = 0; i < 2; ++i)
                    total = Reduce::combine(total,
                                            Epilogue::apply(static_cast<float>(acc[4 * block + 2 * own + i]), at,
                                                            Epilogue::channelwise ? states[own] : State{}, arguments));
                unsigned const pair = static_cast<unsigned>(4 * block) + thread % 4;
                staged[index(pair, channel / 4) + channel % 4] = total;
            }
        }
    }

    /// Reduces the rows of the windows of a tile, whose rows are `pixels_of_row` pixels apart, and stores them to y, 4
    /// channels of a pixel at a time.
    __device__ void store(float const* staged, int pixels_of_row, HaloTile const& of_y, TensorView<U> const& y) const {
        using Words = Packet<std::uint32_t, 2>;
        unsigned const packet = thread % packets, pitch = static_cast<unsigned>(pixels_of_row) / 2;
        int const channel = first + static_cast<int>(4 * packet);
        if (channel >= count) return;
        auto const& stride = y.layout.stride;
        U* to = y.data + of_y.n * stride[0] + of_y.row / 2 * stride[2] + of_y.column / 2 * stride[3] + channel;
#pragma unroll 1
        for (unsigned p = 0; p < static_cast<unsigned>(of_y.rows) / 2; ++p, to += stride[2])
#pragma unroll 2
            for (unsigned q = thread / packets; q < static_cast<unsigned>(of_y.columns) / 2;
                 q += Atom::threads / packets) {
                unsigned const pair = 2 * p * pitch + q;
                auto const upper = *reinterpret_cast<Packet4 const*>(staged + index(pair, packet)),
                           lower = *reinterpret_cast<Packet4 const*>(staged + index(pair + pitch, packet));
                float pooled[4];
#pragma unroll
                for (int i = 0; i < 4; ++i)
                    pooled[i] = Reduce::finish(Reduce::combine(upper.values[i], lower.values[i]), 4);
                *reinterpret_cast<Words*>(to + q * stride[3]) = {packed<U>(pooled[0], pooled[1]),
                                                                 packed<U>(pooled[2], pooled[3])};
            }
    }

private:
    unsigned thread;
    int first, count;
    State states[Epilogue::channelwise ? 2 : 1];

    __device__ int row(int own) const { return Atom::row(static_cast<int>(thread), 2 * own); }
    /// Index in SMEM of 4 channels of a pair of columns, swizzled: a warp stores 8 channels of 4 pairs, and loads 16
    /// packets of 2 pairs, without bank conflicts.
    FUSEKIT_HD static constexpr unsigned index(unsigned pair, unsigned packet) {
        return pair * channels + (packet ^ 2 * (pair % 8)) * 4;
    }
};

/// Type: TmaStage or, for plans that pool, HaloPool.
template <class Plan, class Atom, class T, class U>
struct HaloResultsOf {
    using Type = TmaStage<Plan, Atom, T, U>;
};
template <class Plan, class Atom, class T, class U>
    requires(Plan::pools)
struct HaloResultsOf<Plan, Atom, T, U> {
    using Type = HaloPool<Plan, Atom, U>;
};

}  // namespace fusekit::hip
