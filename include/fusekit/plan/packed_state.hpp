// SPDX-License-Identifier: MIT
#pragma once

#include "fusekit/plan/epilogue.hpp"

FUSEKIT_BEGIN_OPERATOR_CALLS

namespace fusekit::detail {

/// The floats of an Epilogue's prepared parameters, one operator after the other. State<float> also has bytes for each
/// operator without parameters.
template <class Epilogue>
struct PackedState;
template <class... Ops>
struct PackedState<Epilogue<Ops...>> {
    using State = typename Epilogue<Ops...>::template State<float>;

    /// Nothing, the state of an operator without parameters, is smaller than a float.
    static constexpr int size =
        (0 + ... + static_cast<int>(sizeof(typename ChannelStateOf<Ops, float>::Type) / sizeof(float)));
    float values[size > 0 ? static_cast<std::size_t>(size) : 1];

    FUSEKIT_HD static constexpr PackedState of(State const& state) {
        PackedState result{};
        int at = 0;
        [&]<int... Nth>(std::integer_sequence<int, Nth...>) {
            (result.template put<Ops>(at, get<Nth>(state)), ...);
        }(std::make_integer_sequence<int, static_cast<int>(sizeof...(Ops))>{});
        return result;
    }
    FUSEKIT_HD constexpr State state() const {
        int at = 0;
        return State{{take<Ops>(at)}...};
    }

private:
    template <class Op>
    FUSEKIT_HD constexpr void put(int& at, typename ChannelStateOf<Op, float>::Type const& state) {
        if constexpr (Channelwise<Op>) {
            auto const fields = config::bit_cast<Fields<Op, float>>(state);
            for (float each : fields.value) values[at++] = each;
        }
    }
    template <class Op>
    FUSEKIT_HD constexpr typename ChannelStateOf<Op, float>::Type take(int& at) const {
        if constexpr (Channelwise<Op>) {
            Fields<Op, float> fields{};
            for (float& each : fields.value) each = values[at++];
            return config::bit_cast<typename ChannelStateOf<Op, float>::Type>(fields);
        } else {
            return {};
        }
    }
};

}  // namespace fusekit::detail

FUSEKIT_END_OPERATOR_CALLS
