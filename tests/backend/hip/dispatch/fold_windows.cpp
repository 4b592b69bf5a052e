// SPDX-License-Identifier: MIT
#include "fusekit/backend/hip/dispatch/fold_windows.hpp"

#include <catch2/catch_test_macros.hpp>
#include <string>

#include "backend/hip/gpu.hpp"
#include "support/check_case.hpp"
#include "support/run_case.hpp"

using namespace test;

namespace {

using Relu = fk::Activation<fk::Relu>;
using Embedding = fk::Plan<fk::Conv<fk::dynamic>, fk::Bias>;

static_assert(fk::hip::detail::may_fold_windows<Embedding>);
static_assert(!fk::hip::detail::may_fold_windows<fk::Plan<fk::Conv<fk::filter(16, 16).stride(16)>>>);
static_assert(!fk::hip::detail::may_fold_windows<fk::Plan<fk::Activation<fk::Relu>, fk::Conv<fk::dynamic>>>);
static_assert(!fk::hip::detail::may_fold_windows<fk::Plan<fk::Gemm>>);

/// Shapes of x and y and the filter with which a call computes: "16x48x16x4, 16x24x1x4, 16x1".
template <class T, class Plan = Embedding>
std::string folded(fk::Layout<4> const& x, int k, fk::Filter<2> const& filter) {
    fk::TensorView<T const> const from(nullptr, x), w(nullptr, fk::krsc(k, filter.size.h, filter.size.w, x.shape[1]));
    fk::TensorView<float const, 1> const b(nullptr, fk::channels(k));
    auto const bound = Plan::bind({.weights = w, .filter = filter}, {.bias = b});
    auto const shape = bound.output_shape(x.shape);
    fk::TensorView<T> const to(nullptr, fk::nhwc(shape[0], shape[2], shape[3], shape[1]));
    std::string result;
    auto const view_of_x = fk::detail::collapse<4>(from);
    auto const view_of_y = fk::detail::collapse<4>(to);
    fk::hip::detail::with_folded(fk::hip::detail::ConvOperands<Plan, T, T>{bound, view_of_x, view_of_y},
                                 [&](fk::hip::detail::ConvOperands<Plan, T, T> const& operands) {
                                     result = to_string(operands.x.layout.shape).c_str() + std::string(", ") +
                                              to_string(operands.y.layout.shape).c_str() + ", " +
                                              std::to_string(operands.filter.size.h) + "x" +
                                              std::to_string(operands.filter.size.w);
                                 });
    return result;
}

}  // namespace

TEST_CASE("columns of unpadded windows become channels, and rows of y become images") {
    auto const patch = fk::filter(16, 16).stride(16);
    CHECK(folded<fk::half>(fk::nhwc(2, 224, 224, 3), 24, patch) == "28 x 48 x 16 x 14, 28 x 24 x 1 x 14, 16x1");
    CHECK(folded<float>(fk::nhwc(2, 224, 224, 3), 24, fk::filter(4, 4).stride(4)) ==
          "2 x 12 x 224 x 56, 2 x 24 x 56 x 56, 4x1");
    // unused rows at the end of an image of x: images do not merge
    CHECK(folded<fk::half>(fk::nhwc(2, 230, 224, 3), 24, patch) == "2 x 48 x 230 x 14, 2 x 24 x 14 x 14, 16x1");
    CHECK(folded<fk::half>(fk::nhwc(1, 230, 224, 3), 24, patch) == "14 x 48 x 16 x 14, 14 x 24 x 1 x 14, 16x1");
    for (auto const& [x, filter] :
         {std::pair{fk::nhwc(2, 32, 32, 3), fk::filter(4, 4).stride(4)},  // 24 bytes
          {fk::nhwc(2, 224, 224, 8), fk::filter(2, 2).stride(2)},         // channels of 16 bytes
          {fk::nhwc(2, 224, 224, 3), patch.pad(1)},
          {fk::nhwc(2, 224, 224, 3), patch.dilation(2)},
          {fk::nchw(2, 3, 224, 224), patch},
          {fk::nhwc(2, 224, 224, 3), fk::filter(16, 16).stride(5)}})  // 30 bytes from window to window
        CHECK(folded<fk::half>(x, 24, filter).ends_with(std::to_string(filter.size.w)));
}

TEST_CASE("folded convolutions are exact, and are not computed one output per thread") {
    fk::hip::Device device = gpu();
    using Device = fk::hip::Device;
    for (char const* sizes : {"n2c3h48w64k24r16s16pt0l0b0r0u16v16d1e1g1",   // patches, images merge
                              "n2c3h53w70k17r16s16pt0l0b0r0u16v16d1e1g1",   // unused rows and columns
                              "n2c1h40w40k8r3s16pt0l0b0r0u2v8d1e1g1",       // windows that overlap
                              "n1c3h64w64k8r32s32pt0l0b0r0u32v32d1e1g1"}) {  // more rows than the mask has bits
        std::string const text = sizes;
        check_case(Case::parse(text + " nhwc krsc half CBA relu #3"),
                   run_conv<Device, fk::half, fk::dynamic, fk::Bias, Relu>, device);
#ifndef FEWER_KERNELS  // windows fold before the epilogue
        check_case(Case::parse(text + " nhwc krsc half CRA relu #1"),
                   run_conv<Device, fk::half, fk::dynamic, fk::Residual, Relu>, device);
#endif
        check_case(Case::parse(text + " nhwc krsc float CBA relu #2"),
                   run_conv<Device, float, fk::dynamic, fk::Bias, Relu>, device);
    }
    auto const x = fk::random<fk::half>(device, fk::nhwc(2, 224, 224, 3)),
               w = fk::random<fk::half>(device, fk::krsc(64, 16, 16, 3));
    fk::Tensor<fk::half, Device> y(device, fk::nhwc(2, 14, 14, 64));
    auto const b = fk::random<float>(device, fk::channels(64));
    auto const layer = Embedding::bind({.weights = w, .filter = fk::filter(16, 16).stride(16)}, {.bias = b});
    std::string const choice = layer.predict<fk::half>(device, x.layout(), y.layout()).to_string().c_str();
    CHECK(!choice.starts_with("Direct"));
    if (device.architecture() == fk::hip::Architecture::sm(90)) CHECK(choice.find("WarpSpecialized") != choice.npos);
}
