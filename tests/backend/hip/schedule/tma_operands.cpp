// SPDX-License-Identifier: MIT
#include "fusekit/backend/hip/schedule/tma_operands.hpp"

#include <catch2/catch_test_macros.hpp>

#include "backend/hip/schedule/problems.hpp"

namespace fk = fusekit;
using namespace fk::hip;
using test::sentence;

namespace {

template <bool phased, class... Ops>
std::string unmet() {
    return sentence(detail::unmet_by_tma_loads<fk::Plan<Ops...>, phased>());
}
template <class... Ops>
std::string unmet_by_halo() {
    return sentence(detail::unmet_by_taps<fk::Plan<Ops...>>(detail::unmet_by_unit_steps));
}

constexpr fk::Filter<2> window = fk::filter(3, 3);
using Strided = fk::TransposedConv<fk::filter(3, 3).pad(1).stride(2)>;
using Sparse = fk::TransposedConv<fk::filter(3, 3).stride(2, 3)>;

}  // namespace

TEST_CASE("HIP: conditions of TMA loads on a plan's type") {
    if constexpr (arch::is_targeted<arch::Sm90a>) {
        CHECK(unmet<false, fk::Conv<window>>() == "");
        CHECK(unmet<false, fk::Gemm, fk::Bias>() == "");
        CHECK(unmet<false, fk::Conv<fk::filter(3)>>() == "");
        CHECK(unmet<false, fk::Conv<fk::filter(3, 3, 3)>>() ==
              "TMA loads windows of two modes, not volumes: use MatrixGemm");
        CHECK(unmet<false, fk::BatchedGemm>() == "the plan has a BatchedGemm: use MatrixGemm");
        CHECK(unmet<false, Strided>() == "the plan has a TransposedConv with a stride: use MatrixGemm");
        CHECK(unmet<true, Strided>() == "");
        CHECK(unmet<true, Sparse>() == "phases of the stride = 6 exceeds 4: use MatrixGemm");
        CHECK(unmet<true, Strided, fk::ChannelStatistics>() ==
              "ChannelStatistics after a TransposedConv with a stride: use MatrixGemm");
    } else {
        CHECK(unmet<false, fk::Conv<window>>() ==
              "the program has no code for sm_90a: compile for it, or use Gemm or NativeGemm");
    }
}

TEST_CASE("HIP: conditions of a halo in shared memory on a filter") {
    CHECK(sentence(detail::unmet_by_unit_steps(window.pad(2, 1, 0, 3))) == "");
    CHECK(sentence(detail::unmet_by_unit_steps(window.stride(2, 1))) == "stride_h = 2 is not 1: use MatrixGemm");
    CHECK(sentence(detail::unmet_by_unit_steps(window.stride(1, 2))) == "stride_w = 2 is not 1: use MatrixGemm");
    CHECK(sentence(detail::unmet_by_unit_steps(window.dilation(3, 1))) == "dilation_h = 3 is not 1: use MatrixGemm");
    CHECK(sentence(detail::unmet_by_unit_steps(window.dilation(1, 3))) == "dilation_w = 3 is not 1: use MatrixGemm");
    CHECK(sentence(detail::unmet_by_unit_steps(window.groups(4))) == "groups = 4 is not 1: use MatrixGemm");
    CHECK(sentence(detail::unmet_by_steps(window.groups(4))) == "");
    // A filter that is known at run time only meets them for now.
    CHECK(unmet_by_halo<fk::Conv<fk::dynamic>>() == "");
    CHECK(unmet_by_halo<fk::Conv<window>>() == "");
    CHECK(unmet_by_halo<fk::Conv<window.stride(2)>>() == "stride_h = 2 is not 1: use MatrixGemm");
    CHECK(unmet_by_halo<fk::Conv<fk::filter(1, 1)>>() == "the filter has one tap, and so no halo: use WarpSpecialized");
}

TEST_CASE("HIP: sm_90a's tensor cores multiply three types of 8 bits") {
    CHECK((detail::is_sm90a_byte<fk::int8> && detail::is_sm90a_byte<fk::e4m3> && detail::is_sm90a_byte<fk::e5m2>));
    CHECK((!detail::is_sm90a_byte<fk::half> && !detail::is_sm90a_byte<fk::e4m3_fnuz>));
}
