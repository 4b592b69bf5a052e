// SPDX-License-Identifier: MIT
#include "fusekit/plan/packed_state.hpp"

#include <catch2/catch_test_macros.hpp>
#include <vector>

#include "fusekit/fusekit.hpp"

namespace fk = fusekit;

namespace {

using Relu = fk::Activation<fk::Relu>;
using Norm = fk::BatchNormInference<fk::Spatial>;
template <class... Ops>
using Packed = fk::detail::PackedState<fk::detail::Epilogue<Ops...>>;
static_assert(Packed<>::size == 0 && Packed<Relu>::size == 0 && Packed<Norm, Relu>::size == 3);
static_assert(Packed<Relu, Norm, Relu, fk::Requantize, Relu>::size == 5);

}  // namespace

TEST_CASE("PackedState has the floats of operators with parameters, in order, and returns them to the operators") {
    using Epilogue = fk::detail::Epilogue<Relu, fk::Bias, Relu, Norm>;
    constexpr int channels = 3;
    std::vector<float> const bias{1, 2, 3}, mean{4, 5, 6}, ones{1, 1, 1}, scale{7, 8, 9}, shift{10, 11, 12};
    auto const view = [](std::vector<float> const& of) {
        return fk::TensorView<float const, 1>(of.data(), fk::channels(channels));
    };
    Epilogue::Args const args{
        {{}},
        {{.bias = view(bias)}},
        {{}},
        {{.mean = view(mean), .variance = view(ones), .scale = view(scale), .shift = view(shift), .epsilon = 0}}};
    for (std::int64_t k = 0; k < channels; ++k) {
        auto const i = static_cast<std::size_t>(k);
        auto const state = Epilogue::prepare(k, args);
        auto const packed = fk::detail::PackedState<Epilogue>::of(state);
        CHECK(std::vector(packed.values, packed.values + packed.size) ==
              std::vector{bias[i], mean[i], scale[i], shift[i]});
        CHECK(Epilogue::apply(20.0f, fk::OutputCoord{}, packed.state(), args) ==
              (20 + bias[i] - mean[i]) * scale[i] + shift[i]);
    }
}
