// SPDX-License-Identifier: MIT
//
// Host code of transposed convolutions.
#include "host_transposed.hpp"
// the host plans above come before their users
#include "host_code.hpp"

namespace fusekit::jit {

namespace {

template <class T>
HostCode const* code_of_element(Spec const& spec) {
    HostCode const* found = nullptr;
    if constexpr (is_built<T>) {
        int const of_filter = transposed_class(spec.geometry.filter);
        auto const find = [&]<int number>(std::integral_constant<int, number>) {
            if (number != of_filter) return;
            found = spec.reads == Reads::tensors
                        ? &host_code_of_plan<HostTransposed<number, Reads::tensors>, T, T, Ranks{4, 4}>
                        : &host_code_of_plan<HostTransposed<number, Reads::channels>, T, T, Ranks{4, 4}>;
        };
        [&]<int... number>(std::integer_sequence<int, number...>) {
            (find(std::integral_constant<int, number>{}), ...);
        }(std::make_integer_sequence<int, transposed_classes>{});
    }
    return found;
}

}  // namespace

HostCode const* transposed_code(Spec const& spec, DataType type) {
    if (spec.head != Head::transposed_conv) return nullptr;
    if (type == DataType::float32) return code_of_element<float>(spec);
    if (type == DataType::float16) return code_of_element<half>(spec);
    return type == DataType::bfloat16 ? code_of_element<bfloat16>(spec) : nullptr;
}

}  // namespace fusekit::jit
