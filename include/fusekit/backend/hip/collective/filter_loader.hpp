// SPDX-License-Identifier: MIT
#pragma once

#include "fusekit/backend/hip/arch/access.hpp"
#include "fusekit/backend/hip/arch/sm90a.hpp"

namespace fusekit::hip {

/// Brings filters of 3 x 3 taps whose channels follow one another, nine elements each, to stages of shared memory. A
/// stage has `filters` rows of four slices of 16 channels of a tap, 128 bytes with the 128-byte swizzle: slices are
/// counted tap by tap and then by channels. A thread takes 8 channels of a filter, all of whose taps lie together.
template <class T, int filters>
class FilterLoader {
    static_assert(sizeof(T) == 2);
    static constexpr int taps = 9, packet = 8, slice = 16, slices_of_stage = 4;

public:
    static constexpr unsigned threads = 128;
    static constexpr int items = filters * slice / packet / static_cast<int>(threads);  ///< of a thread

    /// Filters from the first on lie `stride` elements apart; there are `the_count` of `the_channels`.
    __device__ FilterLoader(T const* the_first, std::int64_t the_stride, int the_count, int the_channels,
                            unsigned thread)
        : first(the_first), stride(the_stride), count(the_count), channels(the_channels) {
#pragma unroll
        for (int i = 0; i < items; ++i) {  // lanes that store together have a chunk of 8 rows
            unsigned const at = thread + static_cast<unsigned>(i) * threads;
            rows[i] = at / 16 * 8 + at % 8, halves[i] = at / 8 % 2;
        }
    }

    /// The slices of 16 channels from c on: stage_at(slice) is where the stage begins that the slice is in, once it is
    /// free, and end_stage() is called when the last slice of a stage is there.
    template <class StageAt, class EndStage>
    __device__ void load(int c, StageAt const& stage_at, EndStage const& end_stage, unsigned first_slice) const {
        using Packets = Packet<T, packet>;
        Packets loaded[items][taps];
#pragma unroll
        for (int i = 0; i < items; ++i) {
            int const channel = c + static_cast<int>(halves[i]) * packet;
            bool const exists = static_cast<int>(rows[i]) < count && channel < channels;
            auto const* const from =
                reinterpret_cast<Packets const*>(first + rows[i] * stride + std::int64_t{channel} * taps);
#pragma unroll
            for (int j = 0; j < taps; ++j) loaded[i][j] = exists ? from[j] : Packets{};
        }
#pragma unroll
        for (unsigned tap = 0; tap < taps; ++tap) {
            unsigned const number = first_slice + tap;
            unsigned char* const stage = stage_at(number);
#pragma unroll
            for (int i = 0; i < items; ++i) {
                Packets out;
#pragma unroll
                for (int j = 0; j < packet; ++j) {
                    int const at = j * taps + static_cast<int>(tap);
                    out.values[j] = loaded[i][at / packet].values[at % packet];
                }
                unsigned const chunk = number % slices_of_stage * 2 + halves[i];
                *reinterpret_cast<Packets*>(stage + rows[i] * 128 + (chunk ^ rows[i] % 8) * 16) = out;
            }
            if (number % slices_of_stage == slices_of_stage - 1) end_stage();
        }
    }

private:
    T const* first;
    std::int64_t stride;
    int count, channels;
    unsigned rows[items], halves[items];
};

}  // namespace fusekit::hip
