// SPDX-License-Identifier: MIT
//
// Gradients through the C interface, over the fake driver: arguments, messages, and kernels that are compiled. Which
// kernels they are is compared in weight_gradients.cpp, transposed.cpp and norm_gradients.cpp.
#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <cstdlib>
#include <random>
#include <string>

#include "layer.hpp"

namespace {

using Catch::Matchers::ContainsSubstring;
using namespace test;

/// Gradient of a batch norm of 16 channels.
struct NormGradient : Empty {
    explicit NormGradient(fusekit_kind kind = FUSEKIT_BATCH_NORM_BACKWARD) {
        fusekit_arguments& norm = add(kind, FUSEKIT_SPATIAL);
        norm.tensors[FUSEKIT_FORWARD_X] = nhwc(1, 16, 8, 8, memory[0]);
        for (int const role : {FUSEKIT_NORM_SCALE, FUSEKIT_SHIFT, FUSEKIT_MEAN, FUSEKIT_VARIANCE, FUSEKIT_SAVED_MEAN,
                               FUSEKIT_SAVED_INVERSE_DEVIATION, FUSEKIT_SCALE_GRADIENT, FUSEKIT_SHIFT_GRADIENT})
            norm.tensors[role] = floats(16, memory[1] + 256 * role);
    }
    void add_residual() {
        fusekit_arguments& residual = add(FUSEKIT_RESIDUAL_BACKWARD);
        residual.tensors[FUSEKIT_Z] = nhwc(1, 16, 8, 8, memory[0] + 4096);
        residual.tensors[FUSEKIT_OUTPUT] = nhwc(1, 16, 8, 8, memory[0] + 8192);
    }
};

/// Gradient of a convolution of 16 to 24 channels, 3x3 with padding 1, over 8 x 8 pixels.
struct ConvGradient : Empty {
    ConvGradient(fusekit_kind kind, int stride) {
        fusekit_arguments& head = add_head(kind, 0, FUSEKIT_FILTER(3, 3, 1, stride));
        std::int64_t const p = 8 / stride;
        bool const by_weights = kind == FUSEKIT_CONV_WEIGHT_GRADIENT;
        x = by_weights ? nhwc(2, 16, 8, 8) : nhwc(2, 24, p, p);
        y = by_weights ? nhwc(24, 16, 3, 3) : nhwc(2, 16, 8, 8);
        if (by_weights) head.tensors[FUSEKIT_Z] = nhwc(2, 24, p, p, memory[0]);
        else head.tensors[FUSEKIT_WEIGHTS] = nhwc(24, 16, 3, 3, memory[0]);
    }
};

std::string refused(test::Device const& setup, Empty& layer) {
    Counts const before;
    REQUIRE(layer.prepare(setup.device) == FUSEKIT_REFUSED);
    REQUIRE((layer.run == nullptr && Counts() == before));
    return fusekit_last_message();
}

}  // namespace

TEST_CASE("jit gradients: a batch norm, a residual and an activation") {
    Setup const setup(true);
    NormGradient layer;
    layer.add_residual();
    layer.add(FUSEKIT_ACTIVATION_BACKWARD, FUSEKIT_RELU);
    REQUIRE(output_of(layer) == "1 16 8 8 ");
    prepare_and_run(setup, layer);
    // dx overlaps the gradient of z
    REQUIRE(fusekit_run_execute(layer.run, setup.device, FUSEKIT_OWN_STREAM, memory[2], memory[0] + 8192, nullptr, 0) ==
            FUSEKIT_REFUSED);
}

TEST_CASE("jit gradients: the forward run of a batch norm, a residual and an activation") {
    Setup const setup;
    Empty layer;
    fusekit_arguments& norm = layer.add(FUSEKIT_BATCH_NORM_TRAINING, FUSEKIT_SPATIAL);
    for (int const role : {FUSEKIT_NORM_SCALE, FUSEKIT_SHIFT, FUSEKIT_SAVED_MEAN, FUSEKIT_SAVED_INVERSE_DEVIATION,
                           FUSEKIT_RUNNING_MEAN, FUSEKIT_RUNNING_VARIANCE})
        norm.tensors[role] = floats(16, memory[1] + 256 * role);
    layer.add(FUSEKIT_RESIDUAL).tensors[FUSEKIT_Z] = nhwc(1, 16, 8, 8, memory[0]);
    layer.add(FUSEKIT_ACTIVATION, FUSEKIT_RELU);
    prepare_and_run(setup, layer);
}

