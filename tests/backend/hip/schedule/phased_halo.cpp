// SPDX-License-Identifier: MIT
#include "fusekit/backend/hip/schedule/phased_halo.hpp"

#include <catch2/catch_test_macros.hpp>
#include <string>

#include "backend/hip/schedule/problems.hpp"
#include "fusekit/backend/hip/dispatch/predict.hpp"
#include "fusekit/fusekit.hpp"

namespace fk = fusekit;
using namespace fk::hip;
using test::sentence;

namespace {

using Three = fk::TransposedConv<fk::filter(3, 3).pad(1).stride(2)>;
template <class T, class... Ops>
constexpr PlanConditions with = test::conditions<PhasedHaloEntry, T, Ops...>;
template <class... Ops>
constexpr bool has_kernel = PhasedHaloEntry::has_kernel<fk::Plan<Ops...>, fk::half, fk::half>;

static_assert(with<fk::half, Three, fk::Bias>.met() && !with<float, Three>.factors);
static_assert(!with<fk::half, fk::Activation<fk::Relu>, Three>.prologue);
static_assert(!with<fk::half, Three, fk::ChannelStatistics>.totals);
static_assert(has_kernel<Three, fk::Bias> && has_kernel<fk::TransposedConv<fk::filter(5).stride(3)>>);
static_assert(has_kernel<fk::TransposedConv<fk::filter(16, 16).stride(16)>>);
static_assert(!has_kernel<fk::Conv<fk::filter(3, 3).stride(2)>> && !has_kernel<fk::TransposedConv<fk::filter(3, 3)>>);
static_assert(!has_kernel<fk::TransposedConv<fk::filter(3, 3).stride(2).dilation(2)>>);
static_assert(!has_kernel<fk::TransposedConv<fk::filter(3, 3).stride(2).groups(2)>>);
static_assert(!has_kernel<fk::TransposedConv<fk::filter(3, 3, 3).stride(2)>>);
static_assert(!PhasedHaloEntry::has_kernel<fk::Plan<Three>, fk::half, float>);
static_assert(test::compiles<PhasedHaloEntry, PhasedHalo<>, fk::bfloat16, Three>());

/// The gradient by an image of c x hw x hw of a convolution to k channels.
ConvCase gradient(std::int64_t n, std::int64_t c, std::int64_t hw, std::int64_t k, fk::Filter<2> const& filter) {
    ConvCase of = test::problem(n, k, filter.output(0, hw), c, filter.size[0]);
    of.y = {{n, c, hw, hw}}, of.spread = filter, of.transposed = true;
    return of;
}
std::string unmet(ConvCase const& of) {
    return sentence(PhasedHaloEntry::can_implement<PhasedHalo<>, fk::half, fk::half>(of));
}

}  // namespace

TEST_CASE("HIP: a tile of PhasedHalo covers all phases of its positions") {
    constexpr auto seven = fk::filter(7, 7).pad(3).stride(2);
    auto const shape = phased_halo_shape({{32, 64, 112, 112}}, {{32, 3, 224, 224}}, seven);
    CHECK((shape.taps == fk::PerMode<2>{4, 4} && shape.origin == fk::PerMode<2>{0, 0}));
    CHECK((shape.blocks == 1 && shape.rows_of_block == 2 && shape.width == 6 && shape.filter_rows() == 16));
    CHECK(shape.rows() * shape.pitch() == 128);
    CHECK(shape.columns == shape.pitch() - 3);
    CHECK(shape.stage_bytes() >= (3 * shape.pitch() + 3 + 128) * 128);
    CHECK(shape.filter_bytes() + shape.stages * shape.stage_bytes() <= PhasedHaloShape::shared_bytes);
    // padding that would enlarge the window if phase 0 began at pixel 0 of y
    auto const eleven = phased_halo_shape({{1, 64, 55, 55}}, {{1, 3, 224, 224}}, fk::filter(11, 11).pad(2).stride(4));
    CHECK((eleven.taps == fk::PerMode<2>{3, 3} && eleven.origin == fk::PerMode<2>{2, 2}));
    // a row of phases with more than 64 columns is divided
    auto const wide = phased_halo_shape({{1, 64, 28, 28}}, {{1, 48, 56, 56}}, fk::filter(3, 3).pad(1).stride(2));
    CHECK((wide.parts == 2 && wide.width == 48 && wide.blocks == 4));
}

