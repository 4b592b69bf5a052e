// SPDX-License-Identifier: MIT
#include "fusekit/plan/ordering.hpp"

#include <string>

#include "fusekit/fusekit.hpp"

namespace fk = fusekit;

namespace {

using C = fk::Conv<fk::filter(3, 3)>;
using D = fk::Conv<fk::dynamic>;
using G = fk::Gemm;
using B = fk::Bias;
using N = fk::BatchNormInference<fk::Spatial>;
using M = fk::BatchNormInference<fk::PerActivation>;
using A = fk::Activation<fk::Relu>;
using R = fk::Residual;
using S = fk::Scale;
using T = fk::ChannelStatistics;

/// Users' operators follow the rules by their stage alone.
struct Floor {
    static constexpr auto stage = fk::Stage::pointwise;
    struct Args {
        float at = 0;
    };
    static float apply(float x, fk::OutputCoord, Args const& args) { return x < args.at ? args.at : x; }
};
struct LateBias {
    static constexpr auto stage = fk::Stage::bias;
    struct Args {};
    template <class V>
    static V apply(V x, Args const&) {
        return x + 1.0f;
    }
};
struct OwnActivation {
    static constexpr auto stage = fk::Stage::activation;
    struct Args {};
    static float apply(float x, Args const&) { return x; }
};

static_assert(fk::Fusable<C> && fk::Fusable<C, B> && fk::Fusable<C, A> && fk::Fusable<C, N> && fk::Fusable<C, B, A>);
static_assert(fk::Fusable<C, N, A> && fk::Fusable<C, B, N> && fk::Fusable<C, B, N, A>);
static_assert(fk::Fusable<N> && fk::Fusable<A> && fk::Fusable<N, A> && fk::Fusable<B, A> && fk::Fusable<M, A>);
static_assert(fk::Fusable<D, B, R, A> && fk::Fusable<D, B, A, R> && !fk::Fusable<R, C> && fk::Fusable<S, C>);
static_assert(fk::Fusable<N, A, C, B, N, A> && fk::Fusable<B, A, C, B> && !fk::Fusable<M, A, C> && !fk::Fusable<T, C> &&
              !fk::Fusable<N, C, C>);
static_assert(!fk::Fusable<A, N, C> && !fk::Fusable<A, A, C> && !fk::Fusable<fk::Store, C> &&
              !fk::Fusable<fk::BatchNormTraining<fk::Spatial>, C>);
static_assert(fk::Fusable<C, R, S, B, R, S, N, R, S, A, R, S> && fk::Fusable<Floor, C> == false);
static_assert(fk::Fusable<C, Floor, B, Floor, A, Floor, Floor> && fk::Fusable<Floor>);
static_assert(fk::Fusable<C, T> && fk::Fusable<C, B, T, A> && fk::Fusable<C, B, A, T> && !fk::Fusable<C, T, T>);
static_assert(fk::Fusable<C, LateBias, A> && !fk::Fusable<C, A, LateBias> && !fk::Fusable<C, B, LateBias>);
static_assert(fk::Fusable<C, B, OwnActivation> && !fk::Fusable<C, OwnActivation, N> &&
              !fk::Fusable<C, A, OwnActivation>);
static_assert(!fk::Fusable<C, N, M> && !fk::Fusable<C, A, fk::Activation<fk::Tanh>> && !fk::Fusable<C, D> &&
              !fk::Fusable<D, C>);

/// A Gemm follows the rules of a Conv; it has no images to pool, and no per-pixel parameters.
static_assert(fk::Fusable<G> && fk::Fusable<G, B, N, A> && fk::Fusable<N, A, G, B, N, A> && fk::Fusable<G, B, R, A, S>);
static_assert(fk::Fusable<G, T> && fk::Fusable<G, fk::Store, A> && fk::Fusable<G, B, fk::Requantize>);
static_assert(!fk::Fusable<G, G> && !fk::Fusable<C, G> && !fk::Fusable<G, B, A, C> && !fk::Fusable<R, G>);
static_assert(!fk::Fusable<G, A, N> && !fk::Fusable<G, A, B> && !fk::Fusable<T, G> && !fk::Fusable<Floor, G>);
static_assert(!fk::Fusable<G, M> && !fk::Fusable<M, G> && !fk::Fusable<G, fk::Pool<fk::Max, 2, 2>> &&
              !fk::Fusable<G, fk::GlobalAverage> && !fk::Fusable<fk::BatchNormTraining<fk::Spatial>, G>);

/// Each rule, on a sequence that breaks it and no other rule.
static_assert(!fk::OneTotal<T, T> && !fk::OneTotal<fk::BatchNormTraining<fk::Spatial>, T> && fk::OneTotal<C, T> &&
              fk::OneTotal<T>);
static_assert(!fk::HasOperators<> && fk::HasOperators<B>);
static_assert(!fk::PixelParametersFit<G, M> && fk::PixelParametersFit<C, M> && fk::PixelParametersFit<G, R, B> &&
              fk::PixelParametersFit<M>);
static_assert(!fk::PoolFits<G, fk::Pool<fk::Max, 2, 2>> && fk::PoolFits<G> && !fk::OneHead<C, G>);
static_assert(!fk::OneHead<C, C> && fk::OneHead<C, B> && fk::OneHead<B>);
static_assert(!fk::PrologueFits<R, C> && !fk::PrologueFits<Floor, C> && fk::PrologueFits<B, C> &&
              fk::PrologueFits<C, R> && fk::PrologueFits<R>);
static_assert(!fk::BiasComesEarly<N, B> && !fk::BiasComesEarly<A, B> && fk::BiasComesEarly<B, N, A> &&
              fk::BiasComesEarly<R, B>);
static_assert(!fk::NormBeforeActivation<A, N> && fk::NormBeforeActivation<N, A> && fk::NormBeforeActivation<N, R, A>);
static_assert(!fk::OneOfEach<B, B> && !fk::OneOfEach<N, N> && !fk::OneOfEach<A, A> &&
              fk::OneOfEach<R, R, S, S, Floor, Floor>);

}  // namespace
