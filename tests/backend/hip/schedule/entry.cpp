// SPDX-License-Identifier: MIT
#include "fusekit/backend/hip/schedule/entry.hpp"

#include <catch2/catch_test_macros.hpp>
#include <utility>
#include <vector>

#include "fusekit/backend/hip/schedule/planes.hpp"
#include "fusekit/backend/hip/tuning/nvidia.hpp"
#include "fusekit/fusekit.hpp"

namespace fk = fusekit;
using namespace fk::hip;

namespace {

using Conv = fk::Conv<fk::filter(3, 3)>;

static_assert(ConvEntry::runs<fk::Plan<Conv>> && !ConvEntry::runs<fk::Plan<fk::Bias>>);
static_assert(!ConvEntry::on_matrix_units && !ConvEntry::by_tma && PlanesEntry::on_matrix_units && PlanesEntry::by_tma);
static_assert(PlanesEntry::has_kernel<fk::Plan<Conv>, fk::half, fk::half> == arch::is_targeted<arch::Sm90a>);
static_assert(!PlanesEntry::has_kernel<fk::Plan<Conv>, fk::half, float>);

// Split's number of CTAs hides the parts of Planes.
constexpr ScheduleFacts whole = numbers_of<PlanesEntry, Planes<64, 2>>(),
                        shared = numbers_of<PlanesEntry, Split<Planes<64, 2>, 8>>();
static_assert(!whole.splits && whole.m == 64 && whole.parts == 2 && whole.blocks == 1);
static_assert(shared.splits && shared.m == 64 && shared.parts == 2 && shared.blocks == 1);

static_assert(fk::hip::detail::has_head_of_images<fk::Plan<Conv>>());
static_assert(fk::hip::detail::has_head_of_images<fk::Plan<fk::Conv<fk::filter(3)>>>());
static_assert(fk::hip::detail::has_head_of_images<fk::Plan<fk::Gemm>>());
static_assert(!fk::hip::detail::has_head_of_images<fk::Plan<fk::Conv<fk::filter(3, 3, 3)>>>());
static_assert(!fk::hip::detail::has_head_of_images<fk::Plan<fk::BatchedGemm>>());
static_assert(!fk::hip::detail::has_head_of_images<fk::Plan<fk::ConvWeightGradient<fk::filter(3, 3)>>>());
static_assert(!fk::hip::detail::has_head_of_images<fk::Plan<fk::Bias>>());

}  // namespace

TEST_CASE("HIP: split-K in clusters takes the number of CTAs with the least time, on the SMs that run such clusters") {
    CostTable const& table = NvidiaTuning::costs;
    std::vector<std::pair<int, int>> given;
    auto const fastest = [&](int wanted) {
        return [&given, wanted](int parts, int processors) {
            given.emplace_back(parts, processors);
            return Estimate{.seconds = parts == wanted ? 1.0 : 2.0};
        };
    };
    GpuRates rates = rates_of(Architecture::sm(90));
    int const all = rates.processors;
    for (int const wanted : {2, 4, 8}) {
        given.clear();
        Estimate const best = fk::hip::detail::cluster_split_estimate(8, table, rates, fastest(wanted));
        CHECK((best.split_k == wanted && best.seconds == 1.0));
        CHECK(given == std::vector<std::pair<int, int>>{
                           {2, all}, {4, all - all / table.idle.of_4}, {8, all - all / table.idle.of_8}});
    }
    given.clear();
    CHECK(fk::hip::detail::cluster_split_estimate(7, table, rates, fastest(8)).split_k == 2);
    CHECK(given.size() == 2);
    given.clear();
    CHECK_FALSE(
        fk::hip::detail::cluster_split_estimate(8, table, rates_of(Architecture::sm(80)), fastest(2)).is_finite());
    CHECK(given.empty());
}
