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

/// float in place of double, of which no weights are under another type.
template <class T>
using Weights = fusekit::Weights<std::conditional_t<std::is_same_v<WOf<T>, double>, float, WOf<T>>>;

}  // namespace detail

/// Conv<Geometry>, Gemm and BatchedGemm of such weights.
template <class T, auto Geometry>
using ConvOf = std::conditional_t<std::is_same_v<WOf<T>, XOf<T>>, fusekit::Conv<Geometry>,
                                  fusekit::Conv<Geometry, detail::Weights<T>>>;
template <class T>
using GemmOf = std::conditional_t<std::is_same_v<WOf<T>, XOf<T>>, fusekit::Gemm, fusekit::GemmWith<detail::Weights<T>>>;
template <class T>
using BatchedGemmOf = std::conditional_t<std::is_same_v<WOf<T>, XOf<T>>, fusekit::BatchedGemm,
                                         fusekit::BatchedGemmWith<detail::Weights<T>>>;

/// "half", "half into float", or "half with int8 into float".
template <class T>
std::string name_of_types() {
    std::string const x = fusekit::name(fusekit::data_type<XOf<T>>), y = fusekit::name(fusekit::data_type<YOf<T>>),
                      w = fusekit::name(fusekit::data_type<WOf<T>>);
    return x + (w == x ? "" : " with " + w) + (y == x ? "" : " into " + y);
}

}  // namespace test
