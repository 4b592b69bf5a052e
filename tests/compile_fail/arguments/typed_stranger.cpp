// expect: bind_by_type: this argument (Given) is the Args of no operator of the plan (Ops)
// expect g++: Given = fusekit::Scale::Args
// expect clang: belongs_to_plan<fusekit::Scale::Args,
// SPDX-License-Identifier: MIT
#include <fusekit/fusekit.hpp>

namespace fk = fusekit;

using Conv = fk::Conv<fk::filter(3, 3).pad(1)>;

struct Doubled {
    static constexpr auto stage = fk::Stage::pointwise;
    struct Args {
        float by = 2;
    };
    static float apply(float x, Args const& args) { return args.by * x; }
};

fk::host::Device device;
auto const w = fk::random<float>(device, fk::kcrs(4, 4, 3, 3));
auto const b = fk::random<float>(device, fk::channels(4));

using Layer = fk::Plan<Conv, fk::Bias, Doubled>;
#ifdef CORRECTED
auto const layer = Layer::bind_by_type(Doubled::Args{}, fk::Bias::Args{.bias = b}, Conv::Args{.weights = w});
#else
auto const layer =
    Layer::bind_by_type(Doubled::Args{}, fk::Bias::Args{.bias = b}, Conv::Args{.weights = w}, fk::Scale::Args{});
#endif
