// SPDX-License-Identifier: MIT
#pragma once

#include "fusekit/backend/hip/arch/access.hpp"
#include "fusekit/backend/hip/runtime/platform.hpp"
#include "fusekit/tensor/view.hpp"

namespace fusekit::hip {

/// Brings filters of 3 x 3 taps whose channels follow one another, nine elements each, to stages of shared memory. A
/// stage has `filters` rows of four slices of 16 channels of a tap, 128 bytes with the 128-byte swizzle: slices are
/// counted tap by tap and then by channels. A thread takes 8 channels of a filter, all of whose taps lie together.
template <class T, int filters>
class FilterLoader {
    static_assert(sizeof(T) == 2);
    static constexpr int taps = 9, packet = 8, slice_channels = 16, slices_of_stage = 4;

public:
    static constexpr unsigned threads = 128;
    static constexpr int items = filters * slice_channels / packet / static_cast<int>(threads);  ///< of a thread

    /// The thread's packets of one slice of all taps.
    struct Slice {
        Packet<T, packet> loaded[items][taps];
    };

    __device__ FilterLoader(TensorView<T const> const& the_filters, unsigned thread) : w(the_filters) {
#pragma unroll
        for (int i = 0; i < items; ++i) {  // lanes that store together have a chunk of 8 rows
            unsigned const at = thread + static_cast<unsigned>(i) * threads;
            rows[i] = static_cast<int>(at / 16 * 8 + at % 8), halves[i] = at / 8 % 2;
        }
    }

    /// Loads the 16 channels from c on of the filters from `first` on; what there is not of them is zero.
    __device__ void load(Slice& slice, int first, int c) const {
#pragma unroll
        for (int i = 0; i < items; ++i) {
            int const filter = first + rows[i], channel = c + static_cast<int>(halves[i]) * packet;
            bool const exists = filter < w.layout.shape[0] && channel < w.layout.shape[1];
            auto const* const from = reinterpret_cast<Packet<T, packet> const*>(w.data + filter * w.layout.stride[0] +
                                                                                std::int64_t{channel} * taps);
#pragma unroll
            for (int j = 0; j < taps; ++j) slice.loaded[i][j] = exists ? from[j] : Packet<T, packet>{};
        }
    }

    /// Stores them as slices from `number` on of their block of 64 channels. stage() is where the stage begins that
    /// comes next, once it is free, and end_stage() is called when its last slice is there.
    template <class StageAt, class EndStage>
    __device__ void store(Slice const& slice, unsigned number, StageAt const& stage, EndStage const& end_stage) const {
#pragma unroll
        for (unsigned tap = 0; tap < taps; ++tap) {
            unsigned char* const to = stage();
            unsigned const place = (number + tap) % slices_of_stage;
#pragma unroll
            for (int i = 0; i < items; ++i) {
                Packet<T, packet> out;
#pragma unroll
                for (int j = 0; j < packet; ++j) {
                    int const at = j * taps + static_cast<int>(tap);
                    out.values[j] = slice.loaded[i][at / packet].values[at % packet];
                }
                auto const row = static_cast<unsigned>(rows[i]), chunk = place * 2 + halves[i];
                *reinterpret_cast<Packet<T, packet>*>(to + row * 128 + (chunk ^ row % 8) * 16) = out;
            }
            if (place == slices_of_stage - 1) end_stage();
        }
    }

private:
    TensorView<T const> const& w;
    int rows[items];
    unsigned halves[items];
};

}  // namespace fusekit::hip