TEST_CASE("HIP: PhasedHalo refuses the first condition that a problem does not meet, with its value") {
    CHECK(unmet(gradient(2, 24, 48, 96, fk::filter(3, 3).pad(1).stride(2))).empty());
    ConvCase planes = gradient(2, 24, 48, 96, fk::filter(3, 3).pad(1).stride(2));
    planes.in_bulk = false, planes.x_channel_stride = 576;
    CHECK(unmet(planes) == "x's channel stride = 576 is not 1: pass x channels-last, or use Planes");
    CHECK(unmet(gradient(2, 512, 14, 4096, fk::filter(3, 3).pad(1).stride(2))) ==
          "stages in shared memory = 0 is below 2: use WarpSpecialized or MatrixGemm");
}

TEST_CASE("HIP: PhasedHalo's time grows with the batch, and is infinite where it cannot compute") {
    double last = 0;
    for (std::int64_t n = 1; n <= 256; n *= 4) {
        auto const time =
            test::time_of<PhasedHaloEntry, PhasedHalo<>>(gradient(n, 3, 224, 64, fk::filter(7, 7).pad(3).stride(2)));
        CHECK((time.is_finite() && time.seconds > last));
        last = time.seconds;
    }
    CHECK_FALSE(
        test::time_of<PhasedHaloEntry, PhasedHalo<>>(gradient(2, 24, 48, 90, fk::filter(3, 3).stride(2))).is_finite());
}

namespace {

/// Schedule that the library selects for a gradient of half NHWC from n x c x h x h to k channels.
template <auto Geometry>
std::string selected(std::int64_t n, std::int64_t c, std::int64_t h, std::int64_t k) {
    auto const address = [](int number) { return static_cast<fk::half*>(fk::detail::stand_in(number)); };
    std::int64_t const p = Geometry.output(0, h), r = Geometry.size[0], s = Geometry.size[1];
    fk::TensorView<fk::half const> const dy(address(1), fk::nhwc(n, p, p, k)), w(address(2), fk::krsc(k, r, s, c));
    return predict_run(Architecture::sm(90), fk::Plan<fk::TransposedConv<Geometry>>::bind({.weights = w}), dy,
                       fk::TensorView<fk::half>(address(3), fk::nhwc(n, h, h, c)))
        .to_string()
        .c_str();
}

}  // namespace

TEST_CASE("HIP: gradients of first layers and patch embeddings have PhasedHalo's prediction first") {
    for (std::int64_t const n : {1, 32}) {
        CHECK(selected<fk::filter(4, 4).stride(4)>(n, 3, 224, 96).starts_with("PhasedHalo<"));
        CHECK(selected<fk::filter(16, 16).stride(16)>(n, 3, 224, 768).starts_with("PhasedHalo<"));
        CHECK(selected<fk::filter(7, 7).pad(3).stride(2)>(n, 3, 224, 64).starts_with("PhasedHalo<"));
        CHECK(selected<fk::filter(11, 11).pad(2).stride(4)>(n, 3, 224, 64).starts_with("PhasedHalo<"));
    }
    CHECK(selected<fk::filter(3, 3).pad(1).stride(2)>(32, 3, 224, 32).starts_with("PhasedHalo<"));
    CHECK(selected<fk::filter(3, 3).pad(1).stride(2)>(32, 16, 112, 32).starts_with("PhasedHalo<"));
    CHECK(selected<fk::filter(3, 3).pad(1).stride(2)>(32, 24, 192, 96).starts_with("PhasedHalo<"));
    CHECK(selected<fk::filter(3, 3).pad(1).stride(2)>(32, 32, 112, 64).starts_with("WarpSpecialized<"));
    CHECK(selected<fk::filter(3, 3).pad(1).stride(2)>(32, 128, 28, 256).starts_with("WarpSpecialized<"));
}
