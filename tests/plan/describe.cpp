// SPDX-License-Identifier: MIT
#include "fusekit/plan/describe.hpp"

#include <catch2/catch_test_macros.hpp>
#include <sstream>
#include <string>

#include "fusekit/fusekit.hpp"

namespace fk = fusekit;

namespace {

using Conv = fk::Conv<fk::filter(3, 2).stride(2)>;
using Norm = fk::BatchNormInference<fk::Spatial>;
using Relu = fk::Activation<fk::Relu>;

/// States neither an equation nor its FLOPs.
struct Doubled {
    static constexpr auto stage = fk::Stage::pointwise;
    struct Args {};
    static float apply(float x, Args const&) { return 2 * x; }
};

std::size_t count(std::string const& text, std::string const& part) {
    std::size_t found = 0;
    for (std::size_t at = text.find(part); at != text.npos; at = text.find(part, at + 1)) ++found;
    return found;
}

}  // namespace

TEST_CASE("describe counts a prologue's work by the elements that the convolution reads") {
    fk::host::Device device;
    auto const x = fk::random<float>(device, fk::nhwc(2, 7, 8, 5));   // 560 elements
    auto const w = fk::random<float>(device, fk::kcrs(10, 5, 3, 2));  // 300
    auto const b = fk::random<float>(device, fk::channels(5));
    auto const layer = fk::Plan<fk::Bias, Relu, Conv>::bind({.bias = b}, {}, {.weights = w});
    auto const about = fk::describe(layer, x);

    for (int i : {0, 1}) {
        CHECK(about.steps[i].output == fk::Index<4>{{2, 5, 7, 8}});
        CHECK(about.steps[i].flops == 560);
        CHECK(about.steps[i].activation_bytes == 4 * (560 + 560));
    }
    CHECK(about.steps[0].parameter_bytes == 4 * 5);
    CHECK(about.steps[2].output == fk::Index<4>{{2, 10, 3, 4}});
    CHECK(about.steps[2].activation_bytes == 4 * (560 + 240));
    CHECK(about.fused_bytes() == 4 * (560 + 240 + 300 + 5));
}

TEST_CASE("describe names matrices by rows and columns") {
    fk::host::Device device;
    auto const x = fk::random<float>(device, fk::row_major(3, 7, 5));  // 105 elements
    auto const w = fk::random<float>(device, fk::row_major(4, 5));     // 20
    auto const a = fk::random<float>(device, fk::channels(5)), b = fk::random<float>(device, fk::channels(4));
    auto const z = fk::random<float>(device, fk::row_major(3, 7, 4));  // 84
    using Layer = fk::Plan<fk::Bias, fk::Gemm, fk::Bias, fk::Residual>;
    auto const layer = Layer::bind({.bias = a}, {.weights = w}, {.bias = b}, {.z = z});
    auto const about = fk::describe(layer, x);
    CHECK(about.steps[0].flops == 105);
    CHECK(about.steps[0].equation == "y = x + bias[k]");
    CHECK(about.steps[1].equation == "y[m,n] = sum of x[m,k] * weights[n,k] over k");
    CHECK(about.steps[1].flops == 2 * 3 * 7 * 4 * 5);
    CHECK(about.steps[1].parameter_bytes == 4 * 20);
    CHECK(about.steps[1].activation_bytes == 4 * (105 + 84));
    CHECK(about.steps[2].equation == "y = x + bias[n]");
    CHECK(about.steps[3].equation == "y = x + alpha2 * z[m,n]");
    CHECK(fk::to_string(about.input) == "3 x 7 x 5");
    CHECK(fk::to_string(about.steps[3].output) == "3 x 7 x 4");
    CHECK(fk::describe(layer, fk::column_major(3, 7, 5)).fused_bytes() == about.fused_bytes());
    fk::Tensor<float, fk::host::Device, 1> mean(device, fk::channels(4)), variance(device, fk::channels(4)),
        scratch(device, fk::channels(fk::ChannelStatistics::scratch(fk::Index<2>{{21, 4}})));
    auto const totals = fk::Plan<fk::Gemm, fk::ChannelStatistics>::bind({.weights = w}, {mean, variance, scratch});
    CHECK(fk::describe(totals, x).steps[1].equation == "y = x, mean[n] and variance[n] = those of x over m");
    auto const four = fk::describe(fk::Plan<fk::Gemm>::bind({.weights = w}), fk::Index<4>{{2, 3, 7, 5}});
    CHECK(fk::to_string(four.steps[0].output) == "2 x 3 x 7 x 4");
    CHECK(about.fused_bytes() == 4 * (105 + 84 + 20 + 5 + 4 + 84));
    CHECK(count(about.mermaid(), "\"3 x 7 x 4\"") > 0);
}

