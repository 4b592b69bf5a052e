// SPDX-License-Identifier: MIT
//
// Plans with heads other than a convolution, over the fake driver. The kernels of four are compiled; the other tests
// need no compiler: arguments are refused before.
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

fusekit_tensor matrix(std::int64_t rows, std::int64_t columns, void* data = nullptr) {
    return {data, FUSEKIT_HALF, 2, {rows, columns}, {columns, 1}};
}
}  // namespace

TEST_CASE("jit heads: a plan without a head, whose operators read several tensors") {
    Setup const setup(true);
    Empty layer;
    layer.add(FUSEKIT_BIAS).tensors[FUSEKIT_BIASES] = floats(16, memory[1]);
    layer.add(FUSEKIT_RESIDUAL).tensors[FUSEKIT_Z] = nhwc(1, 16, 8, 8, memory[0]);
    layer.add(FUSEKIT_BINARY, FUSEKIT_MULTIPLY).tensors[FUSEKIT_Z] = nhwc(1, 16, 8, 8, memory[1]);
    prepare_and_run(setup, layer);
    // y overlaps the tensor of the second operator that reads one
    void* const z = layer.arguments[2].tensors[FUSEKIT_Z].data;
    REQUIRE(fusekit_run_execute(layer.run, setup.device, FUSEKIT_OWN_STREAM, memory[2], static_cast<char*>(z) + 32,
                                nullptr, 0) == FUSEKIT_REFUSED);
}

TEST_CASE("jit heads: a residual before a LayerNorm") {
    Setup const setup;
    Empty layer;
    layer.x = matrix(12, 64), layer.y = matrix(12, 64);
    layer.add(FUSEKIT_RESIDUAL).tensors[FUSEKIT_Z] = matrix(12, 64, memory[0]);
    layer.add(FUSEKIT_LAYER_NORM).tensors[FUSEKIT_NORM_SCALE] = floats(64, memory[1]);
    layer.add(FUSEKIT_ACTIVATION, FUSEKIT_SILU);
    REQUIRE(output_of(layer) == "12 64 ");
    prepare_and_run(setup, layer);
    layer.arguments[1].tensors[FUSEKIT_NORM_SCALE].extents[0] = 63;
    REQUIRE(layer.prepare(setup.device) == FUSEKIT_REFUSED);
    REQUIRE(std::string(fusekit_last_message()) ==
            "Plan<Residual, LayerNorm, Activation<Silu>>: LayerNorm.scale: expected 64 (N), got 63");
    layer.arguments[0].tensors[FUSEKIT_Z].extents[0] = 11;
    REQUIRE(layer.prepare(setup.device) == FUSEKIT_REFUSED);
    REQUIRE_THAT(fusekit_last_message(), ContainsSubstring("Residual.z: expected 12 x 64"));
}

TEST_CASE("jit heads: a pool of windows") {
    Setup const setup;
    Empty layer;
    layer.add_head(FUSEKIT_POOL, FUSEKIT_AVERAGE, FUSEKIT_FILTER(3, 3, 1, 2));
    REQUIRE(output_of(layer) == "1 16 4 4 ");
    layer.y = nhwc(1, 16, 4, 4);
    prepare_and_run(setup, layer);
    layer.y = nhwc(1, 16, 4, 5);
    REQUIRE(layer.prepare(setup.device) == FUSEKIT_REFUSED);
    REQUIRE(
        std::string(fusekit_last_message()) ==
        "Plan<Pool<Average, filter(3, 3).pad(1).stride(2)>>: y: expected 1 x 16 x 4 x 4 (N x K x P x Q), got 1 x 16 "
        "x 4 x 5");
}

TEST_CASE("jit heads: upsampling and pixel shuffles") {
    Setup const setup;
    Empty layer;
    fusekit_filter factors = {};
    factors.size[0] = 2, factors.size[1] = 3;
    layer.add_head(FUSEKIT_UPSAMPLE_BILINEAR, 0, factors);
    REQUIRE(output_of(layer) == "1 16 16 24 ");
    layer.y = nhwc(1, 16, 16, 24);
    prepare_and_run(setup, layer);
    factors.size[1] = 2;
    Empty shuffle, unshuffle;
    shuffle.add_head(FUSEKIT_PIXEL_SHUFFLE, 0, factors);
    REQUIRE(output_of(shuffle) == "1 4 16 16 ");
    shuffle.x = nhwc(1, 15, 8, 8);
    REQUIRE(shuffle.prepare(setup.device) == FUSEKIT_REFUSED);
    REQUIRE_THAT(fusekit_last_message(),
                 ContainsSubstring("PixelShuffle<2>: expected a multiple of 4 channels, got 15"));
    unshuffle.add_head(FUSEKIT_PIXEL_UNSHUFFLE, 0, factors);
    REQUIRE(output_of(unshuffle) == "1 64 4 4 ");
    unshuffle.x = nhwc(1, 16, 8, 7);
    REQUIRE(unshuffle.prepare(setup.device) == FUSEKIT_REFUSED);
    REQUIRE_THAT(fusekit_last_message(), ContainsSubstring("expected images that blocks of 2 x 2 divide"));
}

