// SPDX-License-Identifier: MIT
#include "fusekit/ops/gemm.hpp"

#include <catch2/catch_template_test_macros.hpp>
#include <string>

#include "support/half_types.hpp"
#include "support/matrix_products.hpp"
#include "support/refusal.hpp"

using namespace test;

namespace {

/// A user's located operator without views().
struct Add {
    static constexpr auto stage = fk::Stage::pointwise;
    struct Args {
        fk::AnyActivations z;
    };
    static float apply(float x, fk::OutputCoord const& at, Args const& args) { return x + at.load(args.z); }
};
struct AddListed : Add {
    static constexpr void views(Args& args, auto const& f) { f(args.z); }
};

/// Reads a per-pixel view, broadcast over the batch.
struct AddMap {
    static constexpr auto stage = fk::Stage::pointwise;
    struct Args {
        fk::PixelParameters z;
    };
    static float apply(float x, fk::OutputCoord const& at, Args const& args) { return x + at.load(args.z); }
};

/// Returns the coordinate of a value: batch, row and column.
struct Coordinate {
    static constexpr auto stage = fk::Stage::pointwise;
    struct Args {};
    static float apply(float, fk::OutputCoord const& at, Args const&) {
        return static_cast<float>(1000 * at.p + 100 * at.n + 10 * at.q + at.k);
    }
};

}  // namespace

using Elements = AndBfloat16<float, fk::half, fk::int8, double>;

TEMPLATE_LIST_TEST_CASE("Gemm agrees with the oracle and is bitwise identical to a 1x1 convolution", "", Elements) {
    fk::host::Device one(1), two(2);
    // The loops of double are slow without optimisation; the number of threads does not depend on the type.
    if constexpr (!std::is_same_v<TestType, double>) check_products<TestType>(one);
    check_products<TestType>(two);
}

TEST_CASE("ChannelStatistics after a Gemm are per column") {
    fk::host::Device device(2);
    check_column_statistics(device);
}

TEST_CASE("a Gemm refuses wrong arguments in terms of rows and columns") {
    fk::host::Device device(1);
    auto const x = fk::random<float>(device, fk::row_major(5, 3)),
               other = fk::random<float>(device, fk::row_major(5, 4));
    auto const batch = fk::random<float>(device, fk::row_major(2, 5, 3));
    auto const w = fk::random<float>(device, fk::row_major(7, 3));
    auto const halves = fk::random<fk::half>(device, fk::row_major(7, 3));
    auto const b = fk::random<float>(device, fk::channels(7)), few = fk::random<float>(device, fk::channels(6));
    fk::Tensor<float, fk::host::Device, 2> y(device, fk::row_major(5, 7)), turned(device, fk::row_major(7, 5));
    using Layer = fk::Plan<fk::Gemm, fk::Bias>;
    std::string const plan = "Plan<Gemm, Bias>: ";
    auto const layer = Layer::bind({.weights = w}, {.bias = b});
    CHECK(refusal([&] { layer(device, other, y); }) == plan + "Gemm.weights: expected 7 x 4 (N x K), got 7 x 3");
    CHECK(refusal([&] { layer(device, x, turned); }) == plan + "y: expected 5 x 7 (M x N), got 7 x 5");
    CHECK(refusal([&] { static_cast<void>(Layer::bind({.weights = halves}, {.bias = b})(device, x)); }) ==
          plan +
              "Gemm.weights: expected float, as the input, got half: for weights of another type add the option "
              "Weights<half>");
    CHECK(refusal([&] { Layer::bind({.weights = w}, {.bias = few})(device, x, y); }) ==
          plan + "Bias.bias: expected 7 (N), got 6");
    CHECK(refusal([&] { Layer::bind({.weights = w}, {.bias = w})(device, x, y); }) ==
          plan + "Bias.bias: expected 7 (N), or 1 x N, got 7 values a column");
    CHECK(refusal([&] { layer(device, fk::TensorView<float const, 2>(x.data(), fk::row_major(-1, 3)), y); }) ==
          plan + "x: expected extents of 0 or more whose size in bytes fits 63 bits, got -1 x 3");
    CHECK(refusal([&] { layer(device, x, fk::TensorView<float, 2>(y.data(), {{{5, 7}}, {{0, 1}}})); }) ==
          plan + "y: expected strides that each exceed the reach of all smaller ones, in either direction, got 0 x 1");

    using Added = fk::Plan<fk::Gemm, fk::Residual>;
    auto const added = [&](auto const& z) { return Added::bind({.weights = w}, {.z = z}); };
    auto const z = fk::random<float>(device, fk::row_major(2, 7, 5));
    CHECK(refusal([&] { static_cast<void>(added(x)(device, x)); }) ==
          "Plan<Gemm, Residual>: Residual.z: expected 5 x 7 (M x N), got 5 x 3");
    CHECK(refusal([&] { static_cast<void>(added(z)(device, batch)); }) ==
          "Plan<Gemm, Residual>: Residual.z: expected 2 x 5 x 7 (B x M x N), got 2 x 7 x 5");
    CHECK(refusal([&] { static_cast<void>(added(y)(device, batch)); }) ==
          "Plan<Gemm, Residual>: Residual.z: expected 2 x 5 x 7 (B x M x N), got 5 x 7");
    auto const image = fk::random<float>(device, fk::nchw(2, 7, 1, 5));
    CHECK(refusal([&] { static_cast<void>(added(image)(device, batch)); }) ==
          "Plan<Gemm, Residual>: Residual.z: expected 2 x 5 x 7 (B x M x N), got 2 x 7 x 1 x 5");
    CHECK(refusal([&] {
              static_cast<void>(fk::Plan<fk::Conv<fk::filter(1, 1)>, fk::Residual>::bind(
                  {.weights = fk::TensorView<float const>(w.data(), fk::kcrs(7, 3, 1, 1))}, {.z = y})(
                  device, fk::random<float>(device, fk::nchw(2, 3, 1, 5))));
          }) == "Plan<Conv<filter(1, 1)>, Residual>: Residual.z: expected 2 x 7 x 1 x 5 (N x K x P x Q), got 5 x 7");

    fk::int8 const byte[1] = {};
    fk::TensorView<fk::int8 const, 2> const many(byte, {{{1, 131072}}, {{0, 0}}});
    fk::Tensor<fk::int8, fk::host::Device, 2> sum(device, fk::row_major(1, 1));
    CHECK(refusal([&] { fk::Plan<fk::Gemm>::bind({.weights = many})(device, many, sum); }) ==
          "Plan<Gemm>: Gemm.weights: expected at most 131071 products an output, whose sum fits 32 bits, got 131072");
}

