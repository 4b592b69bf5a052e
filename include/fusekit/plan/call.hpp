// SPDX-License-Identifier: MIT
#pragma once

#include <type_traits>
#include <utility>

#include "fusekit/tensor/collapse.hpp"
#include "fusekit/tensor/no_output.hpp"

/// Compile-time checks of the types of the arguments of layer(device, x, y).
namespace fusekit::detail {

/// Fails a static_assert if X is not a tensor or a view: a bare pointer, a std::vector, or a layout.
template <class X>
consteval bool is_input() {
    constexpr bool tensor = Activations<X>, elements = !requires(X const& x) { x.stride; };
    static_assert(elements, "x is a layout, which has no element type: write prepare<float>(device, x, y) or the like");
    static_assert(tensor || !elements,
                  "x is neither a tensor nor a view: write fk::TensorView(pointer, fk::nchw(n, c, h, w))");
    return tensor && elements;
}
template <class Y>
consteval bool is_output() {
    constexpr bool none = std::is_same_v<std::remove_cvref_t<Y>, NoOutput>;
    constexpr bool tensor = none || (Activations<std::remove_cvref_t<Y>> && requires(Y& y) { y.view(); });
    static_assert(tensor,
                  "y must be a tensor or view with elements that are not const: write fk::TensorView(pointer, "
                  "fk::nchw(n, k, p, q))");
    return tensor;
}

/// View of the tensor y, an argument of layer(device, x, y); fk::no_output is returned unchanged.
template <class Y>
FUSEKIT_H auto output_view(Y& y) {
    if constexpr (std::is_same_v<std::remove_const_t<Y>, NoOutput>) return y;
    else return y.view();
}
/// View of a y that is not allocated yet: a null pointer with this layout.
template <class U, int Rank>
FUSEKIT_H TensorView<detail::StoredAs<U>, Rank> output_at(Layout<Rank> const& layout) {
    return {nullptr, layout};
}
template <class U>
FUSEKIT_H NoOutput output_at(NoOutput none) {
    return none;
}

/// Static assertions on Device, the type of layer's first argument. may_run: it is a device, and not const, unless it
/// is a handle to a device. may_make_y: for a call that returns y as a new tensor, it is not a temporary that owns
/// memory, which y would outlive.
template <class Device>
consteval bool may_run() {
    constexpr bool is_device =
        requires { typename std::remove_cvref_t<Device>::Memory; } && !Activations<std::remove_cvref_t<Device>>;
    static_assert(is_device, "the first argument is not a device: write layer(device, x, y) or layer(device, x)");
    if constexpr (!is_device) return false;
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
    static_assert(lives, "a temporary device does not outlive y, its new tensor: give the device a name");
    return lives;
}

/// Type: element type of a new y: U or, if U is void, x's element type under the name that the application wrote, such
/// as __half for fk::half.
template <class X, class U = void>
struct GivenOf {
    using Type = U;
};
template <class X>
struct GivenOf<X, void> {
    using Type = std::remove_cvref_t<decltype(*std::declval<X const&>().const_view().data)>;
};
template <class X>
    requires requires { typename X::Given; }
struct GivenOf<X, void> {
    using Type = std::remove_const_t<typename X::Given>;
};
template <class X, class U>
using Given = typename GivenOf<X, U>::Type;

}  // namespace fusekit::detail
