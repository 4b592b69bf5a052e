// SPDX-License-Identifier: MIT
#include "fusekit/backend/hip/schedule/strip_halo.hpp"

#include <catch2/catch_test_macros.hpp>
#include <string>
#include <type_traits>

#include "backend/hip/schedule/problems.hpp"
#include "fusekit/backend/hip/dispatch/known.hpp"
#include "fusekit/backend/hip/dispatch/predict.hpp"
#include "fusekit/fusekit.hpp"

namespace fk = fusekit;
using namespace fk::hip;
using test::sentence;

namespace {

using Three = fk::Conv<fk::filter(3, 3).pad(1)>;
template <class T, class... Ops>
constexpr PlanConditions with = test::conditions<StripHaloEntry, T, Ops...>;
template <class... Ops>
constexpr bool has_kernel = StripHaloEntry::has_kernel<fk::Plan<Ops...>, fk::half, fk::half>;

static_assert(with<fk::half, Three, fk::Bias>.met() && !with<float, Three>.factors && !with<fk::int8, Three>.factors);
static_assert(with<fk::half, fk::Activation<fk::Relu>, Three>.met());
static_assert(with<fk::half, Three, fk::ChannelStatistics>.met());
static_assert(!with<fk::half, fk::Activation<fk::Relu>, Three, fk::Pool<fk::Max, 2, 2>>.pool);
static_assert(has_kernel<Three, fk::Bias, fk::Activation<fk::Relu>> && has_kernel<fk::Conv<fk::dynamic>>);
static_assert(has_kernel<Three, fk::BatchNormInference<fk::Spatial>> && has_kernel<Three, fk::Pool<fk::Max, 2, 2>>);
static_assert(!has_kernel<Three, fk::Store, fk::Pool<fk::Max, 2, 2>>);
static_assert(has_kernel<fk::TransposedConv<fk::filter(3, 3).pad(1)>>);
static_assert(has_kernel<fk::GroupNormFromStatistics, fk::Activation<fk::Silu>, Three, fk::Bias, fk::Residual,
                         fk::ChannelStatistics>);
static_assert(has_kernel<Three, fk::Residual, fk::ChannelStatistics> &&
              has_kernel<fk::Requantize, Three, fk::Residual>);
static_assert(!has_kernel<Three, fk::ChannelStatistics, fk::Amax> &&
              !has_kernel<Three, fk::Store, fk::ChannelStatistics>);
static_assert(has_kernel<fk::BatchNormInference<fk::Spatial>, fk::Activation<fk::Relu>, Three>);
static_assert(!has_kernel<fk::BatchNormInference<fk::Spatial>, fk::Requantize, Three>);  // 5 parameters per channel
static_assert(has_kernel<fk::TransposedConv<fk::filter(4, 4).stride(2).pad(1)>, fk::Bias, fk::ChannelStatistics>);
static_assert(!has_kernel<fk::TransposedConv<fk::filter(4, 4).stride(2)>, fk::ChannelStatistics> &&
              !has_kernel<fk::TransposedConv<fk::filter(4, 4).stride(2).pad(1)>>);
static_assert(!has_kernel<Three, fk::Residual> && !has_kernel<Three, fk::BatchNormInference<fk::PerActivation>>);
static_assert(!has_kernel<fk::Conv<fk::filter(1, 1)>> && !has_kernel<fk::Conv<fk::filter(3, 3).stride(2)>>);
static_assert(!has_kernel<fk::Conv<fk::filter(3, 3).dilation(2)>> && !has_kernel<fk::Conv<fk::filter(3, 3).groups(2)>>);
static_assert(!has_kernel<fk::TransposedConv<fk::filter(3, 3).stride(2)>>);
static_assert(!StripHaloEntry::has_kernel<fk::Plan<Three>, fk::half, float>);
static_assert(test::compiles<StripHaloEntry, StripHalo<>, fk::bfloat16, Three>());

/// True if StripHalo is selected for a convolution of known layouts after a prologue.
template <Reads reads, class... Ops>
constexpr bool is_selected =
    std::is_same_v<EntryOf<typename fk::hip::detail::KnownChoice<
                       fk::Plan<fk::Requantize, Three, Ops...>, fk::half, fk::half, arch::Sm90a,
                       Problem<fk::nhwc(1, 64, 64, 128), fk::nhwc(1, 64, 64, 128)>, reads>::Schedule>,
                   StripHaloEntry>;
// TMA does not load every tensor of a Residual
static_assert(is_selected<Reads::like_y, fk::Residual> && !is_selected<Reads::any, fk::Residual>);
static_assert(is_selected<Reads::any, fk::Bias>);

std::string unmet(ConvCase const& of) {
    return sentence(StripHaloEntry::can_implement<StripHalo<>, fk::half, fk::half>(of));
}

}  // namespace