TEST_CASE("jit gradients: a convolution by x and by its weights, and operators after them") {
    Setup const setup;
    for (int const stride : {1, 2}) {
        ConvGradient by_x(FUSEKIT_TRANSPOSED_CONV, stride), by_weights(FUSEKIT_CONV_WEIGHT_GRADIENT, stride);
        by_x.add(FUSEKIT_BIAS).tensors[FUSEKIT_BIASES] = floats(16, memory[1]);
        by_x.add(FUSEKIT_ACTIVATION, FUSEKIT_SILU);
        by_x.add(FUSEKIT_RESIDUAL).tensors[FUSEKIT_Z] = nhwc(2, 16, 8, 8, memory[1] + 4096);
        prepare_and_run(setup, by_x);
        by_weights.arguments[0].tensors[FUSEKIT_BIASES] = floats(24, memory[1]);
        by_weights.add(FUSEKIT_SCALE);
        by_weights.add(FUSEKIT_RESIDUAL).tensors[FUSEKIT_Z] = nhwc(24, 16, 3, 3, memory[1] + 4096);
        by_weights.y.type = FUSEKIT_FLOAT;
        REQUIRE(output_of(by_weights) == "24 16 3 3 ");
        prepare_and_run(setup, by_weights);
    }
}

TEST_CASE("jit gradients: arguments are refused before anything is compiled") {
    test::Device const setup;
    NormGradient norm;
    norm.arguments[0].tensors[FUSEKIT_SAVED_MEAN].rank = 0;
    REQUIRE(refused(setup, norm) ==
            "Plan<BatchNormBackward<Spatial>>: BatchNormTraining<Spatial>.saved_mean: expected the tensor that the "
            "forward run saved, got nothing");
    norm.arguments[0].tensors[FUSEKIT_FORWARD_X].rank = 0;
    REQUIRE_THAT(refused(setup, norm), ContainsSubstring("BatchNormTraining<Spatial>.x: expected a tensor, got none"));

    NormGradient residual;
    residual.add_residual();
    residual.arguments[1].tensors[FUSEKIT_OUTPUT].extents[2] = 7;
    REQUIRE_THAT(refused(setup, residual), ContainsSubstring("Residual.gradients.z: expected 1 x 16 x 8 x 8"));
    residual.arguments[1].tensors[FUSEKIT_OUTPUT] = residual.arguments[1].tensors[FUSEKIT_Z];
    REQUIRE_THAT(refused(setup, residual), ContainsSubstring("memory that overlaps it"));

    ConvGradient by_x(FUSEKIT_TRANSPOSED_CONV, 2);
    REQUIRE(output_of(by_x) == "2 16 7 7 ");  // the smallest: 8 x 8 is as valid
    by_x.y = nhwc(2, 16, 9, 8);
    REQUIRE_THAT(refused(setup, by_x), ContainsSubstring("expected 2 x 16 x 7 x 7 to 2 x 16 x 8 x 8"));
    by_x.arguments[0].tensors[FUSEKIT_WEIGHTS] = nhwc(23, 16, 3, 3, memory[0]);
    REQUIRE_THAT(refused(setup, by_x),
                 ContainsSubstring("TransposedConv<filter(3, 3).pad(1).stride(2)>.weights: expected 24 x 16 x 3 x 3"));

    ConvGradient by_weights(FUSEKIT_CONV_WEIGHT_GRADIENT, 1);
    by_weights.arguments[0].tensors[FUSEKIT_BIASES] = floats(23, memory[1]);
    REQUIRE_THAT(refused(setup, by_weights),
                 ContainsSubstring("ConvWeightGradient<filter(3, 3).pad(1)>.bias_gradient: expected 24 (K), got 23"));
    by_weights.arguments[0].tensors[FUSEKIT_Z] = nhwc(2, 24, 8, 7, memory[0]);
    REQUIRE_THAT(refused(setup, by_weights), ContainsSubstring("expected 2 x 24 x 8 x 8 (N x K x P x Q)"));
    by_weights.x = nhwc(2, 16, 8, 8), by_weights.x.rank = 3;
    REQUIRE_THAT(refused(setup, by_weights), ContainsSubstring("x: expected 4 modes, got 3"));

    ConvGradient groups(FUSEKIT_CONV_WEIGHT_GRADIENT, 1);
    groups.operators[0].filter.groups = 3;
    REQUIRE_THAT(refused(setup, groups), ContainsSubstring("expected groups that divide C"));
}

