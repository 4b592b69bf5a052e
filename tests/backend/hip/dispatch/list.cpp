// SPDX-License-Identifier: MIT
#include "fusekit/backend/hip/dispatch/list.hpp"

#include <catch2/catch_test_macros.hpp>
#include <string>

#include "backend/hip/schedule/problems.hpp"
#include "fusekit/backend/hip/tuning/nvidia.hpp"

namespace fk = fusekit;
using namespace fk::hip;

namespace {

template <class Schedule>
std::string name(int split_k = 1) {
    return facts_of<Schedule>().name(split_k).c_str();
}

/// User-defined schedule: a type with a schedule's numbers.
struct Own {
    static constexpr int tile_m = 64, tile_n = 64, tile_k = 8, threads = 64, blocks = 2;
};

}  // namespace

TEST_CASE("HIP: a schedule's kind is its index in the list, and it prints as it is written") {
    CHECK(facts_of<Gemm<64, 64, 8>>().kind == ScheduleKind::gemm);
    CHECK(facts_of<Own>().kind == ScheduleKind::gemm);
    CHECK(facts_of<NativeGemm<64, 64>>().kind == ScheduleKind::native_gemm);
    CHECK(facts_of<MatrixGemm<64, 64>>().kind == ScheduleKind::matrix_gemm);
    CHECK(facts_of<WarpSpecialized<64, 64, 8>>().kind == ScheduleKind::warp_specialized);
    CHECK(facts_of<Halo<>>().kind == ScheduleKind::halo);
    CHECK(facts_of<Planes<>>().kind == ScheduleKind::planes);
    CHECK(facts_of<Stem<>>().kind == ScheduleKind::stem);
    CHECK(facts_of<Direct<>>().kind == ScheduleKind::direct);
    CHECK(facts_of<Depthwise<>>().kind == ScheduleKind::depthwise);
    CHECK(facts_of<Grouped<>>().kind == ScheduleKind::grouped);
    CHECK(facts_of<Gemv<>>().kind == ScheduleKind::gemv);
    CHECK(facts_of<GatheredPlanes<>>().kind == ScheduleKind::gathered_planes);
    CHECK(facts_of<TallGemm<>>().kind == ScheduleKind::tall_gemm);
    CHECK(name<TallGemm<1>>() == "TallGemm<1>");
    CHECK(facts_of<TallPlanes<>>().kind == ScheduleKind::tall_planes);
    CHECK(name<TallPlanes<1>>() == "TallPlanes<1>");
    CHECK(facts_of<TmaPlanes<>>().kind == ScheduleKind::tma_planes);
    CHECK(name<TmaPlanes<>>() == "TmaPlanes<1>");
    CHECK(facts_of<PhasedHalo<>>().kind == ScheduleKind::phased_halo);
    CHECK(facts_of<Col2im<>>().kind == ScheduleKind::col2im);
    CHECK(name<Col2im<1>>() == "Col2im<1>");
    CHECK(facts_of<StripHalo<>>().kind == ScheduleKind::strip_halo);
    CHECK(name<StripHalo<>>() == "StripHalo<32>");
    CHECK(name<Own>() == "Gemm<64, 64, 8, 2>");
    CHECK(name<NativeGemm<128, 64, 3, 16>>() == "NativeGemm<128, 64, 3, 16>");
    CHECK(name<WarpSpecialized<64, 128, 5, Roles::ping_pong, 2>>() == "WarpSpecialized<64, 128, 5, ping_pong, 2>");
    CHECK(name<Split<MatrixGemm<64, 64, 4>>>(8) == "Split<MatrixGemm<64, 64, 4>, 8>");
    CHECK(name<Split<Planes<64, 2>>>(2) == "Split<Planes<64, 2>, 2>");
    CHECK(name<Halo<240>>() == "Halo<240>");
    CHECK(name<Stem<2>>() == "Stem<2>");
    CHECK(name<Direct<64>>() == "Direct<64>");
    CHECK(name<Depthwise<64>>() == "Depthwise<64>");
    CHECK(name<Grouped<>>() == "Grouped<128>");
    CHECK(name<Gemv<1>>() == "Gemv<1>");
    CHECK(name<GatheredPlanes<>>() == "GatheredPlanes<2>");
    CHECK(name<PhasedHalo<>>() == "PhasedHalo<128>");
}

TEST_CASE("HIP: a schedule has a time for the problems that it can implement on the GPU") {
    GpuRates const rates = rates_of(Architecture::sm(90));
    auto const finite = [&](ConvCase const& of) {
        return estimate_of(facts_of<WarpSpecialized<64, 64, 8>>(), of, NvidiaTuning::costs, rates).is_finite();
    };
    ConvCase of = test::problem(8, 64, 56, 64, 3);
    CHECK(finite(of));
    CHECK_FALSE(can_implement<WarpSpecialized<64, 64, 8>, fk::half, fk::half>(of));
    of.in_slabs = true;
    CHECK_FALSE(finite(of));
    of.in_slabs = false, of.on_matrix_units = false;
    CHECK_FALSE(finite(of));
    of.on_matrix_units = true, of.in_bulk = false, of.x_channel_stride = 3136;
    CHECK_FALSE(finite(of));
    CHECK(test::sentence(can_implement<WarpSpecialized<64, 64, 8>, fk::half, fk::half>(of)) ==
          "x's channel stride = 3136 is not 1: pass x channels-last, or use Planes");
}

TEST_CASE("HIP: an unmet condition is an error with the schedule, expected and given") {
    auto const plan = [] { return fk::Text("Plan<Conv<filter(3, 3)>>"); };
    Unmet const unmet{"C", 96, Relation::at_most, 64, "use WarpSpecialized"};
    fk::Error const error = refuse_schedule(plan, "Halo", unmet);
    CHECK(std::string(error.what()) == "Plan<Conv<filter(3, 3)>>: Halo: C = 96 exceeds 64: use WarpSpecialized");
    CHECK(std::string(error.operator_name.c_str()) == "Halo");
    CHECK(std::string(error.expected.c_str()) == "C at most 64");
    CHECK(std::string(error.given.c_str()) == "C = 96");
    CHECK(std::string(refuse_schedule(plan, "Halo", unmet, true).what()) ==
          "Plan<Conv<filter(3, 3)>>: Split<Halo>: C = 96 exceeds 64: use WarpSpecialized");
}
