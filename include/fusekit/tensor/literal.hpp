// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>

#include "fusekit/tensor/view.hpp"

namespace fusekit {

/// Small float tensor for constant expressions: an input of Plan::evaluate, or its expected result. Write `constexpr
/// auto x = fk::literal<fk::nchw(1, 1, 2, 2)>(1, 2, 3, 4);`, with elements in memory order. An argument of a plan must
/// have static storage: declare it constexpr at namespace scope, or static.
template <auto TheLayout>
struct Literal {
    static constexpr auto layout = TheLayout;
    float values[static_cast<std::size_t>(TheLayout.size())];

    FUSEKIT_H constexpr bool operator==(Literal const&) const = default;
    using View = TensorView<float const, TheLayout.rank>;
    FUSEKIT_H constexpr View const_view() const& { return {values, TheLayout}; }
    FUSEKIT_H constexpr operator View() const& { return const_view(); }
    View const_view() const&& = delete;  // this literal is gone before its view is used: give it a name
    operator View() const&& = delete;
};

template <auto TheLayout, class... Values>
    requires(sizeof...(Values) == TheLayout.size())
consteval Literal<TheLayout> literal(Values... values) {
    return {{static_cast<float>(values)...}};
}

}  // namespace fusekit
