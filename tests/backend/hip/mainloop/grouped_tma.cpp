// SPDX-License-Identifier: MIT
#include "fusekit/backend/hip/mainloop/grouped_tma.hpp"

#include <catch2/catch_template_test_macros.hpp>
#include <string>

#include "backend/hip/gpu.hpp"
#include "support/check_case.hpp"
#include "support/half_types.hpp"
#include "support/run_case.hpp"
#include "support/static_geometries.hpp"
#include "support/transposed_convolutions.hpp"

using namespace test;
using fusekit::hip::Grouped;

namespace {

using Relu = fk::Activation<fk::Relu>;
using Map = fk::BatchNormInference<fk::PerActivation>;

/// Returns the device; skips the test case if it does not run sm_90a code.
fk::hip::Device device_with_tma() {
    fk::hip::Device device = gpu();
    if (!fk::hip::detail::is_sm90a(device.architecture())) SKIP("no GPU that runs sm_90a code");
    return device;
}
/// Tile of a case's convolution.
fk::hip::GroupedTmaTile tile_of(Case const& about, fk::hip::Device const& device) {
    fk::hip::GroupedProblem const problem{about.x.n,   about.x.c,   about.k,       about.window.groups,
                                          about.y().h, about.y().w, about.filter()};
    REQUIRE(fk::hip::detail::has_tma_groups(problem));
    return fk::hip::choose_tma_tile(problem, device.processors()).tile;
}

}  // namespace

TEMPLATE_LIST_TEST_CASE("HIP: GroupedTmaConv is exact for groups of 4 to 64 channels", "", HalfTypes) {
    fk::hip::Device device = device_with_tma();
    auto grouped = device.with<Grouped<>>();
    using Scheduled = decltype(grouped);
    std::string const type = " " + std::string(fk::name(fk::data_type<TestType>));
    char const* const windows[] = {"r3s3pt1l1b1r1u1v1d1e1", "r3s3pt1l1b1r1u2v2d1e1", "r3s3pt0l2b1r0u1v1d1e1"};
    char const* const layouts[] = {" nhwc krsc", " nhwc kcrs", " nhwc+8 krsc+1"};
    int number = 0;
    for (char const* channels :
         {"c8k8g2", "c72k72g18", "c64k64g8", "c48k48g3", "c144k144g9", "c96k96g3", "c128k128g2", "c192k192g3"})
        for (char const* sizes : {"n3 h7w7", "n1 h14w14", "n2 h15w29", "n5 h5w61"}) {
            std::string const word = channels, c = word.substr(0, word.find('k')),
                              k = word.substr(word.find('k'), word.find('g') - word.find('k')),
                              g = word.substr(word.find('g')), size = sizes;
            Case const about =
                Case::parse(size.substr(0, 2) + c + size.substr(3) + k + windows[number % 3] + g +
                            layouts[number / 2 % 3] + type + " CBA relu #" + std::to_string(number % 3 + 1));
            ++number;
            CHECK(tile_of(about, device).rows > 0);
            check_case(about, run_conv<Scheduled, TestType, fk::dynamic, fk::Bias, Relu>, grouped);
        }
}

TEST_CASE("HIP: GroupedTmaConv computes several tiles per CTA and several images per tile") {
    fk::hip::Device device = device_with_tma();
    auto grouped = device.with<Grouped<256>>();
    using Scheduled = decltype(grouped);
    bool has_stages = false, has_images = false;
    for (char const* sizes : {"n9c32h21w64k32r3s3pt1l1b1r1u1v1d1e1g4", "n301c32h3w4k32r3s3pt1l1b1r1u1v1d1e1g8",
                              "n40c64h9w9k64r3s3pt1l1b1r1u2v2d1e1g2", "n70c64h14w13k64r3s3pt1l1b1r1u1v1d1e1g2"}) {
        std::string const text = sizes;
        Case const about = Case::parse(text + " nhwc krsc half CBA relu #2");
        auto const tile = tile_of(about, device);
        has_stages = has_stages || tile.stages > 1, has_images = has_images || tile.images > 1;
        check_case(about, run_conv<Scheduled, fk::half, fk::dynamic, fk::Bias, Relu>, grouped);
    }
    CHECK(has_images);
    CHECK((has_stages || device.processors() > 64));
}

