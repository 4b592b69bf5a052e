// SPDX-License-Identifier: MIT
//
// Which sequences the backend FUSEKIT_JIT accepts. No compiler is needed: nothing is prepared.
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <cstring>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "fusekit/plan/backward.hpp"
#include "fusekit/runtime/c/fusekit.h"
#include "fusekit/runtime/explain.hpp"

namespace {

namespace rt = fusekit::runtime;
using Catch::Matchers::ContainsSubstring;

constexpr fusekit_operator conv = {FUSEKIT_CONV, 0, FUSEKIT_FILTER(3, 3, 1, 1)};
constexpr fusekit_operator bias = {FUSEKIT_BIAS, 0, {}}, relu = {FUSEKIT_ACTIVATION, FUSEKIT_RELU, {}};
constexpr fusekit_operator residual = {FUSEKIT_RESIDUAL, 0, {}};
constexpr fusekit_types halves = {FUSEKIT_HALF, FUSEKIT_HALF, FUSEKIT_HALF};

std::string found(std::vector<fusekit_operator> const& all, fusekit_types types = halves) {
    fusekit_plan plan = nullptr;
    auto const status = fusekit_find(FUSEKIT_JIT, all.data(), static_cast<int>(all.size()), &types, &plan);
    if (status != FUSEKIT_SUCCESS) {
        REQUIRE(plan == nullptr);
        return std::string(fusekit_status_name(status)) + " " + fusekit_last_message();
    }
    char name[512];
    REQUIRE(fusekit_plan_name(plan, name, sizeof name, nullptr) == FUSEKIT_SUCCESS);
    REQUIRE(fusekit_plan_destroy(plan) == FUSEKIT_SUCCESS);
    return name;
}

}  // namespace

TEST_CASE("jit sequences: a plan is named as in source") {
    REQUIRE(found({conv, bias, residual, relu}) == "Plan<Conv<filter(3, 3).pad(1)>, Bias, Residual, Activation<Relu>>");
    REQUIRE(found({conv}) == "Plan<Conv<filter(3, 3).pad(1)>>");
    char const* const binary[] = {"Add", "Subtract", "Multiply", "Divide", "Maximum", "Minimum"};
    for (int mode = 0; mode < 6; ++mode)
        REQUIRE(found({conv, bias, {FUSEKIT_BINARY, mode, {}}}) ==
                std::string("Plan<Conv<filter(3, 3).pad(1)>, Bias, ") + binary[mode] + ">");
    fusekit_operator const norm = {FUSEKIT_BATCH_NORM_INFERENCE, FUSEKIT_SPATIAL, {}};
    REQUIRE(found({conv, bias, norm, relu}) ==
            "Plan<Conv<filter(3, 3).pad(1)>, Bias, BatchNormInference<Spatial>, Activation<Relu>>");
    for (int mode = 0; mode < rt::activation_modes; ++mode)
        REQUIRE_THAT(found({conv, {FUSEKIT_ACTIVATION, mode, {}}}), ContainsSubstring("Plan<Conv<"));
}

TEST_CASE("jit sequences: a broken rule has the sentence of every Plan") {
    std::string const message = found({conv, relu, bias});
    REQUIRE_THAT(message, ContainsSubstring("FUSEKIT_NO_PLAN"));
    REQUIRE_THAT(message, ContainsSubstring(fusekit::detail::rules::BiasComesEarly::sentence));
    REQUIRE_THAT(found({conv, conv}), ContainsSubstring(fusekit::detail::rules::OneHead::sentence));
    REQUIRE_THAT(found({}), ContainsSubstring(fusekit::detail::rules::HasOperators::sentence));
}