TEST_CASE("HIP: a tile of StripHalo has 64 or 128 channels, and its stages fit shared memory") {
    auto const shape = [](int r, int s, int of_y) { return HaloStripShape::of(fk::filter(r, s), of_y); };
    CHECK((shape(3, 3, 128).pitch() == 10 && shape(3, 3, 128).rows_of_x() == 34 && shape(3, 3, 128).stages() == 6));
    CHECK((shape(3, 3, 192).pitch() == 18 && shape(3, 3, 192).tile_filters() == 64 && shape(3, 3, 192).stages() == 5));
    CHECK((shape(3, 3, 136).tile_filters() == 64 && shape(3, 3, 256).tile_filters() == 128));
    CHECK((shape(5, 5, 128).stages() == 5 && !shape(5, 5, 64).splits_pixels));
    for (int r = 1; r <= 9; ++r)
        for (int s = 1; s <= 9; ++s)
            for (int of_y : {64, 128}) {
                HaloStripShape const each = shape(r, s, of_y);
                CAPTURE(r, s, of_y);
                CHECK(each.filters_at() % 1024 == 0);
                CHECK(each.filters_at() >= 2 * each.bytes_of_x());
                // the pixels that the last tap's MMAs read: 32 rows of 8 pixels, of the second warpgroup if it has its
                // own
                int const last = (r - 1 + 31) * each.pitch() + s - 1 + each.tile_columns() - 1;
                CHECK((last + 1) * HaloStripShape::row_bytes <= each.bytes_of_x());
                if (each.fits())
                    CHECK(each.filters_at() + each.stages() * each.filter_bytes() <= HaloStripShape::operand_bytes);
            }
    // 3 images of 30 rows, and 2 between them
    CHECK(shape(3, 3, 128).tile_rows(3, 30) == 3);
    CHECK(shape(3, 3, 128).tile_rows(3, 31) == 4);
    CHECK(shape(3, 3, 200).tiles({{3, 200, 31, 17}}) == 4 * 3 * 2);
    CHECK(shape(3, 3, 192).tiles({{3, 192, 31, 17}}) == 4 * 2 * 3);
}

TEST_CASE("HIP: StripHalo's tiles of a TransposedConv that doubles an image are of one phase of 2x2 taps") {
    auto const shape = HaloStripShape::of(fk::filter(4, 4), 128, true, true);
    CHECK((shape.taps() == 4 && shape.tap_columns() == 2 && shape.phases == 4));
    CHECK((shape.pitch() == 10 && shape.rows_of_x() == 34 && shape.stages() == 6));
    CHECK(shape.tiles({{1, 128, 32, 8}}) == 4);
    CHECK(HaloStripShape::is_doubling(fk::filter(4, 4).stride(2).pad(1)));
    CHECK_FALSE(HaloStripShape::is_doubling(fk::filter(4, 4).stride(2).pad(1, 1, 1, 0)));
    CHECK_FALSE(HaloStripShape::is_doubling(fk::filter(3, 3).stride(2).pad(1)));
}

TEST_CASE(
    "HIP: StripHalo refuses statistics of several images, and a prologue of more channels than SMEM has room for") {
    ConvCase of = test::problem(1, 512, 64, 128, 3);
    of.prologue = of.totals = true;
    CHECK(unmet(of).empty());
    of.x[1] = 520;
    CHECK(unmet(of) == "C = 520 exceeds 512: use MatrixGemm");
    of.x[1] = 12;
    CHECK(unmet(of) == "C = 12 is not a multiple of 8: use MatrixGemm");
    of = test::problem(2, 128, 64, 128, 3);
    of.totals = true;
    CHECK(unmet(of) == "images of a plan with ChannelStatistics = 2 exceeds 1: use WarpSpecialized");
    of = test::problem(1, 128, 8, 128, 3);
    of.totals = true;
    CHECK(unmet(of) == "pixels of a plan with ChannelStatistics = 64 is below 65: use WarpSpecialized");
}

TEST_CASE("HIP: StripHalo refuses the first condition that a problem does not meet, with its value") {
    CHECK(unmet(test::problem(32, 128, 280, 128, 3)).empty());
    CHECK(unmet(test::problem(32, 128, 280, 128, 1)) == "R * S = 1 is below 3: use WarpSpecialized");
    CHECK(unmet(test::problem(32, 128, 280, 128, 7)) == "stages of filters = 3 is below 4: use WarpSpecialized");
    CHECK(unmet(test::problem(1, 8, 400, 8, 65)) == "R = 65 exceeds 64: use WarpSpecialized");
    ConvCase rows = test::problem(1 << 29, 8, 1, 8, 3);
    CHECK(unmet(rows) ==
          "rows of y in all images, with R - 1 between them = 1610612736 exceeds 1073741824: use "
          "WarpSpecialized");
    ConvCase pooled = test::problem(32, 128, 28, 128, 3);
    pooled.pools = true;
    CHECK(unmet(pooled).empty());
    pooled.filter = fk::filter(2, 3).pad(1);
    CHECK(unmet(pooled) == "R is even, before a Pool: use WarpSpecialized");
    ConvCase groups = test::problem(32, 128, 28, 128, 3);
    groups.product.groups = 2;
    CHECK(unmet(groups) == "groups = 2 is not 1: use WarpSpecialized");
}