TEST_CASE("jit gradients: runs without outputs compile and launch nothing") {
    test::Device const setup;
    Counts const before;
    NormGradient norm;
    norm.x = norm.y = norm.arguments[0].tensors[FUSEKIT_FORWARD_X] = nhwc(1, 0, 8, 8, memory[0]);
    for (fusekit_tensor& one : norm.arguments[0].tensors)
        if (one.rank == 1) one.extents[0] = 0;
    REQUIRE(norm.prepare(setup.device) == FUSEKIT_SUCCESS);
    ConvGradient by_x(FUSEKIT_TRANSPOSED_CONV, 2);
    by_x.x.extents[0] = by_x.y.extents[0] = 0;
    REQUIRE(by_x.prepare(setup.device) == FUSEKIT_SUCCESS);
    ConvGradient by_weights(FUSEKIT_CONV_WEIGHT_GRADIENT, 1);
    by_weights.arguments[0].tensors[FUSEKIT_Z].extents[1] = by_weights.y.extents[0] = 0;
    REQUIRE(by_weights.prepare(setup.device) == FUSEKIT_SUCCESS);
    REQUIRE(Counts() == before);
}

TEST_CASE("jit gradients: random arguments are prepared or refused") {
    setenv("FUSEKIT_JIT", "0", 1);  // compiles nothing
    test::Device const setup;
    std::mt19937 random(11);
    auto const draw = [&](int low, int high) {
        return low + static_cast<int>(random() % static_cast<unsigned>(high - low + 1));
    };
    int prepared = 0, refusals = 0;
    for (int i = 0; i < 20000; ++i) {
        Empty layer;
        bool const of_conv = draw(0, 1), by_weights = draw(0, 1);
        fusekit_filter filter = FUSEKIT_FILTER(draw(1, 5), draw(1, 5), draw(0, 2), draw(1, 3));
        filter.dilation[0] = draw(1, 2), filter.groups = draw(0, 2) ? 1 : draw(1, 4);
        if (draw(0, 30) == 0) filter.size[draw(0, 1)] = draw(0, 1) ? 1 << draw(4, 30) : draw(-2, 40);
        if (draw(0, 30) == 0) filter.stride[draw(0, 1)] = 1 << draw(2, 30);
        if (draw(0, 30) == 0) filter.pad_before[draw(0, 1)] = 1 << draw(2, 30);
        if (draw(0, 30) == 0) filter.groups = 1 << draw(0, 30);
        if (of_conv) {
            layer.add_head(by_weights ? FUSEKIT_CONV_WEIGHT_GRADIENT : FUSEKIT_TRANSPOSED_CONV, 0, filter);
            if (draw(0, 1)) layer.add(draw(0, 1) ? FUSEKIT_RESIDUAL : FUSEKIT_SCALE);
        } else {
            if (draw(0, 2))
                layer.add(draw(0, 1) ? FUSEKIT_BATCH_NORM_BACKWARD : FUSEKIT_BATCH_NORM_INFERENCE, draw(0, 1));
            if (draw(0, 1)) layer.add(FUSEKIT_RESIDUAL_BACKWARD);
            if (draw(0, 2)) layer.add(FUSEKIT_ACTIVATION_BACKWARD, draw(0, 17));
        }
        fusekit_types const types = {FUSEKIT_HALF, FUSEKIT_HALF, FUSEKIT_HALF};
        if (fusekit_find(FUSEKIT_JIT, layer.operators.data(), layer.count(), &types, &layer.plan) != FUSEKIT_SUCCESS)
            continue;
        std::int64_t const n = draw(0, 3), c = draw(0, 6) * 4, k = draw(0, 6) * 4, h = draw(0, 12), w = draw(1, 12);
        auto const out = [&](std::int64_t extent, int mode) {
            return (extent + filter.pad_before[mode] + filter.pad_after[mode] -
                    filter.dilation[mode] * (std::int64_t{filter.size[mode]} - 1) - 1) /
                       filter.stride[mode] +
                   1;
        };
        fusekit_tensor const image = nhwc(n, c, h, w, memory[0]), dy = nhwc(n, k, out(h, 0), out(w, 1), memory[1]),
                             weights = nhwc(k, c / filter.groups, filter.size[0], filter.size[1], memory[2]);
        layer.x = !of_conv || by_weights ? image : dy;
        layer.y = !of_conv || !by_weights ? image : weights;
        layer.x.rank = layer.y.rank = draw(0, 6) || of_conv ? 4 : 3;
        for (fusekit_arguments& one : layer.arguments) {
            one.tensors[FUSEKIT_WEIGHTS] = weights;
            one.tensors[FUSEKIT_Z] = &one == &layer.arguments[0] && by_weights && of_conv ? dy : layer.y;
            one.tensors[FUSEKIT_Z].data = memory[1];
            one.tensors[FUSEKIT_FORWARD_X] = layer.x, one.tensors[FUSEKIT_OUTPUT] = layer.y;
            one.tensors[FUSEKIT_FORWARD_X].data = memory[0], one.tensors[FUSEKIT_OUTPUT].data = memory[3];
            int address = 0;
            for (int const role :
                 {FUSEKIT_NORM_SCALE, FUSEKIT_SHIFT, FUSEKIT_MEAN, FUSEKIT_VARIANCE, FUSEKIT_SAVED_MEAN,
                  FUSEKIT_SAVED_INVERSE_DEVIATION, FUSEKIT_SCALE_GRADIENT, FUSEKIT_SHIFT_GRADIENT})
                one.tensors[role] = floats(c, memory[2] + 1024 * ++address);
        }
        if (draw(0, 10) == 0) layer.x.extents[draw(0, 3)] = draw(0, 1) ? -1 : std::int64_t{1} << draw(20, 62);
        if (draw(0, 10) == 0) layer.y.extents[draw(0, 3)] = draw(0, 1) ? -1 : std::int64_t{1} << draw(20, 62);
        if (draw(0, 10) == 0)
            layer.arguments[0].tensors[draw(0, 15)].extents[draw(0, 3)] = std::int64_t{1} << draw(0, 62);
        std::int64_t extents[5] = {};
        fusekit_output_shape(layer.plan, layer.arguments.data(), layer.count(), &layer.x, extents);
        std::size_t bytes = 0;
        fusekit_status const status = fusekit_workspace_bytes(layer.plan, setup.device, layer.arguments.data(),
                                                              layer.count(), &layer.x, &layer.y, &bytes);
        INFO(fusekit_last_message());
        REQUIRE((status == FUSEKIT_SUCCESS || status == FUSEKIT_REFUSED));
        ++(status == FUSEKIT_SUCCESS ? prepared : refusals);
        if (layer.prepare(setup.device) == FUSEKIT_SUCCESS) REQUIRE(layer.run != nullptr);
        else REQUIRE(std::string(fusekit_last_message()).size() > 20);
    }
    unsetenv("FUSEKIT_JIT");
    INFO(prepared << " prepared, " << refusals << " refused");
    REQUIRE((prepared > 3000 && refusals > 3000));
}