TEST_CASE("jit sequences: what is not compiled is named") {
    REQUIRE_THAT(found({bias, conv}), ContainsSubstring("Conv<filter(3, 3).pad(1)>: expected an operator of plans"));
    REQUIRE_THAT(found({conv, {FUSEKIT_STORE, 0, {}}}), ContainsSubstring("Store: expected an operator of plans"));
    REQUIRE_THAT(found({conv, residual, residual}), ContainsSubstring("expected after a Conv or Gemm, one residual"));
    REQUIRE_THAT(found({conv, bias}, {FUSEKIT_INT8, FUSEKIT_INT8, FUSEKIT_INT8}),
                 ContainsSubstring("types: expected float, half or bfloat16"));
    REQUIRE_THAT(found({conv, bias}, {FUSEKIT_HALF, FUSEKIT_FLOAT, FUSEKIT_HALF}),
                 ContainsSubstring("got half to float"));
    REQUIRE_THAT(found({conv, {FUSEKIT_OWN, 12345, {}}}), ContainsSubstring("fusekit_jit_add_operator"));
    REQUIRE_THAT(found({conv, residual, {FUSEKIT_BINARY, FUSEKIT_ADD, {}}}),
                 ContainsSubstring("Add: expected after a Conv or Gemm, one residual, binary operator or batch norm"));
    REQUIRE_THAT(found({conv, {FUSEKIT_BINARY, 6, {}}}), ContainsSubstring("a mode from 0 to 5, got 6"));
    REQUIRE_THAT(found({conv, {FUSEKIT_ACTIVATION, 99, {}}}), ContainsSubstring("a mode from 0 to 17, got 99"));
}

TEST_CASE("jit sequences: heads other than a convolution, and plans without one") {
    fusekit_operator const gemm = {FUSEKIT_GEMM, 0, {}}, average = {FUSEKIT_GLOBAL_AVERAGE, 0, {}};
    fusekit_operator const halves_of_pool = {FUSEKIT_POOL, FUSEKIT_MAX, FUSEKIT_FILTER(2, 2, 0, 2)};
    REQUIRE(found({gemm, bias, residual, relu}) == "Plan<Gemm, Bias, Residual, Activation<Relu>>");
    REQUIRE(found({{FUSEKIT_BATCHED_GEMM, 0, {}}, relu}) == "Plan<BatchedGemm, Activation<Relu>>");
    for (int mode : {FUSEKIT_SPATIAL, FUSEKIT_PER_ACTIVATION})
        REQUIRE_THAT(found({{FUSEKIT_BATCH_NORM_TRAINING, mode, {}}, residual, relu}),
                     ContainsSubstring("Plan<BatchNormTraining<"));
    REQUIRE(found({relu}) == "Plan<Activation<Relu>>");
    REQUIRE(found({residual, bias, residual, relu}) == "Plan<Residual, Bias, Residual, Activation<Relu>>");
    REQUIRE(found({relu, {FUSEKIT_POOL, FUSEKIT_AVERAGE, FUSEKIT_FILTER(3, 3, 1, 2)}}) ==
            "Plan<Activation<Relu>, Pool<Average, filter(3, 3).pad(1).stride(2)>>");
    REQUIRE(found({average}) == "Plan<GlobalAverage>");
    REQUIRE(found({conv, relu, halves_of_pool}) ==
            "Plan<Conv<filter(3, 3).pad(1)>, Activation<Relu>, Pool<Max, filter(2, 2).stride(2)>>");
    struct {
        fusekit_operator head;
        char const* name;
    } const heads[] = {{{FUSEKIT_LAYER_NORM, 0, {}}, "LayerNorm"},
                       {{FUSEKIT_RMS_NORM, 0, {}}, "RmsNorm"},
                       {{FUSEKIT_GROUP_NORM, 0, {{}, {}, {}, {}, {}, 8}}, "GroupNorm"},
                       {{FUSEKIT_INSTANCE_NORM, 0, {}}, "InstanceNorm"},
                       {{FUSEKIT_SOFTMAX, 0, {}}, "Softmax"},
                       {{FUSEKIT_LOG_SOFTMAX, 0, {}}, "LogSoftmax"},
                       {{FUSEKIT_UPSAMPLE_NEAREST, 0, {{2, 2}, {}, {}, {}, {}, 0}}, "UpsampleNearest<2>"},
                       {{FUSEKIT_UPSAMPLE_BILINEAR, 0, {{2, 3}, {}, {}, {}, {}, 0}}, "UpsampleBilinear<2, 3>"},
                       {{FUSEKIT_PIXEL_SHUFFLE, 0, {{4, 4}, {}, {}, {}, {}, 0}}, "PixelShuffle<4>"},
                       {{FUSEKIT_PIXEL_UNSHUFFLE, 0, {{3, 3}, {}, {}, {}, {}, 0}}, "PixelUnshuffle<3>"}};
    for (auto const& [head, name] : heads) {
        REQUIRE(found({head, residual, relu}) == std::string("Plan<") + name + ", Residual, Activation<Relu>>");
        bool const of_rows = head.kind >= FUSEKIT_LAYER_NORM && head.kind <= FUSEKIT_LOG_SOFTMAX;
        if (of_rows)
            REQUIRE(found({bias, residual, head, residual}) ==
                    std::string("Plan<Bias, Residual, ") + name + ", Residual>");
        else
            REQUIRE_THAT(found({bias, head}), ContainsSubstring(fusekit::detail::rules::ReductionComesFirst::sentence));
        REQUIRE_THAT(found({head, average}), ContainsSubstring(fusekit::detail::rules::PoolFits::sentence));
    }
}

