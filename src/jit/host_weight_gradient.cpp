// SPDX-License-Identifier: MIT
//
// Host code of weight gradients.
#include "host_weight_gradient.hpp"
// the host plans above come before their users
#include "host_code.hpp"

namespace fusekit::jit {

namespace {

/// Host code of the plans of one class of filters; null if the plan's filter is of another class.
template <class T, class Y, int number>
void find_code(Spec const& spec, int of_filter, HostCode const*& found) {
    if (number != of_filter) return;
    found = &host_code_of_plan<HostWeightGradient<number, Reads::tensors>, T, Y, Ranks{4, 4}>;
    if constexpr (number == patches)
        if (spec.reads == Reads::nothing)
            found = &host_code_of_plan<HostWeightGradient<number, Reads::nothing>, T, Y, Ranks{4, 4}>;
}

template <class T, class Y>
HostCode const* code_of_types(Spec const& spec) {
    HostCode const* found = nullptr;
    if constexpr (is_built<T>)
        [&]<int... number>(std::integer_sequence<int, number...>) {
            (find_code<T, Y, number>(spec, filter_class(spec.geometry.filter), found), ...);
        }(std::make_integer_sequence<int, filter_classes>{});
    return found;
}

}  // namespace

HostCode const* weight_gradient_code(Spec const& spec, runtime::Types types) {
    if (spec.head != Head::weight_gradient || types.weights != types.x) return nullptr;
    bool const widens = types.y == DataType::float32;
    if (types.y != types.x && !widens) return nullptr;
    if (types.x == DataType::float32) return code_of_types<float, float>(spec);
    if (types.x == DataType::float16)
        return widens ? code_of_types<half, float>(spec) : code_of_types<half, half>(spec);
    if (types.x != DataType::bfloat16) return nullptr;
    return widens ? code_of_types<bfloat16, float>(spec) : code_of_types<bfloat16, bfloat16>(spec);
}

}  // namespace fusekit::jit
