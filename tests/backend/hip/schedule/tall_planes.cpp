// SPDX-License-Identifier: MIT
#include "fusekit/backend/hip/schedule/tall_planes.hpp"

#include <catch2/catch_test_macros.hpp>
#include <string>

#include "backend/hip/schedule/problems.hpp"
#include "fusekit/backend/hip/schedule/tall_gemm.hpp"

namespace fk = fusekit;
using namespace fk::hip;

namespace {

using Conv = fk::Conv<fk::dynamic>;
using Conv1 = fk::Conv<fk::filter(1, 1)>;
using Relu = fk::Activation<fk::Relu>;

static_assert(TallPlanesEntry::describes<TallPlanes<1>> && !TallPlanesEntry::describes<TallGemm<>>);
static_assert(!TallGemmEntry::describes<TallPlanes<>> && !PlanesEntry::describes<TallPlanes<>>);
static_assert(test::compiles<TallPlanesEntry, TallPlanes<>, float, Conv, fk::Bias, Relu>());
static_assert(!TallPlanesEntry::splits<TallPlanes<>, float, traits_of<fk::Plan<Conv>, float>()>);

template <class T, class... Ops>
constexpr bool has_kernel = TallPlanesEntry::has_kernel<fk::Plan<Ops...>, T, T>;
static_assert(has_kernel<float, Conv> && has_kernel<fk::half, Conv1> && has_kernel<float, fk::Conv<fk::filter(3, 3)>>);
static_assert(!has_kernel<fk::int8, Conv> && !has_kernel<float, fk::Gemm>);
static_assert(!has_kernel<float, Relu, Conv1> && !has_kernel<float, Conv1, fk::ChannelStatistics>);
static_assert(!has_kernel<float, Conv1, fk::Pool<fk::Max, 2, 2>> && !has_kernel<float, Conv1, fk::Residual>);

/// A layer of planes of floats, of n images of hw x hw pixels and a filter of r x r.
ConvCase layer(std::int64_t n, std::int64_t c, std::int64_t hw, std::int64_t k, int r = 1) {
    ConvCase of = test::problem(n, c, hw, k, r);
    of.type = fk::DataType::float32;
    of.channels_last = of.x_channels_last = false;
    of.contiguous_taps = of.dense_planes = true;
    of.product.bytes = 4.0 * static_cast<double>(k * c * r * r + n * hw * hw * (k + c));
    return of;
}

}  // namespace

TEST_CASE("TallPlanes implements dense planes") {
    auto const sentence = [](int r, auto const& change) {
        ConvCase of = layer(4, 96, 14, 24, r);
        change(of);
        bool const finite = test::time_of<TallPlanesEntry, TallPlanes<>>(of).is_finite();
        std::string const text = test::sentence(TallPlanesEntry::can_implement<TallPlanes<>, float, float>(of));
        CHECK(finite == text.empty());
        return text;
    };
    CHECK(sentence(1, [](ConvCase&) {}) == "");
    CHECK(sentence(3, [](ConvCase&) {}) == "");
    CHECK(sentence(1, [](ConvCase& of) { of.dense_planes = false; }) ==
          "x's or y's planes are not dense: pass them dense");
    CHECK(sentence(3, [](ConvCase& of) { of.product.gemm_k = 1025; }) == "C * R * S = 1025 exceeds 1024: use Planes");
    CHECK(sentence(3, [](ConvCase& of) { of.filter = fk::filter(32, 3); }) ==
          "taps of a mode = 32 exceeds 31: use MatrixGemm");
    CHECK(
        sentence(1, [](ConvCase& of) { of.x[2] = std::int64_t{1} << 22; }).starts_with("elements of an image of x = "));
}

TEST_CASE("TallPlanes' time grows with the batch and is near that of its bytes") {
    double before = 0;
    for (std::int64_t n = 1; n <= 256; n *= 2) {
        ConvCase const of = layer(n, 16, 112, 16);
        double const time = test::time_of<TallPlanesEntry, TallPlanes<>>(of).seconds;
        CHECK(time >= before);
        before = time;
    }
    double const memory = layer(256, 16, 112, 16).product.bytes / (NvidiaTuning::costs.memory_share * 4800e9);
    CHECK((before > memory && before < 2.2 * memory));
}

TEST_CASE("TallPlanes loads filters of several panels for each tile") {
    auto const seconds = [](std::int64_t c) {
        return test::time_of<TallPlanesEntry, TallPlanes<>>(layer(32, c, 56, 128)).seconds;
    };
    CHECK(seconds(256) / seconds(224) < 1.2);
    CHECK(seconds(288) / seconds(256) > 1.3);
}
