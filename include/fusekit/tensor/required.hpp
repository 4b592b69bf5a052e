// SPDX-License-Identifier: MIT
#pragma once

#include <type_traits>
#include <utility>

#include "fusekit/tensor/collapse.hpp"

namespace fusekit {

/// The names of arguments that have no default: compilers print them where one is left out.
namespace field {
struct amax;
struct bias;
struct dy;
struct mask;
struct mean;
struct scale;
struct shift;
struct variance;
struct values;
struct weights;
struct z;
}  // namespace field

/// A view that an operator's argument must be given: a View that has no default. Field is the argument's name.
template <class View, class Field>
struct Required : View {
    template <class Source>
        requires(std::is_convertible_v<Source, View> && !std::is_base_of_v<Required, std::remove_cvref_t<Source>>)
    FUSEKIT_H constexpr Required(Source&& source) : View(std::forward<Source>(source)) {}

    /// A template, because nvcc 13 lets a field be left out where only a plain default constructor is deleted.
    template <class = void>
    Required() = delete;  // the argument Field is left out, or out of order: give all, in the order of Op::Args
};

template <class View, int... Ranks, class Field>
struct Required<Collapsed<View, Ranks...>, Field> : Collapsed<View, Ranks...> {
    using Collapsed<View, Ranks...>::Collapsed;
    FUSEKIT_HD constexpr Required(Collapsed<View, Ranks...> const& view) : Collapsed<View, Ranks...>(view) {}

    template <detail::Collapsible<View, Ranks...> Source>
        requires detail::Owning<Source>
    Required(Source const&&) = delete;  // this temporary is gone before its view is used: give it a name

    template <class = void>
    Required() = delete;  // the argument Field is left out, or out of order: give all, in the order of Op::Args
};

}  // namespace fusekit
