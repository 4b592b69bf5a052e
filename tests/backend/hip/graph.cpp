// SPDX-License-Identifier: MIT
#include <catch2/catch_test_macros.hpp>
#include <type_traits>
#include <vector>

#include "backend/hip/gpu.hpp"
#include "backend/hip/runner.hpp"
#include "support/forms.hpp"

using namespace test;

TEST_CASE("HIP: every form of plan can be captured, and replays are bitwise identical") {
    fk::hip::Device device = gpu();
    Runner runner(device, GRAPH_REPLAYS);
    std::vector<fk::DataType> types{fk::DataType::float32, fk::DataType::float16};
    if constexpr (std::is_same_v<LastHalf, fk::bfloat16>) types.push_back(fk::DataType::bfloat16);
    for (fk::DataType const type : types)
        for (bool const last : {false, true})
            for (Form<Runner> const& form : forms<Runner>(type)) {
                Case about = Case::parse("n2c6h7w9k10r1s1pt0l0b0r0u1v1d1e1g1 nchw kcrs float C #3");
                if (form.letters[0] == 'C') about.window = {3, 2, 1, 0, 1, 1, 1, 2, 1, 1, 1};
                else about.k = about.x.c;
                if (last) about.x_layout = about.y_layout = "nhwc", about.w_layout = "krsc";
                about.type = about.parameters = type;
                about.form = form.letters, about.mode = form.mode;
                INFO("FUSEKIT_CASE='" << about.print() << "'");
                Problem const problem(about);
                oracle::Tensor const expected = problem.expected();
                REQUIRE(unfit(expected) == "");
                CHECK(form.run(problem, expected, runner) == "");
            }
}
