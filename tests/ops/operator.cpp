// SPDX-License-Identifier: MIT
#include "fusekit/ops/operator.hpp"

#include <memory>
#include <string>

#include "fusekit/fusekit.hpp"

namespace fk = fusekit;

namespace {

static_assert(fk::EpilogueOp<fk::Bias> && fk::EpilogueOp<fk::Residual> && fk::EpilogueOp<fk::Scale>);
static_assert(fk::EpilogueOp<fk::BatchNormInference<fk::Spatial>> &&
              fk::EpilogueOp<fk::BatchNormInference<fk::PerActivation>>);
static_assert(fk::EpilogueOp<fk::Activation<fk::Relu>> && !fk::MainloopOp<fk::Bias>);
static_assert(fk::MainloopOp<fk::Conv<fk::filter(3, 3)>> && fk::MainloopOp<fk::Conv<fk::dynamic>>);
static_assert(!fk::EpilogueOp<fk::Conv<fk::filter(3, 3)>> && fk::Operator<fk::Conv<fk::filter(3, 3)>>);
static_assert(fk::Channelwise<fk::Bias> && fk::Located<fk::Residual> && fk::Uniform<fk::Scale> &&
              !fk::Uniform<fk::Bias>);

constexpr auto pointwise = fk::Stage::pointwise;

struct Uniform {
    static constexpr auto stage = pointwise;
    struct Args {};
    static float apply(float x, Args const&) { return x; }
};
struct Located {
    static constexpr auto stage = pointwise;
    struct Args {};
    static float apply(float x, fk::OutputCoord, Args const&) { return x; }
};
struct Channelwise {
    static constexpr auto stage = pointwise;
    struct Args {};
    template <class V>
    struct Prepared {
        V factor;
    };
    static Prepared<float> prepare(std::int64_t, Args const&) { return {1}; }
    template <class V>
    static V apply(V x, Prepared<V> const& channel) {
        return x * channel.factor;
    }
};
static_assert(fk::Uniform<Uniform> && fk::Located<Located> && fk::Channelwise<Channelwise>);
static_assert(fk::EpilogueOp<Uniform> && fk::EpilogueOp<Located> && fk::EpilogueOp<Channelwise>);

/// Each type lacks one requirement.
struct NoStage {
    struct Args {};
    static float apply(float x, Args const&) { return x; }
};
struct StageOfAnotherType {
    static constexpr auto stage = "pointwise";
    struct Args {};
    static float apply(float x, Args const&) { return x; }
};
struct NoArgs {
    static constexpr auto stage = pointwise;
    static float apply(float x) { return x; }
};
struct ArgsOwnMemory {
    static constexpr auto stage = pointwise;
    struct Args {
        std::string text;
    };
    static float apply(float x, Args const&) { return x; }
};
struct NoApply {
    static constexpr auto stage = pointwise;
    struct Args {};
};
struct ApplyNotStatic {
    static constexpr auto stage = pointwise;
    struct Args {};
    float apply(float x, Args const&) { return x; }
};
struct ReturnsDouble {
    static constexpr auto stage = pointwise;
    struct Args {};
    static double apply(float x, Args const&) { return x; }
};
struct ReturnsNothing {
    static constexpr auto stage = pointwise;
    struct Args {};
    static void apply(float, Args const&) {}
};
struct ArgumentsSwapped {
    static constexpr auto stage = pointwise;
    struct Args {};
    static float apply(Args const&, float x) { return x; }
};
struct PrepareGivesAnother {
    static constexpr auto stage = pointwise;
    struct Args {};
    template <class V>
    struct Prepared {
        V factor;
    };
    static float prepare(std::int64_t, Args const&) { return 1; }
    template <class V>
    static V apply(V x, Prepared<V> const& channel) {
        return x * channel.factor;
    }
};
struct ConvWithoutOutput {
    static constexpr auto stage = fk::Stage::mainloop;
    struct Args {};
};
static_assert(!fk::Operator<NoStage> && !fk::Operator<StageOfAnotherType> && !fk::Operator<NoArgs> &&
              !fk::Operator<ArgsOwnMemory>);
static_assert(!fk::Operator<NoApply> && !fk::Operator<ApplyNotStatic> && !fk::Operator<ReturnsDouble> &&
              !fk::Operator<ReturnsNothing>);
static_assert(!fk::Operator<ArgumentsSwapped> && !fk::Operator<PrepareGivesAnother> &&
              !fk::Operator<ConvWithoutOutput>);
static_assert(!fk::Operator<int> && !fk::Operator<void> && !fk::Operator<fk::Relu>);
static_assert(!fk::Fusable<fk::Conv<fk::dynamic>, NoStage> && !fk::Fusable<ReturnsDouble>);

}  // namespace
