// SPDX-License-Identifier: MIT
#pragma once

#include <type_traits>

#include "fusekit/tensor/fold.hpp"

namespace fusekit {

/// A view that may be left out: then there is nothing to read from, or to write to. Made implicitly from views and,
/// where they outlive it, from tensors; parameters of every place are folded to rank 3.
template <class T, int Rank>
struct OptionalView {
    T* data = nullptr;
    Layout<Rank> layout{};

    OptionalView() = default;
    FUSEKIT_HD constexpr OptionalView(TensorView<T, Rank> const& view) : data(view.data), layout(view.layout) {}
    template <class Given, int Of>
        requires(std::is_convertible_v<Given*, T*> && (Of == Rank || (Rank == 3 && (Of == 2 || Of == 4))))
    constexpr OptionalView(TensorView<Given, Of> const& view) : data(view.data), layout(fold<Rank>(view.layout)) {}

    /// From a Tensor, which outlives the view: a temporary one is refused.
    template <class Source>
        requires(!std::is_trivially_copyable_v<Source> && requires(Source& source) { OptionalView(source.view()); })
    constexpr OptionalView(Source& source) : OptionalView(source.view()) {}
    template <class Source>
        requires(std::is_const_v<T> && !std::is_trivially_copyable_v<Source> &&
                 requires(Source const& source) { OptionalView(source.const_view()); })
    constexpr OptionalView(Source const& source) : OptionalView(source.const_view()) {}
    template <class Source>
        requires(!std::is_trivially_copyable_v<Source>)
    OptionalView(Source const&&) = delete;

    FUSEKIT_HD constexpr bool given() const { return data != nullptr; }
    FUSEKIT_HD constexpr TensorView<T, Rank> view() const { return {data, layout}; }
};

}  // namespace fusekit
