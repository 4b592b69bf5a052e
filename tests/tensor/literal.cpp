// SPDX-License-Identifier: MIT
#include "fusekit/tensor/literal.hpp"

#include <type_traits>

namespace fk = fusekit;

namespace {

constexpr auto x = fk::literal<fk::nhwc(1, 1, 2, 3)>(1, 2, 3, 4, 5, 6);
static_assert(x.const_view()(0, 1, 0, 1) == 5);  // memory order: channels are contiguous
static_assert(x == fk::literal<fk::nhwc(1, 1, 2, 3)>(1, 2, 3, 4, 5, 6));
static_assert(!(x == fk::literal<fk::nhwc(1, 1, 2, 3)>(1, 2, 3, 4, 5, 7)));
static_assert(fk::AnyView<4>(x).load(5) == 6);
static_assert(fk::literal<fk::channels(2)>(0.5f, 3).values[0] == 0.5f);

/// Refuses the view of a temporary.
using Pair = fk::Literal<fk::channels(2)>;
using View = fk::TensorView<float const, 1>;
static_assert(std::is_convertible_v<Pair const&, View> && !std::is_convertible_v<Pair, View> &&
              !std::is_convertible_v<Pair const, View>);
static_assert(std::is_convertible_v<Pair const&, fk::AnyView<1>> && !std::is_convertible_v<Pair, fk::AnyView<1>>);

template <int... Values>
concept FourOf = requires { fk::literal<fk::nchw(1, 1, 2, 2)>(Values...); };
static_assert(FourOf<1, 2, 3, 4> && !FourOf<1, 2, 3> && !FourOf<1, 2, 3, 4, 5>);

}  // namespace
