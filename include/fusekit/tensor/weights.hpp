// SPDX-License-Identifier: MIT
#pragma once

#include <type_traits>

#include "fusekit/tensor/check.hpp"

namespace fusekit {

/// Option of a Conv or Gemm, like Products: weights of element type T that differs from x's type, which is float, half
/// or bfloat16. Weights are converted, exactly, to the type in which they are multiplied.
template <class T>
struct Weights {
    using Element = detail::StoredAs<T>;
    static_assert(!std::is_void_v<ElementOf<T>> && !std::is_same_v<Element, double>,
                  "Weights are of float, half, bfloat16, int8 or an 8-bit float");
};

namespace detail {

/// Properties of an option of a Conv or Gemm (Weights or Products). Without an option (void), weights have x's element
/// type, and the backend chooses the format in which floats are multiplied.
template <class Option>
struct HeadOption {
    static constexpr bool is_valid = false;
};
template <>
struct HeadOption<void> {
    static constexpr bool is_valid = true;
    template <class X>
    using Element = X;
    using Factor = void;

    FUSEKIT_H static DataType type(DataType x) { return x; }
    static constexpr char const* reason = ", as the input";
    FUSEKIT_H static Text written() { return ""; }
};
template <class T>
struct HeadOption<Weights<T>> {
    static constexpr bool is_valid = true;
    using Factor = void;
    template <class>
    using Element = typename Weights<T>::Element;

    FUSEKIT_H static DataType type(DataType) { return data_type<typename Weights<T>::Element>; }
    static constexpr char const* reason = ", as its Weights are";
    FUSEKIT_H static Text written() { return Text("Weights<") + name(type({})) + ">"; }
};

/// Stores an error in `in` if the weights have another element type than the option, or than x without an option.
template <class Option>
FUSEKIT_H void check_weights(DataType given, Check const& in) {
    DataType const expected = HeadOption<Option>::type(in.type);
    if (given == expected) return;
    bool const mixes = std::is_void_v<Option> && in.type != DataType::int8 && in.type != DataType::float64 &&
                       given != DataType::float64;
    in.fail(
        "weights", Text(name(expected)) + HeadOption<Option>::reason,
        name(given) + (mixes ? Text(": for weights of another type add the option Weights<") + name(given) + ">" : ""));
}

}  // namespace detail

}  // namespace fusekit
