// SPDX-License-Identifier: MIT
#include "fusekit/backend/hip/schedule/direct.hpp"

#include <catch2/catch_test_macros.hpp>

#include "backend/hip/schedule/problems.hpp"
#include "fusekit/backend/hip/schedule/gemm.hpp"

namespace fk = fusekit;
using namespace fk::hip;

namespace {

using Conv = fk::Conv<fk::dynamic>;

static_assert(DirectEntry::describes<Direct<64>> && !DirectEntry::describes<Gemm<64, 64, 8>>);
static_assert(test::compiles<DirectEntry, Direct<>, fk::e4m3, fk::Activation<fk::Relu>, Conv, fk::ChannelStatistics>());
static_assert(DirectEntry::runs<fk::Plan<Conv>> && !DirectEntry::runs<fk::Plan<fk::Bias>>);
static_assert(!DirectEntry::splits<Direct<>, float, traits_of<fk::Plan<Conv>, float>()>);

}  // namespace

TEST_CASE("HIP: Direct implements every problem, and has its threads as its number") {
    ConvCase of = test::problem(2, 3, 7, 5, 40);
    of.in_bulk = of.channels_last = of.on_matrix_units = false, of.in_slabs = true;
    CHECK_FALSE(DirectEntry::can_implement<Direct<>, float, float>(of));
    constexpr ScheduleFacts facts = numbers_of<DirectEntry, Direct<64>>();
    CHECK((facts.m == 64 && facts.blocks == 2));
    CHECK(std::string(DirectEntry::written(facts).c_str()) == "Direct<64>");
}

TEST_CASE("HIP: Direct's time grows with outputs and taps") {
    CHECK(test::grows<DirectEntry, Direct<>>(64, 56, 64, 3));
    auto const seconds = [](int r) {
        return test::time_of<DirectEntry, Direct<>>(test::problem(8, 64, 56, 64, r)).seconds;
    };
    CHECK(seconds(3) > 8 * seconds(1));
    ConvCase resnext = test::problem(1, 128, 56, 128, 3);  // in NCHW: 34.7 us on an H200
    resnext.product.groups = 32, resnext.product.n = 4, resnext.product.gemm_k = 36;
    double const time = test::time_of<DirectEntry, Direct<>>(resnext).seconds;
    CHECK((time > 15e-6 && time < 50e-6));
}
