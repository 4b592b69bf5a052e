// SPDX-License-Identifier: MIT
#include "fusekit/backend/hip/conv_limits.hpp"

#include <catch2/catch_template_test_macros.hpp>

#include "backend/hip/gpu.hpp"
#include "support/far_operands.hpp"

using namespace test;

namespace {

/// Types whose far operands run with a schedule by name, and as the library chooses: offsets count elements of any
/// type. With FEWER_KERNELS float has the first, and half, of which the library chooses from more schedules, the
/// second.
#ifdef FEWER_KERNELS
template <class T>
constexpr bool of_one_schedule = sizeof(T) == 4;
template <class T>
constexpr bool as_chosen = !of_one_schedule<T>;
#else
template <class T>
constexpr bool of_one_schedule = true;
template <class T>
constexpr bool as_chosen = true;
#endif

}  // namespace

TEMPLATE_TEST_CASE("HIP: convolution operands with offsets beyond 2^31 are computed or refused with a reason", "",
                   float, fk::half) {
    fk::hip::Device device = gpu();
    FarMemory memory(device);
    auto gemm = device.with<fk::hip::Gemm<64, 64, 8>>();
    auto direct = device.with<fk::hip::Direct<64>>();
    if constexpr (of_one_schedule<TestType>) {
        check_far_convs<TestType>(memory, gemm, true);
        check_far_convs<TestType>(memory, direct, false);
    }
    if constexpr (as_chosen<TestType>) check_far_convs<TestType>(memory, device, false);
}

TEMPLATE_TEST_CASE("HIP: images, parameters and outputs with offsets beyond 2^31 are computed", "", float, fk::half) {
    fk::hip::Device device = gpu();
    FarMemory memory(device);
    check_far_images<TestType>(memory, device);
}

TEST_CASE("HIP: operands beyond a GEMM's 32-bit offsets run with Direct") {
    fk::hip::Device device = gpu();
    FarMemory memory(device);
    constexpr std::int64_t far = -(std::int64_t{1} << 32);
    auto const x = memory.store<float>(fk::nchw(1, 2, 1, 1), {1, 10});
    auto const w = memory.store<float>(fk::Layout<4>{{{1, 2, 1, 1}}, {{2, far, 1, 1}}}, {2, 3});
    auto const y = memory.store<float>(fk::nchw(1, 1, 1, 1), {77});
    auto gemm = device.with<fk::hip::Gemm<64, 64, 8>>();
    auto const fixed = fk::Plan<fk::Conv<fk::filter(1, 1)>>::bind({.weights = w});
    CHECK(
        refusal([&] { fixed(gemm, x, y); }) ==
        "Plan<Conv<filter(1, 1)>>: Conv.weights: expected filters that reach less than 2^31 elements far, or a Direct "
        "schedule, got strides 2 x -4294967296 x 1 x 1");
    CHECK(memory.wrong(y, {77}) == 0);
    fixed(device, x, y);
    CHECK(memory.wrong(y, {32}) == 0);
    float const poison = 77;
    device.copy_in(y.data, &poison, sizeof poison);
    fk::Plan<fk::Conv<fk::dynamic>>::bind({.weights = w, .filter = fk::filter(1, 1)})(device, x, y);
    CHECK(memory.wrong(y, {32}) == 0);
}

TEST_CASE("HIP: slices beyond 32-bit offsets are refused if a window spans them") {
    fk::hip::Device device = gpu();
    FarMemory memory(device);
    auto gemm = device.with<fk::hip::Gemm<64, 64, 8>>();
    for (std::int64_t const far : {std::int64_t{1} << 31, -(std::int64_t{1} << 31)}) {
        memory.clear();
        auto const x = memory.store<float>(fk::Layout<5>{{{1, 1, 2, 1, 1}}, {{2, 2, far, 1, 1}}}, {1, 10});
        auto const w = memory.store<float>(fk::kctrs(1, 1, 2, 1, 1), {2, 3});
        auto const y = memory.store<float>(fk::ncdhw(1, 1, 1, 1, 1), {77});
        std::string const text =
            refusal([&] { fk::Plan<fk::Conv<fk::filter(2, 1, 1)>>::bind({.weights = w})(gemm, x, y); });
        CHECK((far > 0) == text.starts_with("Plan<Conv<filter(2, 1, 1)>>: x.strides: expected windows that reach "));
        float got = 0;
        device.synchronize();
        device.copy_out(&got, y.data, sizeof got);
        CHECK(got == (far > 0 ? 77 : 32));
    }
}

