// SPDX-License-Identifier: MIT
#pragma once

#include <string>

#include "fusekit/tensor/dtype.hpp"

namespace test {

/// In place of an element type T where tests take one: x is of elements X and y of Y.
template <class X, class Y>
struct Types {};

namespace detail {

template <class T>
struct TypesOf {
    using X = T;
    using Y = T;
};
template <class TheX, class TheY>
struct TypesOf<Types<TheX, TheY>> {
    using X = TheX;
    using Y = TheY;
};

}  // namespace detail

/// The elements of x, of the weights and of z; and those of y.
template <class T>
using XOf = typename detail::TypesOf<T>::X;
template <class T>
using YOf = typename detail::TypesOf<T>::Y;

/// "half", or "half into float".
template <class T>
std::string name_of_types() {
    std::string const x = fusekit::name(fusekit::data_type<XOf<T>>), y = fusekit::name(fusekit::data_type<YOf<T>>);
    return x == y ? x : x + " into " + y;
}

}  // namespace test