TEST_CASE("jit sequences: gradients of plans without a Conv") {
    namespace sentences = fusekit::detail::backward_sentences;
    fusekit_operator const norm = {FUSEKIT_BATCH_NORM_BACKWARD, FUSEKIT_SPATIAL, {}},
                           inference = {FUSEKIT_BATCH_NORM_INFERENCE, FUSEKIT_SPATIAL, {}},
                           back = {FUSEKIT_ACTIVATION_BACKWARD, FUSEKIT_RELU, {}},
                           z = {FUSEKIT_RESIDUAL_BACKWARD, 0, {}},
                           window = {FUSEKIT_POOL, FUSEKIT_MAX, FUSEKIT_FILTER(2, 2, 0, 2)};
    REQUIRE(found({norm}) == "Plan<BatchNormBackward<Spatial>>");
    REQUIRE(found({norm, z, back}) == "Plan<BatchNormBackward<Spatial>, ResidualBackward, ActivationBackward<Relu>>");
    REQUIRE(found({inference, z}) == "Plan<BatchNormInference<Spatial>, ResidualBackward>");
    REQUIRE(found({back}) == "Plan<ActivationBackward<Relu>>");
    for (int mode = 0; mode < rt::activation_modes; ++mode)
        REQUIRE_THAT(found({norm, {FUSEKIT_ACTIVATION_BACKWARD, mode, {}}}), ContainsSubstring("Plan<BatchNorm"));
    REQUIRE_THAT(found({conv, back}), ContainsSubstring(sentences::pointwise));
    REQUIRE_THAT(found({back, window}), ContainsSubstring(sentences::whole));
    std::int32_t own = -1;
    REQUIRE(fusekit_jit_add_operator("Twice",
                                     "struct Twice { static constexpr auto stage = fusekit::Stage::activation; };",
                                     &own) == FUSEKIT_SUCCESS);
    REQUIRE_THAT(found({norm, {FUSEKIT_OWN, own, {}}}), ContainsSubstring(sentences::slope));
    // operators of a forward plan, two of one kind, and another order
    for (auto const& all : {std::vector{norm, relu}, {z, bias}, {z, z}, {back, z}})
        REQUIRE_THAT(found(all), ContainsSubstring("expected an operator of a gradient that is compiled at run time"));
    REQUIRE_THAT(found({inference, inference, z}), ContainsSubstring(fusekit::detail::rules::OneOfEach::sentence));
    REQUIRE_THAT(found({back, norm}), ContainsSubstring(fusekit::detail::rules::ReductionComesFirst::sentence));
    REQUIRE_THAT(found({norm}, {FUSEKIT_HALF, FUSEKIT_FLOAT, FUSEKIT_HALF}), ContainsSubstring("got half to float"));
}

