// SPDX-License-Identifier: MIT
#pragma once

#include <type_traits>

#include "fusekit/tensor/collapse.hpp"

namespace fusekit {

namespace detail {

/// True if an OptionalView<T, Rank> converts from View.
template <class View, class T, int Rank>
inline constexpr bool is_optional = false;
template <class Given, int Of, class T, int Rank>
inline constexpr bool is_optional<TensorView<Given, Of>, T, Rank> =
    std::is_convertible_v<detail::StoredAs<Given>*, T*> &&
    (Of == Rank || Rank == 1 || (Rank == 3 && (Of == 2 || Of == 4)));

}  // namespace detail

/// View that may be omitted; then the run neither reads nor writes its tensor. Converts implicitly from views, and from
/// tensors that outlive it; per-pixel parameters are collapsed to rank 3, per-channel parameters to rank 1
/// (tensor/collapse.hpp).
template <class T, int Rank>
struct OptionalView {
    T* data = nullptr;
    Layout<Rank> layout{};
    CollapsedFrom from{};

    FUSEKIT_H OptionalView() = default;
    FUSEKIT_HD constexpr OptionalView(detail::CollapsedView<TensorView<T, Rank>> const& view)
        : data(view.data), layout(view.layout), from(view.from) {}
    FUSEKIT_HD constexpr OptionalView(TensorView<T, Rank> const& view) : data(view.data), layout(view.layout) {}
    template <class Given, int Of>
        requires(detail::is_optional<TensorView<Given, Of>, T, Rank>)
    FUSEKIT_H constexpr OptionalView(TensorView<Given, Of> const& view)
        : OptionalView(detail::stored(view.data), detail::collapse<Rank>(view.layout)) {}

    /// Converts from a Tensor, which must outlive the view; a temporary Tensor does not compile.
    template <class Source>
        requires(!std::is_trivially_copyable_v<Source> &&
                 requires(Source& source) { requires detail::is_optional<decltype(source.view()), T, Rank>; })
    FUSEKIT_H constexpr OptionalView(Source& source) : OptionalView(source.view()) {}
    template <class Source>
        requires(!std::is_trivially_copyable_v<Source> && std::is_const_v<T> &&
                 requires(Source const& source) {
                     requires detail::is_optional<decltype(source.const_view()), T, Rank>;
                 })
    FUSEKIT_H constexpr OptionalView(Source const& source) : OptionalView(source.const_view()) {}
    template <class Source>
        requires(!std::is_trivially_copyable_v<Source>)
    OptionalView(Source const&&) = delete;  // this temporary is gone before its view is used: give it a name

    FUSEKIT_HD constexpr bool given() const { return data != nullptr; }
    FUSEKIT_HD constexpr detail::CollapsedView<TensorView<T, Rank>> view() const { return {{data, layout}, from}; }

private:
    FUSEKIT_H constexpr OptionalView(T* the_data, detail::CollapsedLayout<Rank> const& collapsed)
        : data(the_data), layout(collapsed.layout()), from(collapsed.shape.from) {}
};

}  // namespace fusekit
