// SPDX-License-Identifier: MIT
#include "fusekit/plan/structure.hpp"

#include <type_traits>

#include "fusekit/fusekit.hpp"

namespace fk = fusekit;

namespace {

using C = fk::Conv<fk::filter(3, 3).pad(1)>;
using B = fk::Bias;
using N = fk::BatchNormInference<fk::Spatial>;
using T = fk::BatchNormTraining<fk::Spatial>;
using A = fk::Activation<fk::Relu>;
using P = fk::Pool<fk::Max, 2, 2>;
using S = fk::ChannelStatistics;

template <class Plan, class Prologue, class Head, class Epilogue>
constexpr bool has_slots =
    std::is_same_v<typename Plan::Prologue, Prologue> && std::is_same_v<typename Plan::Head, Head> &&
    std::is_same_v<typename Plan::Epilogue, Epilogue>;

static_assert(has_slots<fk::Plan<N, A, C, B, A>, fk::detail::Epilogue<N, A>, C, fk::detail::Epilogue<B, A>>);
static_assert(has_slots<fk::Plan<C>, fk::detail::Epilogue<>, C, fk::detail::Epilogue<>>);
static_assert(has_slots<fk::Plan<T, A>, fk::detail::Epilogue<>, T, fk::detail::Epilogue<A>>);
static_assert(has_slots<fk::Plan<N, A>, fk::detail::Epilogue<>, fk::detail::Elementwise, fk::detail::Epilogue<N, A>>);

static_assert(
    has_slots<fk::Plan<N, A, fk::Gemm, B, A>, fk::detail::Epilogue<N, A>, fk::Gemm, fk::detail::Epilogue<B, A>>);
static_assert(fk::Plan<fk::Gemm, A>::head_kind == fk::detail::HeadKind::gemm && !fk::Plan<fk::Gemm, A>::has_conv);
static_assert(fk::Plan<fk::Gemm, S>::totals_tiles && !fk::Plan<fk::Gemm, A>::totals_tiles);

static_assert(fk::Plan<A, C>::head_kind == fk::detail::HeadKind::conv && fk::Plan<A, C>::has_prologue);
static_assert(fk::Plan<T, A>::head_kind == fk::detail::HeadKind::reduction && !fk::Plan<C, A>::has_prologue);
static_assert(fk::Plan<S>::head_kind == fk::detail::HeadKind::reduction &&
              fk::Plan<C, S>::head_kind == fk::detail::HeadKind::conv);
static_assert(fk::Plan<B, A>::head_kind == fk::detail::HeadKind::elementwise);
static_assert(fk::Plan<C, S>::totals_tiles && !fk::Plan<C, A>::totals_tiles && !fk::Plan<S>::totals_tiles);
static_assert(std::is_same_v<fk::Plan<C, P>::Pool, P> && std::is_void_v<fk::Plan<C, A>::Pool>);

/// Padding is zero after the prologue, although the prologue maps 0 to 1.
constexpr auto ones = fk::literal<fk::kcrs(1, 1, 1, 3)>(1, 1, 1);
constexpr auto one = fk::literal<fk::channels(1)>(1);
constexpr auto row = fk::literal<fk::nchw(1, 1, 1, 3)>(1, 2, 3);
static_assert(fk::Plan<B, fk::Conv<fk::filter(1, 3).pad(0, 1)>>::evaluate(row, {.bias = one}, {.weights = ones}) ==
              fk::literal<fk::nchw(1, 1, 1, 3)>(5, 9, 7));

}  // namespace
