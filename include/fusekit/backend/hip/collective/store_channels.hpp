// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include "fusekit/backend/hip/arch/packed.hpp"
#include "fusekit/backend/hip/arch/sm90a.hpp"
#include "fusekit/backend/hip/collective/read_coord.hpp"
#include "fusekit/backend/hip/params.hpp"

namespace fusekit::hip {

/// The epilogue of a warpgroup's product of 64 channels and Atom::n pixels. A thread has two channels, 8 apart, whose
/// parameters it keeps in registers.
template <class Plan, class Atom, class U>
class StoreChannels {
    static constexpr int row_bytes = 128, pixel_blocks = Atom::n / 8;
    using Epilogue = typename Plan::Epilogue;
    using State = typename Epilogue::template State<float>;
    static constexpr bool reads = reads_in_bulk<Plan, U, U>;
    static constexpr bool reads_places = (Epilogue::located && !reads) || Epilogue::per_place;

public:
    /// Prepares the thread's channels; of no channel of y, its last one's.
    template <class Arguments>
    __device__ StoreChannels(Arguments const& the_arguments, int channels, unsigned the_thread)
        : arguments(the_arguments), thread(the_thread), count(channels) {
        if constexpr (Epilogue::channelwise)
            for (int i = 0; i < 2; ++i)
                states[i] = Epilogue::prepare(std::int64_t{min(channel(i), count - 1)}, arguments);
    }

    /// Takes sums to `staged`, rows of a pixel's 64 channels with the 128-byte swizzle. `place_of(i)` is where pixel i
    /// of the tile lies in y; its n is -1 where it is in none. What an operator reads lies where the results will. What
    /// is collected takes the sums' place.
    template <class PlaceOf>
    __device__ void stage(float (&sums)[Atom::sums_per_thread], std::uint32_t staged, PlaceOf place_of) const {
        unsigned const lane = thread % 32, chunk = thread / 32 * 2 + lane / 8 % 2;  // of 8 channels
        // Two neighbouring pixels of a channel: sums e and e + 1.
        auto const pair = [&](int e, std::uint32_t both) {
            int const own = e / 2 % 2;
            float results[2] = {}, values[2] = {};
            if constexpr (reads) unpack<U>(both, values);
            for (int i = 0; i < 2; ++i) {
                Pixel const at = reads_places ? place_of(Atom::column(static_cast<int>(thread), e + i)) : Pixel{};
                OutputCoord const place{at.n, channel(own), at.p, at.q};
                if (!reads_places || (at.n >= 0 && channel(own) < count))
                    results[i] = Epilogue::apply(sums[e + i], coord_of(place, values[i]),
                                                 Epilogue::channelwise ? states[own] : State{}, arguments,
                                                 [&](float x) { sums[e + i] = x; });
            }
            return packed<U>(results[0], results[1]);
        };
#pragma unroll
        for (int block = 0; block < pixel_blocks; block += 2) {
            bool const is_odd = block + 1 == pixel_blocks;  // the last one, which is stored twice
            int const second = is_odd ? block : block + 1;
            unsigned const pixel = 8 * static_cast<unsigned>(lane < 16 ? block : second) + lane % 8;
            auto const address = staged + pixel * row_bytes + ((chunk ^ pixel) % 8) * 16;
            std::uint32_t before[4] = {};
            if constexpr (reads) ptx::load_matrices<true>(address, before);
            std::uint32_t const one = pair(4 * block, before[0]), other = pair(4 * block + 2, before[1]);
            ptx::store_matrices<true>(address, {one, other, is_odd ? one : pair(4 * second, before[2]),
                                                is_odd ? other : pair(4 * second + 2, before[3])});
        }
    }

private:
    typename Epilogue::Args const& arguments;
    unsigned thread;
    int count;
    State states[Epilogue::channelwise ? 2 : 1];

    __device__ static auto coord_of(OutputCoord const& place, [[maybe_unused]] float value) {
        if constexpr (reads) return ReadCoord(place, value);
        else return ThreadCoord(place);
    }
    __device__ int channel(int own) const { return Atom::row(static_cast<int>(thread), 2 * own); }
};

}  // namespace fusekit::hip