TEST_CASE("HIP: images whose padding has more than 2^31 rows are refused") {
    fk::hip::Device device = gpu();
    auto const x = fk::tensor<float>(device, fk::nchw(1, 1, 1, 1), {5}),
               w = fk::tensor<float>(device, fk::kcrs(1, 1, 1, 1), {2});
    auto y = fk::tensor<float>(device, fk::nchw(1, 1, 3, 1), {7, 7, 7});
    auto const layer = [&](int pad) {
        fk::Plan<fk::Conv<fk::dynamic>>::bind({.weights = w, .filter = fk::filter(1, 1).pad(pad, 0).stride(pad, 1)})(
            device, x, y);
    };
    CHECK(
        refusal([&] { layer(1 << 30); }) ==
        "Plan<Conv<dynamic>>: x.shape: expected fewer than 2^31 rows and columns, with the padding, got 1 x 1 x 1 x 1");
    CHECK(numbers(y) == std::vector<float>{7, 7, 7});
    layer((1 << 30) - 1);
    CHECK(numbers(y) == std::vector<float>{0, 10, 0});
}

TEST_CASE("HIP: windows and filters fit a Buffer if a tile's offsets are below 2^30 bytes") {
    using fk::hip::detail::filters_fit_buffer, fk::hip::detail::windows_fit_buffer;
    auto const near = [](fk::Layout<4> const& x, fk::Index<4> const& y, fk::Filter<2> const& filter) {
        fk::Layout<4> const weights = fk::kcrs(8, x.shape[1], filter.size[0], filter.size[1]);
        return windows_fit_buffer(filter, fk::TensorView<fk::half const>{nullptr, x}, {}, weights, y, 128);
    };
    auto const same = fk::filter(3, 3).pad(1);
    CHECK(near(fk::nhwc(256, 56, 56, 256), {{256, 8, 56, 56}}, same));
    CHECK(near(fk::nchw(256, 256, 56, 56), {{256, 8, 56, 56}}, same));
    CHECK(near(fk::nchw(1 << 20, 64, 56, 56), {{1 << 20, 8, 56, 56}}, same));  // a tile spans few images
    CHECK_FALSE(near(fk::nchw(1, 1 << 16, 128, 128), {{1, 8, 128, 128}}, same));
    CHECK_FALSE(near(fk::nhwc(2, 1 << 14, 1 << 14, 2), {{2, 8, 1 << 14, 1 << 14}}, same));
    fk::Layout<4> far = fk::nhwc(2, 8, 8, 8);
    far.stride[0] = std::int64_t{1} << 29;
    CHECK_FALSE(near(far, {{2, 8, 8, 8}}, same));
    far.stride[0] = -(std::int64_t{1} << 29);
    CHECK_FALSE(near(far, {{2, 8, 8, 8}}, same));
    far.stride[0] = std::int64_t{1} << 28;
    CHECK(near(far, {{2, 8, 8, 8}}, same));
    CHECK(filters_fit_buffer<fk::half>(fk::kcrs(512, 512, 3, 3), 128));
    CHECK_FALSE(filters_fit_buffer<fk::half>(fk::kcrs(512, 1 << 20, 3, 3), 128));
    fk::Layout<4> backwards = fk::kcrs(512, 512, 3, 3);
    backwards.stride[0] = -backwards.stride[0];
    CHECK_FALSE(filters_fit_buffer<fk::half>(backwards, 128));
}

TEST_CASE("HIP: pixel quads need column stride 1 and padding in the first and last quad of a row only") {
    using fk::hip::detail::has_quads;
    auto const quads = [](fk::Layout<4> const& x, std::int64_t columns, fk::Filter<2> const& filter) {
        return has_quads(filter, fk::TensorView<fk::half const>{nullptr, x}, {{1, 1, 1, columns}});
    };
    auto const row = [](std::int64_t columns) { return fk::nchw(2, 3, 5, columns); };
    CHECK(quads(row(8), 8, fk::filter(3, 3).pad(1)));
    CHECK(quads(row(12), 12, fk::filter(3, 9).pad(1, 4)));
    CHECK_FALSE(quads(row(12), 12, fk::filter(3, 11).pad(1, 5)));  // the second quad reaches into padding
    CHECK_FALSE(quads(row(8), 8, fk::filter(3, 9).pad(1, 4).dilation(2)));
    CHECK_FALSE(quads(row(4), 4, fk::filter(3, 3).pad(1)));  // one quad is at both ends
    CHECK_FALSE(quads(row(14), 14, fk::filter(3, 3).pad(1)));
    CHECK_FALSE(quads(row(16), 8, fk::filter(3, 3).pad(1).stride(2)));
    CHECK_FALSE(quads(fk::nhwc(2, 5, 8, 3), 8, fk::filter(3, 3).pad(1)));
    CHECK(quads(fk::nchw(2, 3, 4, 7), 7, fk::filter(1, 1)));  // pixels of 1x1 windows are contiguous
    CHECK_FALSE(quads(fk::nchw(2, 3, 5, 7), 7, fk::filter(1, 1)));
}
