// expect: operators before a Conv or Gemm are applied to every value that it reads, so they are functions of the value and its channel alone: put others into a Plan before it
// SPDX-License-Identifier: MIT
#include <fusekit/fusekit.hpp>

namespace fk = fusekit;

/// A user's operator at Stage::pointwise, and one that reads the coordinate.
struct Doubled {
    static constexpr auto stage = fk::Stage::pointwise;
    struct Args {};
    static float apply(float x, Args const&) { return 2 * x; }
};
struct Checkered {
    static constexpr auto stage = fk::Stage::pointwise;
    struct Args {};
    static float apply(float x, fk::OutputCoord at, Args const&) { return (at.p + at.q) % 2 ? x : 0; }
};

using Conv = fk::Conv<fk::filter(3, 3).pad(1)>;
static_assert(fk::Fusable<Doubled, Conv, Checkered, Doubled> && !fk::Fusable<Checkered, Conv>);
static_assert(fk::Fusable<fk::Scale, fk::Requantize, Conv, fk::Residual, fk::Scale>);
static_assert(!fk::Fusable<fk::GlobalAverage, Doubled> && !fk::Fusable<Doubled, fk::BatchNormTraining<fk::Spatial>>);

#ifdef CORRECTED
using Layer = fk::Plan<Doubled, Conv, Checkered>;
#else
using Layer = fk::Plan<Checkered, Conv>;
#endif
Layer const* const layer = nullptr;
