// SPDX-License-Identifier: MIT
#include "fusekit/runtime/row_operator.hpp"

#include <catch2/catch_test_macros.hpp>
#include <string>

#include "fusekit/runtime/facts.hpp"

namespace fk = fusekit;
namespace rt = fk::runtime;

namespace {

/// Args of Op for these arguments; stores an error in `refusal`.
template <class Op>
typename Op::Args read(rt::Descriptor const& of, rt::Arguments const& arguments, fk::Refusal& refusal) {
    auto const plan = [] { return fk::Text("Plan"); };
    return rt::OperatorOf<Op>::read(rt::Given(of, arguments, 4, -1, plan, fk::type_name<Op>, refusal));
}

}  // namespace

TEST_CASE("row_operator: arguments of norms, which may be omitted") {
    float scale[6] = {}, shift[6] = {};
    rt::Arguments arguments;
    arguments.epsilon = 0.25;
    fk::Refusal refusal;
    auto const none = read<fk::LayerNorm>(rt::layer_norm(), arguments, refusal);
    REQUIRE((!refusal && !none.scale.given() && !none.shift.given() && none.epsilon == 0.25f));

    arguments[rt::Role::scale] = rt::View(fk::DataType::float32, fk::Layout<1>{{{3}}, {{2}}}, scale);
    arguments[rt::Role::shift] = rt::View(fk::DataType::float32, fk::Layout<4>{{{1, 3, 1, 1}}, {{3, 1, 1, 1}}}, shift);
    auto const both = read<fk::GroupNorm>(rt::group_norm(3), arguments, refusal);
    REQUIRE((!refusal && both.groups == 3));
    REQUIRE((both.scale.data == scale && both.scale.layout == fk::Layout<1>{{{3}}, {{2}}}));
    REQUIRE((both.shift.data == shift && both.shift.layout == fk::Layout<1>{{{3}}, {{1}}}));
    REQUIRE(read<fk::RmsNorm>(rt::rms_norm(), arguments, refusal).scale.data == scale);
    read<fk::InstanceNorm>(rt::instance_norm(), arguments, refusal);
    read<fk::Softmax>(rt::softmax(), arguments, refusal);
    REQUIRE(!refusal);

    arguments[rt::Role::scale].type = fk::DataType::float16;
    read<fk::RmsNorm>(rt::rms_norm(), arguments, refusal);
    REQUIRE(refusal);
    REQUIRE(std::string(refusal->what()) == "Plan: RmsNorm.scale: expected float, got half");
}

TEST_CASE("row_operator: names of descriptors") {
    rt::detail::FormList const none{nullptr, 0};
    rt::Descriptor const all[] = {rt::residual(),       rt::layer_norm(),           rt::rms_norm(),
                                  rt::softmax(),        rt::upsample_nearest(2, 2), rt::upsample_bilinear(2, 3),
                                  rt::pixel_shuffle(4), rt::batched_gemm()};
    REQUIRE(rt::detail::written(none, rt::Descriptors(all)).c_str() ==
            std::string("Plan<Residual, LayerNorm, RmsNorm, Softmax, UpsampleNearest<2>, UpsampleBilinear<2, 3>, "
                        "PixelShuffle<4>, BatchedGemm>"));
}
