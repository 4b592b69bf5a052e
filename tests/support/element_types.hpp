// SPDX-License-Identifier: MIT
#pragma once

#include <string>

#include "fusekit/ops/conv.hpp"
#include "fusekit/ops/gemm.hpp"

namespace test {

/// Given for an element type T: x of elements X, y of Y and weights of W.
template <class X, class Y, class W = X>
struct Types {};
/// Given for an element type T: floats, multiplied as with Products<Factor>.
template <class Factor>
struct FloatsAs {};

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
template <class Factor>
struct TypesOf<FloatsAs<Factor>> : TypesOf<float> {};

}  // namespace detail

/// Element types of x and z; of y; of the weights.
template <class T>
using XOf = typename detail::TypesOf<T>::X;
template <class T>
using YOf = typename detail::TypesOf<T>::Y;
template <class T>
using WOf = typename detail::TypesOf<T>::W;

namespace detail {

/// Option of a head: none, Weights, or Products. double has no mixed weights: its option is float's.
template <class T>
struct OptionOf {
    using Weights = fusekit::Weights<std::conditional_t<std::is_same_v<WOf<T>, double>, float, WOf<T>>>;
    using Type = std::conditional_t<std::is_same_v<WOf<T>, XOf<T>>, void, Weights>;
};
template <class Factor>
struct OptionOf<FloatsAs<Factor>> {
    using Type = fusekit::Products<Factor>;
};
template <class T>
using Option = typename OptionOf<T>::Type;

}  // namespace detail

/// Conv<Geometry>, Gemm and BatchedGemm with T's option.
template <class T, auto Geometry>
using ConvOf = fusekit::Conv<Geometry, detail::Option<T>>;
template <class T>
using GemmOf =
    std::conditional_t<std::is_void_v<detail::Option<T>>, fusekit::Gemm, fusekit::GemmWith<detail::Option<T>>>;
template <class T>
using BatchedGemmOf = std::conditional_t<std::is_void_v<detail::Option<T>>, fusekit::BatchedGemm,
                                         fusekit::BatchedGemmWith<detail::Option<T>>>;

/// Names T: "half", "half into float", or "half with int8 into float".
template <class T>
std::string name_of_types() {
    std::string const x = fusekit::name(fusekit::data_type<XOf<T>>), y = fusekit::name(fusekit::data_type<YOf<T>>),
                      w = fusekit::name(fusekit::data_type<WOf<T>>);
    return x + (w == x ? "" : " with " + w) + (y == x ? "" : " into " + y);
}

}  // namespace test
