// SPDX-License-Identifier: MIT
#include "fusekit/runtime/ready_made.hpp"

#include <array>
#include <catch2/catch_test_macros.hpp>
#include <list>

#include "fusekit/fusekit.hpp"
#include "fusekit_runtime_host.hpp"
#include "run_found.hpp"

using namespace test;
using Set = rt::ready_made::HostSet;

namespace {

/// True if the set was compiled with plans for this element type. Tests are built with float.
bool has_elements(fk::DataType type) {
    if (type == fk::DataType::float32) return true;
    std::array const sequence = {rt::conv(fk::filter(1, 1)), rt::activation(rt::ActivationMode::relu)};
    std::array const of_int8 = {sequence[0], sequence[1], rt::requantize()};
    return type == fk::DataType::int8 ? bool(Set::find(of_int8, type)) : bool(Set::find(sequence, type));
}

/// The same case with another element type.
std::string with_elements(std::string text, char const* type) {
    return text.replace(text.find(" float "), 7, std::string(" ") + type + " ");
}

}  // namespace

TEST_CASE("The ready-made set computes what the oracle does, of every sequence that it has", "[runtime]") {
    fk::host::Device device(2);
    for (char const* text : {
             // optional operators are omitted
             "n2c3h7w5k4r3s2pt1l0b2r1u2v1d1e2g1 nchw kcrs float C t2 #1",
             "n2c6h7w5k4r3s3pt1l1b1r1u1v1d1e1g2 nhwc krsc float CB t2 #2",
             "n1c5h6w6k7r1s1pt0l0b0r0u1v1d1e1g1 nhwc krsc float CA relu t2 #3",
             "n2c3h9w9k8r5s5pt2l2b2r2u2v2d1e1g1 nchw kcrs float CBA leakyrelu t2 #4",
             "n2c3h8w8k8r3s3pt1l1b1r1u1v1d1e1g1 nchw+1 kcrs float CBA tanh t2 ~5",
             "n2c3h7w5k4r3s2pt1l0b2r1u2v1d1e2g1 nhwc kcrs float CN t2 #6",
             "n2c4h7w7k4r3s3pt1l1b1r1u1v1d1e1g1 nchw kcrs float CNA power t2 #7",
             "n2c4h7w7k4r3s3pt1l1b1r1u1v1d1e1g1 nchw kcrs float CBN t2 #8",
             "n2c4h7w7k4r3s3pt1l1b1r1u2v2d1e1g1 nhwc krsc float CBNA clamp t2 #9",
             "n2c4h7w7k4r3s3pt1l1b1r1u1v1d1e1g1 nchw kcrs float CBMA elu t2 #10",
             "n2c4h5w7k6r1s1pt0l0b0r0u1v1d1e1g1 nhwc krsc float CBRA relu t2 #11",
             "n2c4h5w7k6r3s3pt1l1b1r1u1v1d1e1g1 nchw kcrs float CSBRA gelu t2 ~12",
             "n2c4h5w7k6r3s3pt1l1b1r1u1v1d1e1g1 nchw kcrs float CR t2 #13",
             "n3c5h4w6k5r1s1pt0l0b0r0u1v1d1e1g1 nchw kcrs float N t2 #14",
             "n3c5h4w6k5r1s1pt0l0b0r0u1v1d1e1g1 nhwc kcrs float NA logistic t2 #15",
             "n3c5h4w6k5r1s1pt0l0b0r0u1v1d1e1g1 nchw kcrs float MA abs t2 #16",
             "n3c5h4w6k5r1s1pt0l0b0r0u1v1d1e1g1 nchw kcrs float A mish t2 ~17",
             "n3c5h4w6k5r1s1pt0l0b0r0u1v1d1e1g1 nhwc kcrs float B t2 #18",
             "n3c5h4w6k5r1s1pt0l0b0r0u1v1d1e1g1 nchw kcrs float BA clippedrelu t2 #19",
             "n3c5h4w6k5r1s1pt0l0b0r0u1v1d1e1g1 nchw kcrs float TA softrelu t2 #20",
             "n3c5h4w6k5r1s1pt0l0b0r0u1v1d1e1g1 nchw kcrs float U t2 #21",
             "n3c5h4w6k5r1s1pt0l0b0r0u1v1d1e1g1 nchw kcrs float R t2 #22",
             "n3c5h4w6k5r1s1pt0l0b0r0u1v1d1e1g1 nhwc kcrs float RA gelu t2 ~23",
         }) {
        for (char const* type : {"float", "half", "bfloat16"}) {
            std::string const of_type = with_elements(text, type);
            INFO(of_type);
            if (has_elements(Case::parse(of_type).type)) CHECK(run_found<Set>(of_type, device) == "");
        }
    }
    for (char const* text : {"n2c3h7w5k4r3s3pt1l1b1r1u1v1d1e1g1 nchw kcrs int8 CBAQ relu t2 #1",
                             "n2c8h7w5k16r1s1pt0l0b0r0u1v1d1e1g1 nhwc krsc int8 CQ t2 #2"}) {
        INFO(text);
        if (has_elements(fk::DataType::int8)) CHECK(run_found<Set>(text, device) == "");
    }
}

