// SPDX-License-Identifier: MIT
#pragma once

#include <concepts>
#include <type_traits>

#include "fusekit/tensor/view.hpp"

namespace fusekit {

namespace detail {

/// Element type of a y that is not written: assigning to an element does nothing.
struct NoElement {
    FUSEKIT_H NoElement() = default;
    FUSEKIT_H NoElement(NoElement const&) = default;
    template <std::floating_point V>
    FUSEKIT_HD constexpr explicit(false) NoElement(V) {}
    FUSEKIT_HD constexpr NoElement& operator=(NoElement const&) { return *this; }
};

}  // namespace detail

template <>
inline constexpr auto element_like<detail::NoElement> = std::type_identity<detail::NoElement>();

namespace detail {

/// Element types of a plan's y: those of tensors, or NoElement for fk::no_output.
template <class T>
concept OutputElement = Element<T> || std::same_as<T, NoElement>;

}  // namespace detail

/// Argument in place of y for a run that writes only the tensors that operators such as Store write: layer(device, x,
/// fk::no_output).
struct NoOutput {
    /// Aligned dummy pointer: loops add offsets to it, and nothing dereferences it.
    FUSEKIT_H operator detail::NoElement*() const { return reinterpret_cast<detail::NoElement*>(4096); }
};
inline constexpr NoOutput no_output{};

}  // namespace fusekit