TEST_CASE("jit sequences: geometry that a type cannot have") {
    fusekit_filter padded = FUSEKIT_FILTER(2, 2, 2, 1), none = FUSEKIT_FILTER(0, 2, 0, 1);
    for (fusekit_filter const& window : {padded, none})
        REQUIRE_THAT(found({{FUSEKIT_POOL, FUSEKIT_MAX, window}}), ContainsSubstring("expected a window with sizes"));
    fusekit_filter factors = {};
    for (int factor : {0, -1, 1025, std::numeric_limits<int>::max()}) {
        factors.size[0] = factors.size[1] = factor;
        for (int kind = FUSEKIT_UPSAMPLE_NEAREST; kind <= FUSEKIT_PIXEL_UNSHUFFLE; ++kind)
            REQUIRE_THAT(found({{kind, 0, factors}}), ContainsSubstring("expected factors of 1 to 1024"));
    }
    factors.size[0] = 2, factors.size[1] = 3;
    REQUIRE_THAT(found({{FUSEKIT_PIXEL_SHUFFLE, 0, factors}}), ContainsSubstring("expected one factor for rows"));
}

TEST_CASE("jit sequences: operators that are given as source") {
    char const source[] = "struct Twice { static constexpr auto stage = fusekit::Stage::pointwise; struct Args {}; };";
    std::int32_t mode = -1, again = -1;
    REQUIRE(fusekit_jit_add_operator("Twice", source, &mode) == FUSEKIT_SUCCESS);
    REQUIRE(fusekit_jit_add_operator("Twice", source, &again) == FUSEKIT_SUCCESS);
    REQUIRE((mode >= 0 && mode == again));
    REQUIRE(found({conv, bias, {FUSEKIT_OWN, mode, {}}}) == "Plan<Conv<filter(3, 3).pad(1)>, Bias, Twice>");

    // The stage is that of the struct, inherited or not: not one that a comment, a literal or another struct names.
    // Bias may not follow an activation; it may follow a pointwise operator.
    auto const follows_bias = [&](char const* text) {
        std::int32_t own = -1;
        REQUIRE(fusekit_jit_add_operator("ns::Own", text, &own) == FUSEKIT_SUCCESS);
        return found({conv, {FUSEKIT_OWN, own, {}}, bias}).rfind("Plan<Conv", 0) == 0;
    };
    char const* const pointwise[] = {
        "// stage = Stage::activation\nnamespace ns { struct Own { static constexpr auto stage = Stage::pointwise; }; "
        "}",
        "/* struct Own: stage = Stage::activation */ struct Own { static constexpr fusekit::Stage stage = "
        "fusekit::Stage::pointwise; };",
        "constexpr auto text = \"Own: stage = \\\"Stage::activation\"; struct Own { static constexpr auto stage =\n"
        "Stage::pointwise; };",
        "struct Other { static constexpr auto stage = Stage::activation; }; struct Own { static constexpr auto stage = "
        "Stage::pointwise; };",
        "struct Base { static constexpr auto stage = Stage::pointwise; }; struct Own : Base {};",
        "template <int> struct Base { static constexpr auto stage = Stage::pointwise; }; using Own = Base<1>;"};
    for (char const* const text : pointwise) REQUIRE(follows_bias(text));
    REQUIRE_FALSE(
        follows_bias("/* Stage::pointwise */ struct Own { static constexpr auto stage = Stage::activation; };"));

    auto const refused = [&](char const* name, char const* text) {
        std::int32_t none = -7;
        auto const status = fusekit_jit_add_operator(name, text, &none);
        REQUIRE(none == -7);
        return std::string(fusekit_status_name(status)) + " " + fusekit_last_message();
    };
    for (char const* const text : {"struct Twice {};", "struct Twice {}; // stage = Stage::pointwise"})
        REQUIRE_THAT(refused("Twice", text), ContainsSubstring("a struct with a stage"));
    for (char const* const name : {"", "1a", "a b", "a::", "::a", "a:b", "x; int y", "a<b>", "é"})
        REQUIRE_THAT(refused(name, source), ContainsSubstring("FUSEKIT_REFUSED fusekit_jit: operator.name"));
    REQUIRE_THAT(refused("Twice", std::string(70000, ' ').c_str()),
                 ContainsSubstring("at most 65536 bytes, got 70000"));
    REQUIRE_THAT(refused(nullptr, source), ContainsSubstring("name: expected a pointer"));
    REQUIRE(fusekit_jit_add_operator("Twice", source, nullptr) == FUSEKIT_INVALID_VALUE);
}

