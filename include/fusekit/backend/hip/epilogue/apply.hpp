// SPDX-License-Identifier: MIT
#pragma once

#include "fusekit/backend/hip/params.hpp"
#include "fusekit/backend/hip/thread_coord.hpp"

namespace fusekit::hip {

/// States of `count` channels. Empty if the epilogue has no parameters of channels.
template <class Epilogue, int count>
class ChannelStates {
    using State = typename Epilogue::template State<float>;

public:
    /// Prepares state i, of channel k.
    __device__ void prepare(int i, int k, typename Epilogue::Args const& arguments) {
        if constexpr (Epilogue::channelwise) states[i] = Epilogue::prepare(std::int64_t{k}, arguments);
    }
    __device__ State operator[](int i) const {
        if constexpr (Epilogue::channelwise) return states[i];
        else return State{};
    }

private:
    State states[Epilogue::channelwise ? count : 1];
};

/// Result of an epilogue that depends on channels only, for an accumulator of channel k.
template <class Epilogue, class State>
__device__ float apply_to_channel(float sum, int k, State const& state, typename Epilogue::Args const& arguments) {
    return Epilogue::apply(sum, OutputCoord{0, k, 0, 0}, state, arguments);
}

/// Coordinate of y with the loaded element of the only activation view that operators read.
struct LoadedCoord : ThreadCoord {
    float value;

    FUSEKIT_HD LoadedCoord(OutputCoord const& at, float the_value) : ThreadCoord(at), value(the_value) {}

    using OutputCoord::load;
    FUSEKIT_HD float load(AnyView<4> const&) const { return value; }
};

/// Result of an accumulator of y at `at`, in bounds or not (`exists`). With `loads`, TMA has loaded the element of the
/// only activation view that operators read, `value`; otherwise maxima are kept in chain `number` of `maxima`. Passes
/// collected values to collect().
template <class Epilogue, bool loads, class State, class Collect = detail::Nothing>
__device__ float apply_to_accumulator(float sum, OutputCoord const& at, State const& state,
                                      typename Epilogue::Args const& arguments, [[maybe_unused]] float value,
                                      [[maybe_unused]] TileMaxima<Epilogue::maxima>& maxima,
                                      [[maybe_unused]] int number, [[maybe_unused]] bool exists,
                                      Collect const& collect = {}) {
    static_assert(!loads || Epilogue::maxima == 0);
    auto const coord = [&] {
        if constexpr (loads) return LoadedCoord(at, value);
        else return MaximaCoord<Epilogue::maxima>(at, maxima, number % TileMaxima<Epilogue::maxima>::chains, exists);
    };
    return Epilogue::apply(sum, coord(), state, arguments, collect);
}

}  // namespace fusekit::hip