TEST_CASE("HIP: StripHalo's time grows with the batch, and is infinite where it cannot compute") {
    double last = 0;
    for (std::int64_t n = 1; n <= 256; n *= 4) {
        auto const time = test::time_of<StripHaloEntry, StripHalo<>>(test::problem(n, 128, 140, 256, 3));
        CHECK((time.is_finite() && time.seconds > last));
        last = time.seconds;
    }
    CHECK_FALSE(test::time_of<StripHaloEntry, StripHalo<>>(test::problem(32, 128, 140, 256, 1)).is_finite());
    ConvCase prologue = test::problem(1, 128, 140, 256, 3);
    double const bare = test::time_of<StripHaloEntry, StripHalo<>>(prologue).seconds;
    prologue.prologue = true;
    CHECK(test::time_of<StripHaloEntry, StripHalo<>>(prologue).seconds > bare);
    ConvCase residual = test::problem(32, 128, 140, 256, 3);
    residual.reads_image = true;
    CHECK_FALSE(test::time_of<StripHaloEntry, StripHalo<>>(residual).is_finite());
}

namespace {

/// Schedule that the library selects for a 3x3 convolution of half NHWC of batch 32 without padding, or for its
/// gradient by x.
template <bool of_gradient>
std::string selected(std::int64_t c, std::int64_t h, std::int64_t k) {
    auto const address = [](int number) { return static_cast<fk::half*>(fk::detail::stand_in(number)); };
    auto const x = fk::nhwc(32, h, h, c), y = fk::nhwc(32, h - 2, h - 2, k);
    fk::TensorView<fk::half const> const w(address(1), fk::krsc(k, 3, 3, c));
    auto const predicted = [&](auto const& bound, auto const& from, auto const& to) {
        return predict_run(Architecture::sm(90), bound, fk::TensorView<fk::half const>(address(2), from),
                           fk::TensorView<fk::half>(address(3), to))
            .to_string();
    };
    if constexpr (of_gradient)
        return predicted(fk::Plan<fk::TransposedConv<fk::filter(3, 3)>>::bind({.weights = w}), y, x).c_str();
    else return predicted(fk::Plan<fk::Conv<fk::filter(3, 3)>>::bind({.weights = w}), x, y).c_str();
}

}  // namespace

TEST_CASE("HIP: large images with 64 channels of y have StripHalo's prediction first") {
    CHECK(selected<false>(128, 392, 64).starts_with("StripHalo<"));
    CHECK(selected<false>(128, 280, 128).starts_with("WarpSpecialized<"));
    CHECK(selected<false>(512, 104, 256).starts_with("WarpSpecialized<"));
    CHECK(selected<true>(64, 284, 128).starts_with("StripHalo<"));
    CHECK(selected<true>(128, 280, 128).starts_with("WarpSpecialized<"));
}

TEST_CASE("HIP: an upsampled convolution with statistics has StripHalo's prediction first") {
    using Doubled = fk::Plan<fk::TransposedConv<fk::filter(4, 4).stride(2).pad(1)>, fk::ChannelStatistics>;
    auto const floats = [](int number) { return static_cast<float*>(fk::detail::stand_in(number)); };
    auto const halves = [](int number) { return static_cast<fk::half*>(fk::detail::stand_in(number)); };
    for (std::int64_t const c : {64, 512}) {
        auto const x = fk::nhwc(1, 64, 64, c), y = fk::nhwc(1, 128, 128, 256);
        auto const of_channels = [&](int number) {
            return fk::TensorView<float, 1>(floats(number), fk::channels(256));
        };
        fk::TensorView<float, 1> const scratch(floats(3), fk::channels(fk::ChannelStatistics::scratch(y.shape)));
        fk::TensorView<fk::half const> const w(halves(4), fk::krsc(c, 4, 4, 256));
        auto const bound =
            Doubled::bind({.weights = w}, {.mean = of_channels(1), .variance = of_channels(2), .scratch = scratch});
        auto const predicted = predict_run(Architecture::sm(90), bound, fk::TensorView<fk::half const>(halves(5), x),
                                           fk::TensorView<fk::half>(halves(6), y));
        CHECK(std::string(predicted.to_string().c_str()).starts_with("StripHalo<"));
    }
}