TEST_CASE("HIP: GroupedTmaConv applies operators that read tensors of y's shape, and filters in the plan's type") {
    fk::hip::Device device = device_with_tma();
    auto grouped = device.with<Grouped<>>();
    using Scheduled = decltype(grouped);
    constexpr auto one = fk::filter(3, 3).pad(1).groups(5), two = fk::filter(3, 3).pad(1).stride(2).groups(5);
    std::string const text = "n2c40h6w19k40r3s3pt1l1b1r1u1v1d1e1g5 nhwc krsc half",
                      strided = "n2c40h6w19k40r3s3pt1l1b1r1u2v2d1e1g5 nhwc krsc half";
    check_case(Case::parse(text + " CBRA relu #3"), run_conv<Scheduled, fk::half, one, fk::Bias, fk::Residual, Relu>,
               grouped);
    check_case(Case::parse(strided + " CM #2"), run_conv<Scheduled, fk::half, two, Map>, grouped);
}

namespace {

struct Layouts {
    static constexpr char const* all[2][3] = {{"nhwc", "krsc", "nhwc"}, {"nhwc+8", "kcrs+1", "nhwc+8"}};
};

/// Checks a gradient by x, from as many channels to x, that GroupedTmaConv computes.
template <class T, auto filter>
void check_phases(auto& grouped, fk::hip::Device& device, oracle::Shape const& x) {
    using Plan = fk::Plan<fk::TransposedConv<filter>>;
    static_assert(fk::hip::GroupedEntry::has_tma_kernel<Plan, T, T>);
    fk::Tensor<T, fk::hip::Device> dy(device, fk::nhwc(x.n, filter.output(0, x.h), filter.output(1, x.w), x.c)),
        w(device, fk::krsc(x.c, 3, 3, x.c / filter.group_count)), dx(device, fk::nhwc(x.n, x.h, x.w, x.c));
    auto const launch =
        grouped.prepare(Plan::bind({.weights = w}), Plan::collapse(dy.const_view()), Plan::collapse(dx.view())).value();
    using Mainloop = fk::hip::GroupedTmaConv<Plan, Grouped<>, T, T>;
    CHECK(launch.kernel == fk::hip::kernel_of<Plan, Mainloop>().function);
    check_transposed<T, filter, false, Layouts>(grouped, x, x.c);
}

}  // namespace

TEMPLATE_LIST_TEST_CASE("HIP: GroupedTmaConv computes the phases of gradients by x through strides of 2", "",
                        HalfTypes) {
    fk::hip::Device device = device_with_tma();
    auto grouped = device.with<Grouped<>>();
    check_phases<TestType, fk::filter(3, 3).pad(1).stride(2).groups(6)>(grouped, device, {2, 24, 9, 31});
    check_phases<TestType, fk::filter(3, 3).pad(1).stride(2).groups(8)>(grouped, device, {1, 64, 14, 12});
    check_phases<TestType, fk::filter(3, 3).pad(0, 2, 1, 0).stride(2).groups(3)>(grouped, device, {3, 48, 8, 13});
    check_phases<TestType, fk::filter(3, 3).pad(2, 0, 0, 2).stride(2).groups(2)>(grouped, device, {2, 64, 11, 10});
    check_phases<TestType, fk::filter(3, 3).pad(1).stride(2).groups(2)>(grouped, device, {1, 128, 5, 6});
    check_phases<TestType, fk::filter(3, 3).pad(1).stride(2).groups(4)>(grouped, device, {301, 16, 5, 7});
    check_transposed<TestType, fk::filter(3, 3).pad(0, 1).groups(2), false, Layouts>(grouped, {2, 64, 9, 8}, 64);
}
