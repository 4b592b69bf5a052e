// SPDX-License-Identifier: MIT
#pragma once

#include <type_traits>

#include "fusekit/tensor/check.hpp"

namespace fusekit {

/// An option of a Conv and of a Gemm: weights of elements T under x of another type, float, half or bfloat16. They are
/// converted, without error, to the type that is multiplied.
template <class T>
struct Weights {
    using Element = detail::StoredAs<T>;
    static_assert(!std::is_void_v<ElementOf<T>> && !std::is_same_v<Element, double>,
                  "Weights are of float, half, bfloat16 or int8");
};

namespace detail {

/// What an option says. Without one, weights have x's element type.
template <class Option>
struct WeightsOption {
    static constexpr bool is_valid = false;
};
template <>
struct WeightsOption<void> {
    static constexpr bool is_valid = true;
    template <class X>
    using Element = X;

    static DataType type(DataType x) { return x; }
    static constexpr char const* reason = ", as the input";
    static Text written() { return ""; }
};
template <class T>
struct WeightsOption<Weights<T>> {
    static constexpr bool is_valid = true;
    template <class>
    using Element = typename Weights<T>::Element;

    static DataType type(DataType) { return data_type<typename Weights<T>::Element>; }
    static constexpr char const* reason = ", as its Weights are";
    static Text written() { return Text("Weights<") + name(type({})) + ">"; }
};

/// Refuses weights of another type than the option says.
template <class Option>
void check_weights(DataType given, Check const& in) {
    DataType const expected = WeightsOption<Option>::type(in.type);
    if (given != expected) in.fail("weights", Text(name(expected)) + WeightsOption<Option>::reason, name(given));
}

}  // namespace detail

}  // namespace fusekit
