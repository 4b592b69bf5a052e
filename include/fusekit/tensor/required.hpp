// SPDX-License-Identifier: MIT
#pragma once

#include <type_traits>
#include <utility>

#include "fusekit/tensor/collapse.hpp"

namespace fusekit {

/// Types named like required arguments: a compiler's error about an omitted argument contains the type's name.
namespace field {
struct amax;
struct bias;
struct count;
struct dy;
struct mask;
struct mean;
struct scale;
struct shift;
struct taps;
struct variance;
struct variances;
struct values;
struct weights;
struct z;
}  // namespace field

/// Required argument of an operator: a View without a default. Field is the type in `field` that is named like the
/// argument.
template <class View, class Field>
struct Required : View {
    template <class Source>
        requires(std::is_convertible_v<Source, View> && !std::is_base_of_v<Required, std::remove_cvref_t<Source>>)
    FUSEKIT_H constexpr Required(Source&& source) : View(std::forward<Source>(source)) {}

    /// Converts from {pointer, layout}.
    template <class T, class V = View>
        requires std::is_constructible_v<V, T*, Layout<V::rank>>
    FUSEKIT_HD constexpr Required(T* data, Layout<V::rank> const& layout) : View(data, layout) {}

    /// Deleted, so that code that omits the argument does not compile. A template, because nvcc 13 compiles such code
    /// if a plain default constructor is deleted.
    template <class = void>
    Required() = delete;  // the argument Field is left out, or out of order: give all, in the order of Op::Args
};

/// Required for a Collapsed view. It declares Collapsed's constructors again instead of inheriting them, because
/// mangled names of inherited constructors do not contain the compiler flags (abi.hpp).
template <class View, int... Ranks, class Field>
struct Required<Collapsed<View, Ranks...>, Field> : Collapsed<View, Ranks...> {
    FUSEKIT_HD constexpr Required(Collapsed<View, Ranks...> const& view) : Base(view) {}
    FUSEKIT_HD constexpr Required(View const& view)
        requires((Ranks == View::rank) || ...)
        : Base(view) {}
    template <class Source>
    FUSEKIT_H constexpr Required(Source const& source) : Base(source) {}
    template <class T>
        requires std::is_constructible_v<View, T*, Layout<View::rank>>
    FUSEKIT_HD constexpr Required(T* data, Layout<View::rank> const& layout) : Base(data, layout) {}

    template <detail::Collapsible<View, Ranks...> Source>
        requires detail::Owning<Source>
    Required(Source const&&) = delete;  // this temporary is gone before its view is used: give it a name

    template <class = void>
    Required() = delete;  // the argument Field is left out, or out of order: give all, in the order of Op::Args

private:
    using Base = Collapsed<View, Ranks...>;
};

}  // namespace fusekit
