// SPDX-License-Identifier: MIT
#include "fusekit/backend/hip/tuning/policy.hpp"

#include <catch2/catch_test_macros.hpp>
#include <type_traits>

#include "fusekit/backend/hip/tuning/amd.hpp"
#include "fusekit/backend/hip/tuning/nvidia.hpp"
#include "fusekit/fusekit.hpp"

namespace fk = fusekit;
using namespace fusekit::hip;

namespace {

template <class A, class B>
constexpr bool same = std::is_same_v<A, B>;

}  // namespace

TEST_CASE("HIP: tuning tables become the schedules of their numbers") {
    CHECK(same<GemmTable<NvidiaTuning>, List<Gemm<128, 64, 16, 3>, Gemm<64, 64, 16, 6>>>);
    CHECK(same<GemmTable<AmdTuning>, GemmTable<AmdTuning, fk::half>>);
    CHECK(same<GemmTable<NvidiaTuning, fk::half>,
               List<detail::NativeCandidate<128, 64, 3, 16>, detail::NativeCandidate<64, 64, 4, 16>>>);
    CHECK(same<GemmTable<AmdTuning, fk::half>, List<NativeGemm<128, 128, 2>, NativeGemm<64, 64, 6>>>);
    CHECK(same<GemmTable<AmdTuning, fk::int8>,
               List<NativeGemm<128, 128, 2>, NativeGemm<64, 128, 3>, NativeGemm<64, 64, 6>>>);
    CHECK(same<GemmTable<AmdTuning, fk::e4m3_fnuz>, GemmTable<AmdTuning, fk::int8>>);
    CHECK(same<GemmTable<AmdTuning, fk::half, fk::int8>, List<Gemm<128, 128, 8, 2>, Gemm<64, 64, 8, 6>>>);
    CHECK(same<GemmTable<NvidiaTuning, float, float, fk::tf32>, GemmTable<NvidiaTuning, fk::half>>);
}

TEST_CASE("HIP: the Elementwise cut of a table depends on element size and plan") {
    CHECK(same<DefaultElementwise<NvidiaTuning, float, false>, Elementwise<128, 16, 2, 1, 16, 1>>);
    CHECK(same<DefaultElementwise<NvidiaTuning, fk::half, false>, Elementwise<128, 16, 2, 1, 16, 2>>);
    CHECK(same<DefaultElementwise<NvidiaTuning, fk::int8, false>, Elementwise<128, 8, 2, 1, 16, 2>>);
    CHECK(same<DefaultElementwise<NvidiaTuning, float, true>, Elementwise<128, 16, 8, 4, 8>>);
    CHECK(same<DefaultElementwise<NvidiaTuning, fk::half, false, true>, Elementwise<128, 8, 4, 1, 8>>);
    CHECK(same<DefaultElementwise<AmdTuning, float, false>, Elementwise<256, 16, 4, 2>>);
    CHECK(same<DefaultElementwise<AmdTuning, float, true>, Elementwise<256, 16, 8, 2>>);
    CHECK(same<DefaultElementwise<AmdTuning, fk::half, false>, Elementwise<256, 8, 8, 2>>);
    CHECK(same<DefaultElementwise<AmdTuning, fk::half, true>, Elementwise<256, 8, 32, 2>>);
    CHECK(same<DefaultElementwise<AmdTuning, fk::half, false, true>, Elementwise<256, 8, 4, 1>>);
}

TEST_CASE("HIP: the Reduction cut of a table") {
    CHECK(same<DefaultReduction<NvidiaTuning, float>, Reduction<256, 16, 8>>);
    CHECK(same<DefaultReduction<NvidiaTuning, fk::half>, Reduction<256, 16, 8>>);
    CHECK(same<DefaultReduction<AmdTuning, float>, Reduction<256, 16, 4>>);
    CHECK(same<DefaultReduction<AmdTuning, fk::half>, Reduction<256, 8, 4>>);
}
