// SPDX-License-Identifier: MIT
#include "fusekit/plan/statistics.hpp"

#include <catch2/catch_test_macros.hpp>
#include <vector>

#include "fusekit/fusekit.hpp"

namespace fk = fusekit;

namespace {

using Relu = fk::Activation<fk::Relu>;
using Statistics = fk::ChannelStatistics;

static_assert(fk::detail::Collector<fk::detail::Epilogue<Statistics>>::at == 0);
static_assert(fk::detail::Collector<fk::detail::Epilogue<Relu, Statistics, fk::Bias>>::at == 1);
static_assert(fk::detail::Collector<fk::detail::Epilogue<Relu, fk::Bias, Statistics>>::at == 2);
static_assert(std::is_same_v<fk::detail::Collector<fk::detail::Epilogue<Relu, Statistics>>::Op, Statistics>);
static_assert(fk::detail::Collects<fk::detail::StatisticsHead<Statistics>> && !fk::detail::Collects<Relu>);

using Steps = fk::detail::ReductionSteps<fk::detail::StatisticsHead<Relu, Statistics, fk::Bias>>;
static_assert(Steps::has_totals && !Steps::waits && !Steps::per_pixel && !Steps::has_operand);

}  // namespace

TEST_CASE("TileTotalsView stores tile by tile, and in a tile each float of all channels' totals contiguously") {
    struct Total {
        float first, second;
    };
    std::vector<float> scratch(3 * 2 * 4, -1);
    fk::detail::TileTotalsView<Total> const view{scratch.data(), 4};
    for (int tile = 0; tile < 3; ++tile)
        for (int k = 0; k < 4; ++k)
            view.put(tile, k, {static_cast<float>(100 + 10 * tile + k), static_cast<float>(200 + 10 * tile + k)});
    for (std::size_t i = 0; i < scratch.size(); ++i)
        CHECK(scratch[i] == static_cast<float>(100 * (i / 4 % 2 + 1) + 10 * (i / 8) + i % 4));
    CHECK(view.at(2, 3, 1) == &scratch.back());
}

TEST_CASE("statistics get the values at their position, and y the last operator's results") {
    float bias[] = {100}, mean = 0, variance = 0;
    fk::Layout<1> const one = fk::channels(1);
    fk::detail::StatisticsHead<Relu, Statistics, fk::Bias>::Args const args{
        {{}},
        {{fk::TensorView<float, 1>(&mean, one), fk::TensorView<float, 1>(&variance, one)}},
        {{fk::TensorView<float const, 1>(bias, one)}}};
    fk::OutputCoord const at{0, 0, 0, 0};
    auto const state = Steps::prepare(at, args);
    Steps::Accumulator<float> accumulator{};
    for (float const x : {-5.0f, 4.0f}) Steps::add(accumulator, x, 0.0f, at, state, args);
    Steps::add(accumulator, 1000.0f, 0.0f, at, state, args, false);
    Steps::save(accumulator.total(2), at, args);
    CHECK((mean == 2 && variance == 4));
    CHECK(Steps::apply(4.0f, 0.0f, at, state, {}, args) == 104);
}