TEST_CASE("describe counts the work and the bytes of a convolution with an epilogue") {
    fk::host::Device device;
    auto const x = fk::random<float>(device, fk::nhwc(2, 7, 8, 5));      // 560 elements
    auto const w = fk::random<float>(device, fk::kcrs(10, 5, 3, 2));     // 300
    auto const b = fk::random<fk::half>(device, fk::channels(10));       // 10, of 2 bytes
    auto const z = fk::random<float>(device, fk::nchw(2, 10, 3, 4));     // 240, as y
    using Layer = fk::Plan<Conv, fk::Bias, fk::Residual, Relu, Doubled>;
    auto const layer = Layer::bind({.weights = w}, {.bias = b}, {.z = z}, {}, {});
    auto const about = fk::describe(layer, x);

    CHECK(about.plan == "Plan<Conv<filter(3, 2).stride(2)>, Bias, Residual, Activation<Relu>, Doubled>");
    CHECK(about.input == fk::Index<4>{{2, 5, 7, 8}});
    CHECK(about.type == fk::DataType::float32);
    for (fk::Step const& step : about.steps) CHECK(step.output == fk::Index<4>{{2, 10, 3, 4}});

    CHECK(about.steps[0].name == "Conv<filter(3, 2).stride(2)>");
    CHECK(about.steps[0].flops == 2.0 * 240 * 5 * 3 * 2);
    CHECK(about.steps[0].parameter_bytes == 4 * 300);
    CHECK(about.steps[0].activation_bytes == 4 * (560 + 240));
    CHECK(about.steps[1].equation == "y = x + bias[k]");
    CHECK(about.steps[1].flops == 240);
    CHECK(about.steps[1].parameter_bytes == 2 * 10);
    CHECK(about.steps[1].activation_bytes == 4 * (240 + 240));
    CHECK(about.steps[2].flops == 2 * 240);
    CHECK(about.steps[2].parameter_bytes == 4 * 240);
    CHECK(about.steps[4].name == "Doubled");
    CHECK(about.steps[4].equation.empty());
    CHECK(about.steps[4].flops == 240);
    CHECK(about.steps[4].parameter_bytes == 0);

    double const parameters = 4 * 300 + 2 * 10 + 4 * 240;
    CHECK(about.flops() == 240.0 * (60 + 1 + 2 + 1 + 1));
    CHECK(about.fused_bytes() == 4 * 560 + parameters + 4 * 240);
    CHECK(about.unfused_bytes() == 4 * 560 + parameters + 9 * 4 * 240);
    CHECK(about.fused_intensity() == about.flops() / (4 * 560 + parameters + 4 * 240));
    CHECK(about.unfused_intensity() == about.flops() / (4 * 560 + parameters + 9 * 4 * 240));
}