TEST_CASE("A backward run of the ready-made set gives the oracle's gradients", "[runtime]") {
    fk::host::Device device(2);
    for (bool const per_pixel : {false, true}) {
        Case const about = Case::parse(per_pixel ? "n5c3h4w6k3r1s1pt0l0b0r0u1v1d1e1g1 nchw kcrs float UA tanh t2 ~1"
                                                 : "n5c3h4w6k3r1s1pt0l0b0r0u1v1d1e1g1 nchw kcrs float TA tanh t2 ~1");
        Problem const problem(about);
        Step const &norm = problem.steps[0], &activation = problem.steps[1];
        oracle::Tensor const x(about.x, problem.x);
        auto const batch = oracle::batch_statistics(x, per_pixel, true);
        oracle::Saved saved;
        Format const floats = format_of(fk::DataType::float32);
        for (Bounded v : batch.mean.at) saved.mean.push_back(floats.round(v.value));
        for (Bounded v : oracle::inverse_deviations(batch, norm.statistics.epsilon).at)
            saved.inverse_deviation.push_back(floats.round(v.value));
        auto const expected =
            oracle::training_gradients(x, problem.dy, activation.mode, norm.statistics, saved, per_pixel);

        Described<fk::host::Device> described(problem, device);
        described.descriptors[0].kind = rt::Kind::batch_norm_backward;
        described.descriptors[1].kind = rt::Kind::activation_backward;
        rt::Arguments& own = described.at(0);
        own[rt::Role::x] = described.x;
        own[rt::Role::saved_mean] = described.parameters(per_pixel, saved.mean);
        own[rt::Role::saved_inverse_deviation] = described.parameters(per_pixel, saved.inverse_deviation);
        std::int64_t const c = 3, h = per_pixel ? 4 : 1, w = per_pixel ? 6 : 1;
        auto const parameters = fk::nchw(1, c, h, w);
        Placed<fk::host::Device, 4> scale(device, about.type, parameters, 16),
            shift(device, about.type, parameters, 16), dx(device, about.type, fk::nchw(5, 3, 4, 6), 16);
        own[rt::Role::scale_gradient] = rt::View(scale.view<float>());
        own[rt::Role::shift_gradient] = rt::View(shift.view<float>());

        auto const found = Set::find(described.descriptors, about.type);
        REQUIRE(found);
        auto const dy = described.tensor(about.type, fk::nchw(5, 3, 4, 6), problem.dy);
        auto const refusal = found->run(device, described.arguments, dy, rt::View(dx.view<float>()));
        REQUIRE_FALSE(refusal);
        CHECK(difference(expected.dx, dx.fetch()) == "");
        CHECK(difference(expected.scale, scale.fetch()) == "");
        CHECK(difference(expected.shift, shift.fetch()) == "");
        own[rt::Role::x] = {};
        auto const without_x = found->run(device, described.arguments, dy, rt::View(dx.view<float>()));
        REQUIRE(without_x);
        CHECK(std::string(without_x->what())
                  .ends_with("BatchNormTraining<" + std::string(per_pixel ? "PerActivation" : "Spatial") +
                             ">.x: expected a tensor, got none"));
    }
}

TEST_CASE("Workspace size is computed without memory, for tensors of any size", "[runtime]") {
    fk::host::Device device(2);
    for (bool const per_pixel : {false, true}) {
        auto const norm = per_pixel ? rt::NormMode::per_activation : rt::NormMode::spatial;
        std::array const sequence = {rt::batch_norm_backward(norm), rt::activation_backward(rt::ActivationMode::relu)};
        auto const found = Set::find(sequence, fk::DataType::float32);
        REQUIRE(found);
        fk::Tensor<float, fk::host::Device> image(device, fk::nchw(3, 2, 300, 200));
        fk::Tensor<float, fk::host::Device> dx(device, image.layout());
        std::list<fk::Tensor<float, fk::host::Device>> parameters;
        std::array<rt::Arguments, 2> known, asked;
        known[0][rt::Role::x] = asked[0][rt::Role::x] = rt::View(image.view());
        for (rt::Role const role :
             {rt::Role::scale, rt::Role::shift, rt::Role::saved_mean, rt::Role::saved_inverse_deviation,
              rt::Role::scale_gradient, rt::Role::shift_gradient}) {
            auto const layout = fk::nchw(1, 2, per_pixel ? 300 : 1, per_pixel ? 200 : 1);
            known[0][role] = asked[0][role] = rt::View(parameters.emplace_back(device, layout).view());
            asked[0][role].data = nullptr;
        }
        rt::View const dy(image.view()), to(dx.view());
        asked[0][rt::Role::x].data = nullptr;
        auto const bytes = found->workspace_bytes(device, asked, dy, to);
        INFO((bytes ? "" : bytes.error().what()));
        REQUIRE(bytes);
        rt::Run<fk::host::Device> run;
        REQUIRE_FALSE(found->prepare(device, known, dy, to, run));
        CHECK(*bytes == run->workspace_bytes());
    }
}