TEST_CASE("jit sequences: random descriptors") {
    std::mt19937 random(5);
    auto const draw = [&](int low, int high) {
        return low + static_cast<int>(random() % static_cast<unsigned>(high - low + 1));
    };
    int plans = 0, rules = 0;
    for (int i = 0; i < 100000; ++i) {
        std::vector<fusekit_operator> all(static_cast<std::size_t>(draw(0, 10)));
        for (std::size_t at = 0; at < all.size(); ++at) {
            fusekit_operator& one = all[at];
            one.kind = at == 0 && draw(0, 1) ? FUSEKIT_CONV : draw(0, 9) ? draw(0, 29) : draw(-2, 80);
            one.mode = draw(0, 9) ? draw(0, 1) : draw(-3, 100);
            if (one.kind == FUSEKIT_CONV || one.kind == FUSEKIT_POOL || one.kind > FUSEKIT_RMS_NORM)
                one.filter = FUSEKIT_FILTER(draw(1, 5), draw(1, 5), draw(0, 2), draw(1, 2));
            if (draw(0, 50) == 0) one.filter.size[0] = std::numeric_limits<int>::min();
        }
        fusekit_types types = halves;
        if (draw(0, 9) == 0) types.y = draw(-1, 5);
        int const count = draw(0, 200) ? static_cast<int>(all.size()) : draw(-5, static_cast<int>(all.size()));
        fusekit_plan plan = nullptr;
        auto const status = fusekit_find(FUSEKIT_JIT, all.data(), count, &types, &plan);
        REQUIRE((status == FUSEKIT_SUCCESS) == (plan != nullptr));
        if (plan) {
            ++plans;
            REQUIRE(fusekit_plan_destroy(plan) == FUSEKIT_SUCCESS);
            continue;
        }
        REQUIRE(std::strlen(fusekit_last_message()) > 20);
        fusekit_explanation why{};
        if (status != FUSEKIT_NO_PLAN) continue;
        REQUIRE(fusekit_explain(FUSEKIT_JIT, all.data(), count, &types, &why) == FUSEKIT_NO_PLAN);
        if (why.reason != FUSEKIT_BROKEN_RULE) continue;
        ++rules;
        // the sets of plans that are compiled in advance say the same
        std::vector<rt::Descriptor> descriptors;
        for (int at = 0; at < count; ++at) {
            fusekit_operator const& one = all[static_cast<std::size_t>(at)];
            descriptors.push_back({static_cast<rt::Kind>(one.kind), one.mode, fusekit::filter(1, 1)});
        }
        rt::Types const set_types(fusekit::DataType::float16);
        rt::Explanation const set = rt::detail::explain({nullptr, 0}, descriptors, &set_types, false);
        // filters were left out above, and a set does not know operators that are given as source
        char const* const message = fusekit_last_message();
        if (std::strstr(message, "Pool") || std::strstr(message, "Twice") || std::strstr(message, "ns::Own")) continue;
        REQUIRE(std::string(set.sentence) == why.sentence);
    }
    REQUIRE(plans > 1000);
    REQUIRE(rules > 1000);
}