TEST_CASE("describe accepts a shape, layout or tensor, and counts bytes by element size") {
    fk::host::Device device;
    auto const p = fk::random<float>(device, fk::channels(3));
    auto const layer = fk::Plan<Norm, Relu>::bind({.mean = p, .variance = p, .scale = p, .shift = p}, {});
    auto const full = fk::describe(layer, fk::Index<4>{{2, 3, 4, 5}});
    auto const half = fk::describe(layer, fk::nchw(2, 3, 4, 5), fk::DataType::float16);
    auto const made = fk::describe(layer, fk::random<fk::bfloat16>(device, fk::nhwc(2, 4, 5, 3)));
    CHECK(full.flops() == 120 * (3 + 1));
    CHECK(full.fused_bytes() == 4 * 120 + 4 * 4 * 3 + 4 * 120);
    CHECK(full.unfused_bytes() == 4 * 4 * 120 + 4 * 4 * 3);
    CHECK(half.fused_bytes() == 2 * 120 + 4 * 4 * 3 + 2 * 120);
    CHECK(made.type == fk::DataType::bfloat16);
    CHECK(made.fused_bytes() == half.fused_bytes());
}

TEST_CASE("a description reads as a table and as a diagram") {
    fk::host::Device device;
    auto const w = fk::random<float>(device, fk::kcrs(64, 64, 3, 3));
    auto const layer = fk::Plan<fk::Conv<fk::filter(3, 3).pad(1)>, Relu>::bind({.weights = w}, {});
    auto const about = fk::describe(layer, fk::nchw(8, 64, 28, 28));
    CHECK(about.to_string() ==
          "Plan<Conv<filter(3, 3).pad(1)>, Activation<Relu>>\n"
          "of 8 x 64 x 28 x 28, float\n"
          "\n"
          "  operator                   output            work        parameters  equation\n"
          "  Conv<filter(3, 3).pad(1)>  8 x 64 x 28 x 28  462 MFLOP   147 kB      "
          "y[n,k,p,q] = sum of x[n,c,h,w] * weights[k,c,r,s] over c, r, s\n"
          "  Activation<Relu>           8 x 64 x 28 x 28  401 kFLOP   0 B         y = max(x, 0)\n"
          "\n"
          "  fused:    463 MFLOP, 3.36 MB, 138 FLOP/B\n"
          "  unfused:  463 MFLOP, 6.57 MB, 70.4 FLOP/B\n");
    std::ostringstream stream;
    stream << about;
    CHECK(stream.str() == about.to_string());
    CHECK(std::string(about.c_str()) == about.to_string());
    CHECK(std::string(format_as(about)) == about.to_string());
    CHECK(std::string_view(about) == about.c_str());
    CHECK(about.mermaid() ==
          "flowchart LR\n"
          "    subgraph fused[\"1 kernel: 463 MFLOP, 3.36 MB, 138 FLOP/B\"]\n"
          "        direction TB\n"
          "        x([x]) -->|\"8 x 64 x 28 x 28\"| op0\n"
          "        subgraph kernel[\" \"]\n"
          "            op0[\"Conv#lt;filter(3, 3).pad(1)#gt;\"] --> op1\n"
          "            op1[\"Activation#lt;Relu#gt;\"]\n"
          "        end\n"
          "        op1 -->|\"8 x 64 x 28 x 28\"| y([y])\n"
          "    end\n"
          "    subgraph unfused[\"2 kernels: 463 MFLOP, 6.57 MB, 70.4 FLOP/B\"]\n"
          "        direction TB\n"
          "        unfused_x([x]) -->|\"8 x 64 x 28 x 28\"| kernel0\n"
          "        kernel0[[\"Conv#lt;filter(3, 3).pad(1)#gt;\"]] -->|\"8 x 64 x 28 x 28\"| "
          "memory0[(memory)] -->|\"8 x 64 x 28 x 28\"| kernel1\n"
          "        kernel1[[\"Activation#lt;Relu#gt;\"]] -->|\"8 x 64 x 28 x 28\"| unfused_y([y])\n"
          "    end\n");
    CHECK(count(fk::describe(fk::Plan<Relu>::bind({}), fk::nchw(1, 1, 1, 1)).mermaid(), "-->") == 4);
}

