// SPDX-License-Identifier: MIT
#pragma once

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
    template <class Source>
        requires requires(Source& source) { TensorView<T, Rank>(fold<Rank>(source.view())); }
    constexpr OptionalView(Source& source) : OptionalView(TensorView<T, Rank>(fold<Rank>(source.view()))) {}

    FUSEKIT_HD constexpr bool given() const { return data != nullptr; }
    FUSEKIT_HD constexpr TensorView<T, Rank> view() const { return {data, layout}; }
};

}  // namespace fusekit