TEST_CASE("users' operators after a Gemm get row, column and batch") {
    fk::host::Device device(1);
    auto const x = fk::random<float>(device, fk::packed<4>({{2, 3, 4, 5}}, {{0, 1, 2, 3}}));
    auto const w = fk::random<float>(device, fk::row_major(6, 5));
    auto const y = fk::Plan<fk::Gemm, Coordinate>::bind({.weights = w}, {})(device, x);
    CHECK(y.layout() == fk::packed<4>({{2, 3, 4, 6}}, {{0, 1, 2, 3}}));
    int wrong = 0;
    for (int i = 0; i < 2 * 3 * 4 * 6; ++i)
        wrong += y.data()[i] != static_cast<float>(1000 * (i / 24 % 3) + 100 * (i / 72) + 10 * (i / 6 % 4) + i % 6);
    CHECK(wrong == 0);

    auto const batch = fk::random<float>(device, fk::row_major(2, 4, 5)),
               z = fk::random<float>(device, fk::row_major(2, 4, 6));
    auto const one = fk::random<float>(device, fk::row_major(4, 5)),
               one_z = fk::random<float>(device, fk::row_major(4, 6));
    auto const residual = fk::Plan<fk::Gemm, fk::Residual>::bind({.weights = w}, {.z = z})(device, batch);
    auto const listed = fk::Plan<fk::Gemm, AddListed>::bind({.weights = w}, {.z = z})(device, batch);
    CHECK(std::memcmp(residual.data(), listed.data(), 48 * sizeof(float)) == 0);
    auto const of_one = fk::Plan<fk::Gemm, fk::Residual>::bind({.weights = w}, {.z = one_z})(device, one);
    auto const unlisted = fk::Plan<fk::Gemm, Add>::bind({.weights = w}, {.z = one_z})(device, one);
    CHECK(std::memcmp(of_one.data(), unlisted.data(), 24 * sizeof(float)) == 0);
    CHECK(refusal([&] { static_cast<void>(fk::Plan<fk::Gemm, Add>::bind({.weights = w}, {.z = z})(device, batch)); }) ==
          "Plan<Gemm, Add>: Add.view 1 of Args: expected matrices, which the operator lists in its `views`, got "
          "activations of 2 x 4 x 6");
    CHECK(refusal([&] {
              static_cast<void>(fk::Plan<fk::Gemm, AddMap>::bind({.weights = w}, {.z = one_z})(device, one));
          }) ==
          "Plan<Gemm, AddMap>: AddMap.view 1 of Args: expected one value per column, as per-pixel parameters are "
          "not valid after a Gemm, got 4 x 6 values");
}

TEST_CASE("a new y of a Gemm has x's layout, and Layer holds a Gemm") {
    fk::host::Device device(1);
    auto const w = fk::random<float>(device, fk::row_major(7, 3));
    using Layer = fk::Plan<fk::Gemm>;
    auto const layer = Layer::bind({.weights = w});
    auto const rows = fk::random<float>(device, fk::row_major(5, 3));
    CHECK(layer(device, rows).layout() == fk::row_major(5, 7));
    CHECK(layer(device, fk::random<float>(device, fk::column_major(5, 3))).layout() == fk::column_major(5, 7));
    CHECK(layer(device, fk::random<float>(device, fk::row_major(2, 5, 3))).layout() == fk::row_major(2, 5, 7));
    CHECK(layer(device, fk::random<float>(device, fk::column_major(2, 5, 3))).layout() == fk::column_major(2, 5, 7));
    CHECK(layer(device, fk::random<float>(device, fk::row_major(1, 3))).layout() == fk::row_major(1, 7));

    fk::Layer<float, fk::host::Device, 2> const held = layer;
    CHECK(held.output_shape({{5, 3}}) == fk::Index<2>{{5, 7}});
    auto const y = held(device, rows), expected = layer(device, rows);
    CHECK(y.layout() == fk::row_major(5, 7));
    CHECK(std::memcmp(y.data(), expected.data(), 35 * sizeof(float)) == 0);
}
