// SPDX-License-Identifier: MIT
#pragma once

#include <string>

#include "fusekit/ops/conv.hpp"
#include "fusekit/ops/gemm.hpp"

namespace test {

/// In place of an element type T where tests take one: x is of elements X, y of Y and weights of W.
template <class X, class Y, class W = X>
struct Types {};

namespace detail {

template <class T>
struct TypesOf {
    using X = T;
    using Y = T;
    using W = T;
};
template <class TheX, class TheY, class TheW>
struct TypesOf<Types<TheX, TheY, TheW>> {
    using X = TheX;
    using Y = TheY;
    using W = TheW;
};

}  // namespace detail

/// The elements of x and of z; of y; and of the weights.
template <class T>
using XOf = typename detail::TypesOf<T>::X;
template <class T>
using YOf = typename detail::TypesOf<T>::Y;
template <class T>
using WOf = typename detail::TypesOf<T>::W;

namespace detail {

template <class Option>
struct GemmOf {
    using Type = fusekit::GemmWith<Option>;
};
template <>
struct GemmOf<void> {
    using Type = fusekit::Gemm;
};

/// Weights<W>, where W is not X.
template <class T>
using OptionOf = std::conditional_t<std::is_same_v<WOf<T>, XOf<T>>, void, fusekit::Weights<WOf<T>>>;

}  // namespace detail

/// Conv<Geometry> and Gemm of such weights.
template <class T, auto Geometry>
using ConvOf = fusekit::Conv<Geometry, detail::OptionOf<T>>;
template <class T>
using GemmOf = typename detail::GemmOf<detail::OptionOf<T>>::Type;

/// "half", "half into float", or "half with int8 into float".
template <class T>
std::string name_of_types() {
    std::string const x = fusekit::name(fusekit::data_type<XOf<T>>), y = fusekit::name(fusekit::data_type<YOf<T>>),
                      w = fusekit::name(fusekit::data_type<WOf<T>>);
    return x + (w == x ? "" : " with " + w) + (y == x ? "" : " into " + y);
}

}  // namespace test