TEST_CASE("jit heads: arguments are refused before anything is compiled") {
    test::Device const setup;
    test::Counts const before;
    auto const refused = [&](Empty& layer) {
        REQUIRE(layer.prepare(setup.device) == FUSEKIT_REFUSED);
        REQUIRE(layer.run == nullptr);
        return std::string(fusekit_last_message());
    };
    Empty gemm;
    gemm.add(FUSEKIT_GEMM).tensors[FUSEKIT_WEIGHTS] = matrix(32, 24, memory[0]);
    gemm.x = matrix(8, 24), gemm.y = matrix(8, 32);
    REQUIRE(output_of(gemm) == "8 32 ");
    gemm.x = matrix(8, 25);
    REQUIRE_THAT(refused(gemm), ContainsSubstring("Plan<Gemm>: Gemm.weights: expected 32 x 25 (N x K), got 32 x 24"));
    gemm.x = {nullptr, FUSEKIT_HALF, 1, {24}, {1}};
    REQUIRE(refused(gemm) == "Plan<Gemm>: x: expected 2 to 4 modes, got 1");
    REQUIRE(output_of(gemm) == "Plan<Gemm>: x: expected 2 to 4 modes, got 1");

    Empty batched;
    batched.add(FUSEKIT_BATCHED_GEMM).tensors[FUSEKIT_WEIGHTS] = {
        memory[0], FUSEKIT_HALF, 3, {3, 32, 24}, {768, 24, 1}};
    batched.x = {nullptr, FUSEKIT_HALF, 3, {2, 8, 24}, {192, 24, 1}};
    batched.y = {nullptr, FUSEKIT_HALF, 3, {2, 8, 32}, {256, 32, 1}};
    REQUIRE_THAT(refused(batched), ContainsSubstring("Plan<BatchedGemm>: BatchedGemm.weights: expected 2 x 32 x 24"));

    Empty groups;
    groups.add_head(FUSEKIT_GROUP_NORM, 0, {{}, {}, {}, {}, {}, 3});
    REQUIRE(refused(groups) == "Plan<GroupNorm>: GroupNorm.groups: expected a divisor of K = 16, got 3");

    groups.x =
        groups.y = {nullptr, FUSEKIT_HALF, 3, {2, 16, 25}, {400, 25, 1}};  // matrices, whose columns are the channels
    REQUIRE(refused(groups) == "Plan<GroupNorm>: GroupNorm.groups: expected a divisor of K = 25, got 3");

    Empty pooled;  // whose rows 2 x 2 windows do not divide
    pooled.add_head(FUSEKIT_CONV, 0, FUSEKIT_FILTER(1, 1, 0, 1)).tensors[FUSEKIT_WEIGHTS] =
        nhwc(16, 16, 1, 1, memory[0]);
    pooled.add_head(FUSEKIT_POOL, FUSEKIT_MAX, FUSEKIT_FILTER(2, 2, 0, 2));
    pooled.x = nhwc(1, 16, 7, 8), pooled.y = nhwc(1, 16, 3, 4);
    REQUIRE_THAT(refused(pooled), ContainsSubstring("expected images that windows of 2 x 2 divide"));

    Empty norm;
    norm.add(FUSEKIT_BATCH_NORM_TRAINING, FUSEKIT_SPATIAL).tensors[FUSEKIT_NORM_SCALE] = floats(16, memory[0]);
    REQUIRE_THAT(refused(norm), ContainsSubstring("BatchNormTraining<Spatial>.shift: expected a tensor, got none"));

    Empty matrices;  // operators alone have images
    matrices.add(FUSEKIT_ACTIVATION, FUSEKIT_RELU);
    matrices.x = matrices.y = matrix(8, 24);
    REQUIRE(refused(matrices) == "Plan<Activation<Relu>>: x: expected 3 to 4 modes, got 2");

    Empty bias;  // three modes are N x C x W
    bias.add(FUSEKIT_BIAS).tensors[FUSEKIT_BIASES] = floats(25, memory[0]);
    bias.x = bias.y = {nullptr, FUSEKIT_HALF, 3, {2, 16, 25}, {400, 25, 1}};
    REQUIRE(refused(bias) == "Plan<Bias>: Bias.bias: expected 16 (K), got 25");
    REQUIRE(test::Counts() == before);
}

