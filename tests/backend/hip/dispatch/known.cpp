// SPDX-License-Identifier: MIT
#include "fusekit/backend/hip/dispatch/known.hpp"

#include <string>

#include "backend/hip/filled.hpp"
#include "backend/hip/gpu.hpp"
#include "fusekit/hip.hpp"

using namespace test;
using fk::hip::Problem, fk::hip::detail::packed_filters;

namespace {

template <class Plan, class Given>
constexpr bool suits = fk::hip::detail::KnownProblem<Plan, fk::half, Given>::suits();

using Conv3x3 = fk::Plan<fk::Conv<fk::filter(3, 3).pad(1).stride(2)>>;
using Grouped = fk::Plan<fk::Conv<fk::filter(1, 5).groups(4)>>;
using Transposed = fk::Plan<fk::TransposedConv<fk::filter(2, 2).stride(2)>>;
using Pooled = fk::Plan<fk::Conv<fk::filter(3, 3).pad(1)>, fk::Pool<fk::Max, 2, 2>>;

constexpr auto x = fk::nhwc(2, 8, 9, 16), planes = fk::nchw(2, 16, 8, 9);

static_assert(packed_filters<Conv3x3>(x, fk::nhwc(2, 4, 5, 24)) == fk::krsc(24, 3, 3, 16));
static_assert(packed_filters<Conv3x3>(planes, fk::nchw(2, 24, 4, 5)) == fk::kcrs(24, 16, 3, 3));
static_assert(packed_filters<Grouped>(x, fk::nhwc(2, 8, 5, 8)) == fk::krsc(8, 1, 5, 4));
static_assert(packed_filters<Transposed>(x, fk::nhwc(2, 16, 18, 24)) == fk::krsc(16, 2, 2, 24));
static_assert(packed_filters<fk::Plan<fk::Gemm>>(fk::row_major(5, 6), fk::row_major(5, 7)) == fk::row_major(7, 6));

static_assert(suits<Conv3x3, Problem<x, fk::nhwc(2, 4, 5, 24)>>);
static_assert(!suits<Conv3x3, Problem<x, fk::nhwc(2, 8, 9, 24)>>);
static_assert(!suits<Conv3x3, Problem<x, fk::nhwc(1, 4, 5, 24)>>);
static_assert(suits<Conv3x3, Problem<x, fk::nhwc(2, 4, 5, 24), fk::kcrs(24, 16, 3, 3)>>);
static_assert(!suits<Conv3x3, Problem<x, fk::nhwc(2, 4, 5, 24), fk::krsc(24, 5, 5, 16)>>);
static_assert(suits<Transposed, Problem<x, fk::nhwc(2, 16, 18, 24)>>);
static_assert(suits<Transposed, Problem<x, fk::nhwc(2, 16, 19, 24)>>);
static_assert(!suits<Transposed, Problem<x, fk::nhwc(2, 16, 20, 24)>>);
static_assert(suits<Pooled, Problem<x, fk::nhwc(2, 4, 4, 24)>>);

/// Convolution of a Problem on an H200, without a stream-K tail.
template <class Given>
struct Whole {
    using Known = fk::hip::detail::KnownChoice<fk::Plan<fk::Conv<fk::filter(3, 3).pad(1)>>, fk::half, fk::half,
                                               fk::hip::arch::Sm90a, Given>;
    static constexpr auto of = Known::of;
    static constexpr auto architecture = Known::architecture;
    static constexpr int split_k = 1;
};
template <class Given>
constexpr bool compiles_general =
    fk::hip::detail::OneKernel<Whole<Given>, fk::hip::WarpSpecialized<192, 128, 4>>::general;

// Rows of an odd number of 16-byte packets are multicast, which the general kernel alone does.
static_assert(compiles_general<Problem<fk::nhwc(32, 28, 28, 312), fk::nhwc(32, 28, 28, 128)>>);
static_assert(!compiles_general<Problem<fk::nhwc(32, 28, 28, 320), fk::nhwc(32, 28, 28, 128)>>);

}  // namespace

TEST_CASE("HIP: addresses of known layouts that are no multiples of 16 bytes are refused") {
    fk::hip::Device device = gpu();
    using Plan = fk::Plan<fk::Conv<fk::filter(1, 1)>>;
    constexpr auto layout = fk::nhwc(2, 8, 8, 64);
    auto const memory = filled<fk::half>(device, fk::channels(layout.size() + 8), 1);
    auto const weights = filled<fk::half>(device, fk::krsc(64, 1, 1, 64), 1);
    fk::Tensor<fk::half, fk::hip::Device> y(device, layout);
    auto const layer = Plan::bind({.weights = weights});
    auto const known = device.with_layouts<layout, layout>();
    auto const refused = [&](int offset) -> std::string {
        auto const run = layer.try_prepare(known, fk::TensorView<fk::half const>(memory.data() + offset, layout), y);
        return run ? "accepted" : run.error().what();
    };
    CHECK(refused(0) == "accepted");
    CHECK(refused(8) == "accepted");
    CHECK(refused(1).find("x, y or weights are not at multiples of 16 bytes: leave out with_layouts()") !=
          std::string::npos);
}
