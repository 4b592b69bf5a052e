// SPDX-License-Identifier: MIT
//
// Gradients of plans without a Conv, over the fake driver.
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
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

}  // namespace

TEST_CASE("jit gradients: a batch norm, a residual and an activation") {
    Setup const setup(true);
    NormGradient layer;
    layer.add_residual();
    layer.add(FUSEKIT_ACTIVATION_BACKWARD, FUSEKIT_RELU);
    REQUIRE(output_of(layer) == "1 16 8 8 ");
    prepare_and_run(setup, layer);
}

TEST_CASE("jit gradients: all") {
    Setup const setup;
    for (auto const kind : {FUSEKIT_BATCH_NORM_BACKWARD, FUSEKIT_BATCH_NORM_INFERENCE})
        for (bool const residual : {false, true})
            for (int const mode : {-1, int{FUSEKIT_RELU}, int{FUSEKIT_GELU}}) {
                if (kind == FUSEKIT_BATCH_NORM_INFERENCE && !residual && mode < 0) continue;
                NormGradient layer(kind);
                if (residual) layer.add_residual();
                if (mode >= 0) layer.add(FUSEKIT_ACTIVATION_BACKWARD, mode);
                fusekit_status const status = layer.prepare(setup.device);
                INFO(fusekit_last_message());
                REQUIRE(status == FUSEKIT_SUCCESS);
            }
}

TEST_CASE("jit gradients: weights") {
    Setup const setup;
    struct {
        std::int64_t c, k, r, stride;
        int groups;
    } const all[] = {{16, 16, 1, 1, 1},  {16, 24, 1, 2, 1}, {32, 32, 3, 1, 1}, {3, 32, 2, 2, 1},
                     {16, 16, 3, 1, 16}, {32, 32, 3, 1, 8}, {16, 16, 9, 1, 2}, {3, 64, 7, 2, 1}};
    for (auto const& one : all) {
        Empty layer;
        fusekit_filter filter = FUSEKIT_FILTER(int(one.r), int(one.r), int(one.r / 2), int(one.stride));
        if (one.r == 2) filter.pad_before[0] = filter.pad_before[1] = filter.pad_after[0] = filter.pad_after[1] = 0;
        filter.groups = one.groups;
        fusekit_arguments& head = layer.add_head(FUSEKIT_CONV_WEIGHT_GRADIENT, 0, filter);
        std::int64_t const p = 8 / one.stride;
        layer.x = nhwc(2, one.c, 8, 8);
        head.tensors[FUSEKIT_Z] = nhwc(2, one.k, p, p, memory[0]);
        layer.y = nhwc(one.k, one.c / one.groups, one.r, one.r);
        INFO(output_of(layer));
        fusekit_status const status = layer.prepare(setup.device);
        INFO(fusekit_last_message());
        REQUIRE(status == FUSEKIT_SUCCESS);
    }
}