TEST_CASE("jit heads: products with weights of no rows have an output of no columns") {
    for (std::int32_t const kind : {FUSEKIT_GEMM, FUSEKIT_BATCHED_GEMM})
        for (std::int32_t const rank : {2, 3, 4}) {
            Empty product;
            fusekit_tensor weights = matrix(0, 24, memory[0]);
            if (kind == FUSEKIT_BATCHED_GEMM && rank > 2) {
                weights = {memory[0], FUSEKIT_HALF, rank, {2, 0, 24}, {24, 24, 1}};
                if (rank == 4) weights = {memory[0], FUSEKIT_HALF, rank, {2, 5, 0, 24}, {120, 24, 24, 1}};
            }
            product.add(kind).tensors[FUSEKIT_WEIGHTS] = weights;
            product.x = rank == 2   ? matrix(8, 24)
                        : rank == 3 ? fusekit_tensor{nullptr, FUSEKIT_HALF, 3, {2, 8, 24}, {192, 24, 1}}
                                    : fusekit_tensor{nullptr, FUSEKIT_HALF, 4, {2, 5, 8, 24}, {960, 192, 24, 1}};
            REQUIRE(output_of(product) == (rank == 2 ? "8 0 " : rank == 3 ? "2 8 0 " : "2 5 8 0 "));
        }
}

TEST_CASE("jit heads: random layouts, compiling nothing") {
    setenv("FUSEKIT_JIT", "0", 1);
    fusekit_device device = nullptr;
    REQUIRE(fusekit_device_create_jit(0, &device) == FUSEKIT_SUCCESS);
    std::mt19937 random(7);
    auto const draw = [&](int low, int high) {
        return low + static_cast<int>(random() % static_cast<unsigned>(high - low + 1));
    };
    int prepared = 0, refused = 0;
    for (int i = 0; i < 3000; ++i) {
        Empty layer;
        bool const is_pool = draw(0, 7) == 0;
        fusekit_filter const window = {{draw(1, 3), draw(1, 3)}, {draw(0, 1), 0}, {0, draw(0, 1)}, {1, 2}, {1, 1}, 2};
        if (draw(0, 1)) layer.add(FUSEKIT_RESIDUAL);
        std::int32_t const kinds[] = {FUSEKIT_GEMM, FUSEKIT_BATCHED_GEMM, FUSEKIT_BATCH_NORM_TRAINING, FUSEKIT_SCALE};
        if (!is_pool && draw(0, 3) == 0) layer.add(kinds[draw(0, 3)], FUSEKIT_SPATIAL);
        else if (!is_pool) layer.add_head(draw(FUSEKIT_LAYER_NORM, FUSEKIT_PIXEL_UNSHUFFLE), 0, window);
        if (draw(0, 1)) layer.add(FUSEKIT_BINARY, draw(0, 5));
        if (is_pool) layer.add_head(FUSEKIT_POOL, draw(0, 1), window);
        fusekit_types const types = {FUSEKIT_HALF, FUSEKIT_HALF, FUSEKIT_HALF};
        if (fusekit_find(FUSEKIT_JIT, layer.operators.data(), layer.count(), &types, &layer.plan) != FUSEKIT_SUCCESS)
            continue;
        layer.x = nhwc(draw(0, 2), draw(1, 4) * 4, draw(0, 4) * 2, draw(1, 4) * 2);
        layer.x.rank = draw(0, 3) ? 4 : draw(0, 5);
        if (draw(0, 20) == 0) layer.x.extents[draw(0, 3)] = draw(0, 1) ? -1 : std::int64_t{1} << draw(31, 62);
        for (fusekit_arguments& one : layer.arguments) {
            one.tensors[FUSEKIT_Z] = layer.x;
            one.tensors[FUSEKIT_Z].data = memory[0];
            one.tensors[FUSEKIT_WEIGHTS] = nhwc(8, layer.x.extents[1], 1, 1, memory[0]);
            one.tensors[FUSEKIT_WEIGHTS].rank = draw(0, 4) ? 2 : draw(0, 5);
            one.tensors[FUSEKIT_NORM_SCALE] = one.tensors[FUSEKIT_SHIFT] = floats(layer.x.extents[1], memory[1]);
        }
        layer.y = layer.x;
        std::int64_t extents[5] = {};
        if (fusekit_output_shape(layer.plan, layer.arguments.data(), layer.count(), &layer.x, extents) ==
                FUSEKIT_SUCCESS &&
            draw(0, 9)) {
            std::copy(extents, extents + 4, layer.y.extents);
            for (int mode = 3, stride = 1; mode >= 0; --mode)
                layer.y.strides[mode] = stride, stride *= static_cast<int>(layer.y.extents[mode] & 255);
        }
        std::size_t bytes = 0;
        fusekit_status const status = fusekit_workspace_bytes(layer.plan, device, layer.arguments.data(), layer.count(),
                                                              &layer.x, &layer.y, &bytes);
        REQUIRE((status == FUSEKIT_SUCCESS || status == FUSEKIT_REFUSED));
        ++(status == FUSEKIT_SUCCESS ? prepared : refused);
        // without a compiler no kernel is prepared, unless the run writes nothing
        if (layer.prepare(device) == FUSEKIT_SUCCESS) REQUIRE(layer.run != nullptr);
        else REQUIRE(std::string(fusekit_last_message()).size() > 20);
    }
    REQUIRE((prepared > 300 && refused > 300));
    REQUIRE(fusekit_device_destroy(device) == FUSEKIT_SUCCESS);
    unsetenv("FUSEKIT_JIT");
}
