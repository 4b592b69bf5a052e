// SPDX-License-Identifier: MIT
#include <catch2/catch_test_macros.hpp>
#include <cstdlib>

#include "compat/call_at_once.hpp"
#include "support/random_case.hpp"

using namespace test::miopen;
using namespace test;

namespace {

/// Restricts a case to MIOpen's descriptors: equal padding on both sides, strides that are not negative, and y with x's
/// layout.
Case as_miopen_has_it(Case about) {
    oracle::Window& f = about.window;
    f.bottom = f.top, f.right = f.left;
    bool const last = about.x_layout.starts_with("nhwc");
    about.x_layout = about.y_layout = last ? "nhwc" : "nchw";
    if (about.seed % 4 == 0) about.x_layout += "+2";
    about.w_layout = last ? "krsc" : "kcrs";
    if (!about.has_conv() && about.form[0] >= 'T') about.real = true;  // means of integers are seldom floats
    return about;
}

std::vector<FormName> const& forms() {
    static auto const all = [] {
        std::vector<FormName> list;
        for (char const* mode : {"passthru", "logistic", "tanh", "relu", "softrelu", "abs", "power", "clippedrelu",
                                 "leakyrelu", "elu", "clamp"})
            for (char const* letters : {"CBNA", "CBMA", "CBA", "NA", "MA", "TA", "UA"}) list.push_back({letters, mode});
        for (char const* letters : {"C", "CB", "CN", "CBN"}) list.push_back({letters, ""});
        for (char const* letters : {"CA", "CNA"}) list.push_back({letters, "relu"});
        return list;
    }();
    return all;
}

}  // namespace

TEST_CASE("MIOpen: random problems of its tables' rows give the oracle's results") {
    char const* const given = std::getenv("FUSEKIT_CASES");
    int const cases = given ? std::atoi(given) : 150;
    Random random(20261124);
    bool const has[] = {has_plans_of(fk::DataType::float16), has_plans_of(fk::DataType::bfloat16)};
    int done = 0, unfit_ones = 0;
    for (int wrong = 0; done < cases && wrong < 10; ++done) {
        Case about = as_miopen_has_it(random_case(random, forms(), 2e6));
        bool const known = about.type == fk::DataType::float16    ? has[0]
                           : about.type == fk::DataType::bfloat16 ? has[1]
                                                                  : true;
        if (!known) about.type = fk::DataType::float32;
        INFO(about.print());
        if (about.y().h < 1 || about.y().w < 1) continue;
        Problem const problem(about);
        auto const expected = problem.expected();
        if (unfit(expected) != "") {
            ++unfit_ones;
            continue;
        }
        std::string const text = run_fused(problem, expected);
        wrong += text != "";
        CHECK(text == "");
    }
    CHECK(unfit_ones * 4 < done);
}

TEST_CASE("MIOpen: batch norm in training and an activation, backward") {
    for (char const* text : {"n3c5h6w7k5r1s1pt0l0b0r0u1v1d1e1g1 nchw kcrs float TA tanh t1 ~3",
                             "n4c6h5w3k6r1s1pt0l0b0r0u1v1d1e1g1 nhwc kcrs half UA relu t1 ~4",
                             "n2c4h3w7k4r1s1pt0l0b0r0u1v1d1e1g1 nhwc kcrs float UA elu t1 ~6",
                             "n2c3h90w80k3r1s1pt0l0b0r0u1v1d1e1g1 nchw kcrs float UA relu t1 ~7",
                             "n2c3h9w9k3r1s1pt0l0b0r0u1v1d1e1g1 nchw kcrs bfloat16 TA power t1 ~5"})
        if (Case const about = Case::parse(text); has_plans_of(about.type))
            CHECK(run_fused_backward(Problem(about)) == "");
}

TEST_CASE("MIOpen: the immediate call in channels last, in every type") {
    float const half = 0.5f, two = 2;
    for (fk::DataType const type : {fk::DataType::float32, fk::DataType::float16, fk::DataType::bfloat16}) {
        if (!has_plans_of(type)) continue;
        CallAtOnce call(type, "nhwc", "krsc");
        succeeds(call.run(&two, &half, activation(miopenActivationLEAKYRELU, 0.25)));
        CHECK(call.wrong(2, 0.5, oracle::Mode{"leakyrelu"}.with_arguments()) == "");
    }
}
