// SPDX-License-Identifier: MIT
#include "fusekit/tensor/advice.hpp"

#include <catch2/catch_test_macros.hpp>
#include <cstdint>
#include <fusekit/fusekit.hpp>
#include <string>

namespace fk = fusekit;

namespace {

/// A view of separate memory, which is never read.
template <int Rank>
fk::TensorView<float, Rank> view(fk::Layout<Rank> const& layout) {
    static std::uintptr_t next = 1 << 20;
    return {reinterpret_cast<float*>(next += 1 << 24), layout};
}

template <int Rank>
std::string refused(auto const& layer, fk::TensorView<float, Rank> const& x,
                    fk::TensorView<float, Rank> const* y = nullptr) {
    fk::host::Device device(1);
    try {
        fk::detail::validate(layer, x.const_view(), y, device);
    } catch (fk::Error const& error) {
        std::string const words = error.what();
        return words.substr(words.find(">: ") + 3);
    }
    return "";
}

using Conv = fk::Plan<fk::Conv<fk::filter(3, 3).pad(1)>>;
using Valid = fk::Plan<fk::Conv<fk::filter(3, 3)>>;
using Depthwise = fk::Plan<fk::Conv<fk::filter(3, 3).groups(16)>>;

}  // namespace

TEST_CASE("advice: a view with extents of 1 suggests fk::broadcast()") {
    auto const layer = [](auto const& z) { return fk::Plan<fk::Residual>::bind({.z = z}); };
    auto const x = view(fk::nchw(2, 16, 8, 8));
    std::string const begin = "Residual.z: expected 2 x 16 x 8 x 8 (N x K x P x Q), got ";
    std::string const end = ": write fk::broadcast(z, 2, 16, 8, 8)";
    CHECK(refused(layer(view(fk::nchw(1, 16, 1, 1))), x) == begin + "1 x 16 x 1 x 1" + end);
    CHECK(refused(layer(view(fk::nchw(2, 16, 1, 1))), x) == begin + "2 x 16 x 1 x 1" + end);
    CHECK(refused(layer(view(fk::nhwc(1, 8, 8, 1))), x) == begin + "1 x 1 x 8 x 8" + end);
    CHECK(refused(layer(view(fk::nchw(2, 16, 4, 1))), x) == begin + "2 x 16 x 4 x 1");
    CHECK(refused(layer(view(fk::nchw(2, 8, 8, 16))), x) ==
          begin + "2 x 8 x 8 x 16: if the memory order is NHWC, write fk::nhwc(2, 8, 8, 16)");
    CHECK(
        refused(layer(view(fk::ncdhw(1, 4, 1, 1, 1))), view(fk::ncdhw(2, 4, 3, 5, 6))) ==
        "Residual.z: expected 2 x 4 x 3 x 5 x 6 (N x K x O x P x Q), got 1 x 4 x 1 x 1 x 1: write fk::broadcast(z, 2, "
        "4, 3, 5, 6)");
    CHECK(refused(layer(view(fk::ncdhw(1, 4, 2, 1, 1))), view(fk::ncdhw(2, 4, 3, 5, 6))).find("write") ==
          std::string::npos);
    CHECK(refused(fk::Plan<fk::Store>::bind({.values = view(fk::nchw(2, 16, 8, 1))}), x).find("write") ==
          std::string::npos);
}

TEST_CASE("advice: images given to a Gemm, and transposed weights") {
    auto const layer = [](fk::Layout<2> const& w) { return fk::Plan<fk::Gemm>::bind({.weights = view(w)}); };
    CHECK(refused(layer(fk::row_major(16, 16)), view(fk::nchw(2, 16, 1, 1))) ==
          "x: expected M x 16, as the weights are N x K, got 2 x 16 x 1 x 1: if x is images, write fk::reshaped(x, 2, "
          "16)");
    CHECK(refused(layer(fk::row_major(10, 48)), view(fk::nhwc(5, 2, 4, 6))) ==
          "x: expected M x 48, as the weights are N x K, got 5 x 6 x 2 x 4: if x is images, write fk::reshaped(x, 5, "
          "48)");
    CHECK(refused(layer(fk::row_major(10, 47)), view(fk::nchw(5, 6, 2, 4))) ==
          "Gemm.weights: expected 10 x 4 (N x K), got 10 x 47");
    CHECK(refused(layer(fk::row_major(16, 8)), view(fk::row_major(2, 16))) ==
          "Gemm.weights: expected 8 x 16 (N x K), got 16 x 8: if the weights are K x N, write fk::transposed(weights, "
          "0, 1)");
}

