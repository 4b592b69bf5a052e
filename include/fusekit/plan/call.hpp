// SPDX-License-Identifier: MIT
#pragma once

#include <type_traits>
#include <utility>

#include "fusekit/tensor/collapse.hpp"

/// What a layer is called with, as far as types show.
namespace fusekit::detail {

/// Refuses what is no tensor, as a pointer alone or a std::vector, by its type.
template <class X>
consteval bool is_input() {
    constexpr bool tensor = Activations<X>;
    static_assert(tensor, "x is no tensor or view: write fk::TensorView(pointer, fk::nchw(n, c, h, w))");
    return tensor;
}
template <class Y>
consteval bool is_output() {
    constexpr bool tensor = Activations<std::remove_cvref_t<Y>> && requires(Y& y) { y.view(); };
    static_assert(tensor, "y is const, or no tensor or view: write fk::TensorView(pointer, fk::nchw(n, k, p, q))");
    return tensor;
}

/// Refuses a const device, unless it is no more than a handle of one; and one that y, a new tensor, would outlive. One
/// without memory of its own, or that borrows another, y may outlive.
template <class Device>
consteval bool may_run() {
    constexpr bool changes = !std::is_const_v<std::remove_reference_t<Device>> ||
                             requires { requires std::remove_cvref_t<Device>::is_handle; };
    static_assert(changes, "the device is const, but a run changes it: pass one that is not");
    return changes;
}
template <class Device>
consteval bool may_make_y() {
    using Given = std::remove_cvref_t<Device>;
    constexpr bool lives = std::is_lvalue_reference_v<Device> || std::is_trivially_destructible_v<Given> ||
                           std::is_empty_v<typename Given::Memory>;
    static_assert(lives, "this device is gone before y, its new tensor: give it a name");
    return lives;
}

/// The elements of a tensor or a view as the application has them: __half where they are stored as half.
template <class X>
struct GivenOf {
    using Type = std::remove_cvref_t<decltype(*std::declval<X const&>().const_view().data)>;
};
template <class X>
    requires requires { typename X::Given; }
struct GivenOf<X> {
    using Type = std::remove_const_t<typename X::Given>;
};
template <class X>
using Given = typename GivenOf<X>::Type;

}  // namespace fusekit::detail