TEST_CASE("signals and volumes are described by their own extents") {
    fk::host::Device device;
    auto const w = fk::random<float>(device, fk::kctrs(8, 4, 3, 3, 3));
    auto const about =
        fk::describe(fk::Plan<fk::Conv<fk::filter(3, 3, 3)>>::bind({.weights = w}), fk::ncdhw(2, 4, 5, 6, 7));
    CHECK(fk::to_string(about.steps[0].output) == "2 x 8 x 3 x 4 x 5");
    CHECK(about.flops() == 2.0 * 2 * 8 * 3 * 4 * 5 * 4 * 27);
    CHECK(about.to_string().contains("of 2 x 4 x 5 x 6 x 7, float"));
    CHECK(about.to_string().contains("y[n,k,o,p,q] = sum of x[n,c,d,h,w] * weights[k,c,t,r,s] over c, t, r, s"));
    auto const tone = fk::random<fk::half>(device, fk::nwc(2, 9, 3));
    CHECK(fk::describe(fk::Plan<fk::Scale>::bind({}), tone).to_string().contains("of 2 x 3 x 9, half"));
}

TEST_CASE("describe refuses the same inputs as a run") {
    fk::host::Device device;
    auto const w = fk::random<float>(device, fk::kcrs(10, 5, 3, 2));
    auto const layer = fk::Plan<Conv>::bind({.weights = w});
    CHECK_THROWS_AS(fk::describe(layer, fk::nchw(2, 6, 7, 8)), fk::Error);                          // 5 channels
    CHECK_THROWS_AS(fk::describe(layer, fk::nchw(2, 5, 2, 8)), fk::Error);                          // 3 rows
    CHECK_THROWS_AS(fk::describe(layer, fk::Index<4>{{-1, 5, 7, 8}}), fk::Error);
    CHECK(fk::describe(layer, fk::Index<4>{{0, 5, 7, 8}}).flops() == 0);
    CHECK_THROWS_AS(fk::describe(layer, fk::nchw(2, 5, 7, 8), fk::DataType::float16), fk::Error);   // w is float
}

TEST_CASE("describe counts what a Backward plan computes again, its slopes, sums and batch statistics") {
    fk::host::Device device;
    fk::Layout<4> const layout = fk::nchw(2, 3, 4, 5);  // 120 elements
    auto const x = fk::random<float>(device, layout);
    auto const p = fk::random<float>(device, fk::channels(3));
    auto saved = fk::random<float>(device, fk::channels(3)), inverse = fk::random<float>(device, fk::channels(3));

    using Train = fk::Plan<fk::BatchNormTraining<fk::Spatial>, Relu>;
    auto const layer =
        Train::bind({.scale = p, .shift = p, .saved_mean = saved, .saved_inverse_deviation = inverse}, {});
    auto const trained = fk::describe(fk::Backward<Train>::bind(layer, x), layout);
    // normalized again 3; Relu's slope 1; sums of g, and of g * (x - mean) 4; scale * (g - a - (x - mean) * b) 5
    CHECK(trained.flops() == 120 * (3 + 1 + 4 + 5));
    CHECK(trained.steps[0].equation ==
          "dx = scale * (g - mean of g - (x - mean) * mean of g * (x - mean) / (variance + epsilon)) / "
          "sqrt(variance + epsilon), g = dy * slopes of the other operators at x");

    auto const infer = fk::Plan<Norm, Relu>::bind({.mean = p, .variance = p, .scale = p, .shift = p}, {});
    auto const inferred = fk::describe(fk::Backward<fk::Plan<Norm, Relu>>::bind(infer, x), layout);
    CHECK(inferred.flops() == 120 * (3 + 1 + 4 + 1));
    CHECK(inferred.steps[0].equation == "dx = dy * slopes of the plan at x");

    using Sum = fk::Plan<fk::Bias, fk::Residual, Relu, fk::Store>;  // Relu is the last operator with a slope
    auto y = fk::random<float>(device, layout);
    auto const sum = Sum::bind({.bias = p}, {.z = x}, {}, {.values = y});
    CHECK(fk::describe(fk::Backward<Sum>::bind(sum, x), layout).flops() == 120 * ((1 + 2) + (1 + 1) + (1 + 1) + 1));
}