TEST_CASE("advice: weights of groups, and weights in another order") {
    auto const layer = [](auto const& w) { return Conv::bind({.weights = view(w)}); };
    auto const x = view(fk::nchw(2, 16, 8, 8));
    CHECK(refused(Depthwise::bind({.weights = view(fk::kcrs(1, 16, 3, 3))}), x) ==
          "Conv<filter(3, 3).groups(16)>.weights: expected 16 x 1 x 3 x 3 (K x C/groups x R x S), or another multiple "
          "of 16 for K, got 1 x 16 x 3 x 3: write fk::transposed(weights, 0, 1)");
    CHECK(refused(Depthwise::bind({.weights = view(fk::kcrs(20, 1, 3, 3))}), x) ==
          "Conv<filter(3, 3).groups(16)>.weights: expected 16 x 1 x 3 x 3 (K x C/groups x R x S), or another multiple "
          "of 16 for K, got 20 x 1 x 3 x 3");
    CHECK(refused(Depthwise::bind({.weights = view(fk::kcrs(16, 1, 3, 3))}), view(fk::nchw(2, 24, 8, 8))) ==
          "Conv<filter(3, 3).groups(16)>.filter: expected groups that divide C, got filter(3, 3).groups(16) with C = "
          "24");
    std::string const of_x = " (K x C/groups x R x S) for x of 2 x 16 x 8 x 8, got ";
    std::string const weights = "Conv<filter(3, 3).pad(1)>.weights: expected ";
    CHECK(refused(layer(fk::kcrs(32, 1, 3, 3)), x) ==
          weights + "32 x 16 x 3 x 3" + of_x +
              "32 x 1 x 3 x 3: for a grouped convolution add .groups(16) to the filter");
    CHECK(refused(layer(fk::kcrs(32, 3, 3, 16)), x) ==
          weights + "32 x 16 x 3 x 3" + of_x +
              "32 x 3 x 3 x 16: if the memory order is KRSC, write fk::krsc(32, 3, 3, 16)");
    CHECK(refused(layer(fk::kcrs(3, 3, 16, 32)), x) ==
          weights + "3 x 16 x 3 x 3" + of_x +
              "3 x 3 x 16 x 32: if the memory order is RSCK, write TensorView(pointer, fk::Layout<4>{{{32, 16, 3, 3}}, "
              "{{1, 32, 1536, 512}}})");
    CHECK(refused(layer(fk::kcrs(16, 32, 3, 3)), x) ==
          weights + "16 x 16 x 3 x 3" + of_x +
              "16 x 32 x 3 x 3: if the memory order is CKRS, write fk::transposed(weights, 0, 1)");
    CHECK(refused(layer(fk::kcrs(32, 16, 5, 5)), x) == weights + "32 x 16 x 3 x 3" + of_x + "32 x 16 x 5 x 5");
    // The same weights of a TransposedConv, and as a gradient.
    using Transposed = fk::Plan<fk::TransposedConv<fk::filter(3, 3).pad(1).groups(16)>>;
    auto const y = view(fk::nchw(2, 16, 8, 8));
    CHECK(refused(Transposed::bind({.weights = view(fk::kcrs(1, 16, 3, 3))}), x, &y) ==
          "TransposedConv<filter(3, 3).pad(1).groups(16)>.weights: expected 16 x 1 x 3 x 3" + of_x +
              "1 x 16 x 3 x 3: if the memory order is CKRS, write fk::transposed(weights, 0, 1)");
    using Gradient = fk::Plan<fk::ConvWeightGradient<fk::filter(3, 3).pad(1).groups(16)>>;
    auto const dw = view(fk::kcrs(1, 16, 3, 3));
    CHECK(refused(Gradient::bind({.dy = y}), x, &dw) ==
          "y: expected 16 x 1 x 3 x 3" + of_x +
              "1 x 16 x 3 x 3: if the memory order is CKRS, write fk::transposed(y, 0, 1)");
    // The advised view of RSCK addresses each weight correctly.
    fk::Layout<4> const rsck{{{32, 16, 3, 3}}, {{1, 32, 1536, 512}}};
    CHECK(rsck.offset({{5, 7, 2, 1}}) == ((2 * 3 + 1) * 16 + 7) * 32 + 5);
}

TEST_CASE("advice: x in another order, exchanged with y, and a filter without padding") {
    auto const layer = Conv::bind({.weights = view(fk::kcrs(32, 16, 3, 3))});
    CHECK(refused(layer, view(fk::nchw(2, 8, 8, 16)))
              .find("got 32 x 16 x 3 x 3: if x is NHWC in memory, write fk::nhwc(2, 8, 8, 16)") != std::string::npos);
    auto const x = view(fk::nchw(2, 16, 8, 8)), y = view(fk::nchw(2, 32, 8, 8));
    CHECK(refused(layer, y, &x).find("got 32 x 16 x 3 x 3: if x and y are exchanged, write layer(device, x, y)") !=
          std::string::npos);
    auto const small = view(fk::nchw(2, 32, 4, 4));
    auto const valid = Valid::bind({.weights = view(fk::kcrs(32, 16, 3, 3))});
    CHECK(refused(valid, x, &y) ==
          "y: expected 2 x 32 x 6 x 6 (N x K x P x Q), got 2 x 32 x 8 x 8: to keep H x W, add .pad(1) to the filter");
    CHECK(refused(valid, x, &small) == "y: expected 2 x 32 x 6 x 6 (N x K x P x Q), got 2 x 32 x 4 x 4");
}
