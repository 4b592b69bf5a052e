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
