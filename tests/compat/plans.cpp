// SPDX-License-Identifier: MIT
#include <catch2/catch_test_macros.hpp>
#include <memory>

#include "compat/refused.hpp"
#include "compat/small_plan.hpp"

using namespace test::miopen;
using namespace test;

namespace {

using Direction = miopenFusionDirection_t;

}  // namespace

TEST_CASE("MIOpen: a plan is made of an image, in vertical fusion") {
    miopenFusionPlanDescriptor_t plan = nullptr;
    auto const image = tensor({1, 2, 3, 4});
    check_refused(miopenCreateFusionPlan(&plan, miopenHorizontalFusion, image), miopenStatusNotImplemented,
                  "fuseDirection: expected miopenVerticalFusion, got miopenHorizontalFusion");
    check_refused(miopenCreateFusionPlan(&plan, static_cast<Direction>(2), image), miopenStatusInvalidValue,
                  "fuseDirection: expected a miopenFusionDirection_t");
    check_refused(miopenCreateFusionPlan(&plan, miopenVerticalFusion, Tensor()), miopenStatusNotInitialized,
                  "inputDesc: expected a tensor descriptor that was set");
    check_refused(miopenCreateFusionPlan(&plan, miopenVerticalFusion, tensor({1, 2, 3, 4, 5})),
                  miopenStatusUnsupportedOp, "inputDesc: expected 4 modes, got 1 x 2 x 3 x 4 x 5");
    check_refused(miopenCreateFusionPlan(&plan, miopenVerticalFusion, tensor({1, 2, 3, 4}, miopenInt32)),
                  miopenStatusUnsupportedOp, "inputDesc: expected elements of float");
    check_refused(miopenCreateFusionPlan(nullptr, miopenVerticalFusion, image), miopenStatusBadParm,
                  "fusePlanDesc: expected a pointer, got null");
    CHECK(plan == nullptr);
}

TEST_CASE("MIOpen: an operator that breaks a rule is refused when it is added, with the rule's message") {
    auto const image = tensor({2, 3, 4, 5}), weights = tensor({3, 3, 1, 1}), parameters = tensor({1, 3, 1, 1});
    auto const conv = convolution();
    miopenFusionOpDescriptor_t op = nullptr, none = nullptr;
    auto const add_conv = [&](miopenFusionPlanDescriptor_t plan) {
        return miopenCreateOpConvForward(plan, &op, conv, weights);
    };
    test::miopen::Plan const plan(image);
    succeeds(add_conv(plan));
    succeeds(miopenCreateOpActivationForward(plan, &op, miopenActivationRELU));
    check_refused(miopenCreateOpBiasForward(plan, &none, parameters), miopenStatusUnsupportedOp,
                  "Bias shifts the accumulator, so it stands before BatchNorm and Activation");
    check_refused(miopenCreateOpBatchNormInference(plan, &none, miopenBNSpatial, parameters), miopenStatusUnsupportedOp,
                  "BatchNorm normalizes what Activation is applied to, so it stands before Activation");
    check_refused(miopenCreateOpActivationForward(plan, &none, miopenActivationABS), miopenStatusUnsupportedOp,
                  "a Plan has at most one Bias, BatchNorm and Activation");
    check_refused(add_conv(plan), miopenStatusUnsupportedOp, "a second Conv or Gemm");
    check_refused(miopenCreateOpBatchNormForward(plan, &none, miopenBNSpatial, true), miopenStatusUnsupportedOp,
                  "statistics, norms, upsampling and gradients of pools read several values for each result");
    CHECK(none == nullptr);
    succeeds(miopenFusionPlanGetOp(plan, 1, &op));
    check_refused(miopenFusionPlanGetOp(plan, 2, &op), miopenStatusBadParm,
                  "op_idx: expected an operator of 2, from 0, got 2");
    check_refused(miopenFusionPlanGetOp(plan, -1, &op), miopenStatusBadParm, "got -1");
    succeeds(miopenCompileFusionPlan(session(), plan));  // as it was
}

TEST_CASE("MIOpen: parameters of other extents or elements, and other convolutions, are refused when they are added") {
    auto const image = tensor({2, 4, 5, 5});
    test::miopen::Plan const plan(image);
    miopenFusionOpDescriptor_t op = nullptr;
    auto const add = [&](miopenConvolutionDescriptor_t conv, miopenTensorDescriptor_t weights) {
        return miopenCreateOpConvForward(plan, &op, conv, weights);
    };
    check_refused(add(convolution(), tensor({6, 3, 3, 3})), miopenStatusBadParm, "weights: expected K x C/groups");
    check_refused(add(convolution(0, 1, 1, 3), tensor({6, 1, 3, 3})), miopenStatusBadParm, "and 3 groups");
    check_refused(add(convolution(), tensor({6, 4, 6, 3})), miopenStatusBadParm, "expected a window that fits");
    check_refused(add(convolution(), tensor({6, 4, 3})), miopenStatusUnsupportedOp, "expected a convolution of images");
    check_refused(add(Convolution(), tensor({6, 4, 3, 3})), miopenStatusNotInitialized, "convDesc");
    Convolution transposed;
    succeeds(miopenInitConvolutionDescriptor(transposed, miopenTranspose, 0, 0, 1, 1, 1, 1));
    check_refused(add(transposed, tensor({4, 4, 3, 3})), miopenStatusUnsupportedOp, "a transposed convolution");
    succeeds(add(convolution(), tensor({6, 4, 3, 3})));
    check_refused(miopenCreateOpBiasForward(plan, &op, tensor({1, 4, 1, 1})), miopenStatusBadParm,
                  "bDesc: expected 1 x 6 x 1 x 1, or 2 x 6 x 3 x 3 with 1 in any mode, got 1 x 4 x 1 x 1");
    check_refused(miopenCreateOpBatchNormInference(plan, &op, miopenBNPerActivation, tensor({1, 6, 1, 1})),
                  miopenStatusBadParm, "expected 1 x 6 x 3 x 3 of float, got 1 x 6 x 1 x 1 of float");
    check_refused(miopenCreateOpBatchNormInference(plan, &op, miopenBNSpatial, tensor({1, 6, 1, 1}, miopenHalf)),
                  miopenStatusBadParm, "expected 1 x 6 x 1 x 1 of float, got 1 x 6 x 1 x 1 of half");
    check_refused(
        miopenCreateOpBatchNormInference(plan, &op, static_cast<miopenBatchNormMode_t>(5), tensor({1, 6, 1, 1})),
        miopenStatusInvalidValue, "bn_mode");
    check_refused(miopenCreateOpActivationForward(plan, &op, static_cast<miopenActivationMode_t>(11)),
                  miopenStatusInvalidValue, "expected a miopenActivationMode_t, got 11");
}

TEST_CASE("MIOpen: a plan without a kernel of its element types is refused when it is compiled", "[ready_made]") {
    test::miopen::Plan const plan(tensor({2, 3, 4, 5}, miopenDouble));
    miopenFusionOpDescriptor_t op;
    succeeds(miopenCreateOpConvForward(plan, &op, convolution(), tensor({3, 3, 1, 1}, miopenDouble)));
    check_refused(miopenCompileFusionPlan(session(), plan), miopenStatusUnsupportedOp, "types: expected elements of");
    std::size_t bytes = 7;
    check_refused(miopenFusionPlanGetWorkSpaceSize(session(), plan, &bytes, miopenConvolutionFwdAlgoDirect),
                  miopenStatusUnsupportedOp, "types: expected elements of");
    CHECK(bytes == 7);
    check_refused(miopenCompileFusionPlan(session(), test::miopen::Plan(tensor({2, 3, 4, 5}))),
                  miopenStatusUnsupportedOp, "a Plan needs at least one operator");
}

TEST_CASE("MIOpen: a plan that was not compiled for the handle is refused, and nothing is written") {
    SmallPlan small;
    Session const other;
    check_refused(small.run(), miopenStatusBadParm, "expected a plan that was compiled for this handle");
    small.compile();
    check_refused(small.run(other), miopenStatusBadParm, "expected a plan that was compiled for this handle");
    CHECK(small.untouched());
    small.compile(other);
    succeeds(small.run());
    succeeds(small.run(other));
    CHECK(small.wrong() == "");

    SmallPlan grown(false);
    grown.compile();
    grown.finish();
    check_refused(grown.run(), miopenStatusBadParm, "after its last operator was added");
    CHECK(grown.untouched());
    grown.compile();
    succeeds(grown.run());
    CHECK(grown.wrong() == "");
}

TEST_CASE("MIOpen: other tensors than the plan's are refused, and nothing is written") {
    SmallPlan small;
    small.compile();
    auto const run = [&](miopenTensorDescriptor_t from, void const* x, miopenTensorDescriptor_t to, void* y) {
        return miopenExecuteFusionPlan(session(), small.plan, from, x, to, y, small.args);
    };
    auto const x = small.x.data();
    auto const y = small.y.data();
    auto const same = tensor({2, 3, 4, 5});
    check_refused(run(tensor({2, 3, 5, 4}), x, same, y), miopenStatusBadParm,
                  "inputDesc: expected the plan's, 2 x 3 x 4 x 5, got 2 x 3 x 5 x 4");
    check_refused(run(channels_last({2, 3, 4, 5}), x, same, y), miopenStatusBadParm,
                  "inputDesc: expected the plan's, strides of 60 x 20 x 5 x 1, got strides of 60 x 1 x 15 x 3");
    check_refused(run(tensor({2, 3, 4, 5}, miopenHalf), x, same, y), miopenStatusBadParm,
                  "inputDesc: expected the plan's, elements of float, got elements of half");
    check_refused(run(same, x, tensor({2, 3, 4, 5, 1}), y), miopenStatusBadParm, "outputDesc: expected the plan's");
    check_refused(run(same, x, Tensor(), y), miopenStatusNotInitialized, "outputDesc");
    check_refused(run(same, nullptr, same, y), miopenStatusBadParm, "input: expected a pointer, got null");
    check_refused(run(same, x, same, nullptr), miopenStatusBadParm, "output: expected a pointer, got null");
    check_refused(run(same, x, same, x), miopenStatusBadParm, "memory");
    CHECK(small.untouched());

    // Changes the descriptor that the plan was made from, not the plan's copy.
    succeeds(miopenSet4dTensorDescriptor(small.x.descriptor, miopenFloat, 2, 3, 4, 6));
    check_refused(small.run(), miopenStatusBadParm, "inputDesc: expected the plan's");
    CHECK(small.untouched());
    succeeds(miopenSet4dTensorDescriptor(small.x.descriptor, miopenFloat, 2, 3, 4, 5));
    succeeds(miopenSet4dTensorDescriptor(small.weights.descriptor, miopenFloat, 7, 7, 7, 7));
    small.bias.descriptor = Tensor();
    succeeds(small.run());
    CHECK(small.wrong() == "");
}

TEST_CASE("MIOpen: an operator whose arguments were never set is refused, and nothing is written") {
    SmallPlan small;
    small.compile();
    Arguments fresh;
    std::swap(small.args, fresh);
    check_refused(small.run(), miopenStatusNotInitialized,
                  "args: expected arguments of operator 0, a convolution, got none");
    small.set_conv();
    check_refused(small.run(), miopenStatusNotInitialized, "of operator 1, a bias, got none");
    CHECK(small.untouched());
    check_refused(miopenSetOpArgsBiasForward(small.args, small.conv, nullptr, nullptr, small.bias.data()),
                  miopenStatusBadParm, "biasOp: expected a bias, got a convolution");
    check_refused(miopenSetOpArgsBiasForward(small.args, small.term, nullptr, nullptr, nullptr), miopenStatusBadParm,
                  "bias: expected a pointer, got null");
    succeeds(miopenSetOpArgsBiasForward(small.args, small.term, nullptr, nullptr, small.bias.data()));
    succeeds(miopenSetOpArgsActivForward(small.args, small.last, nullptr, nullptr, 0, 0, 0));
    check_refused(miopenSetOpArgsConvForward(small.args, small.conv, nullptr, nullptr, nullptr), miopenStatusBadParm,
                  "w: expected a pointer, got null");
    succeeds(small.run());  // with the previous weights
    CHECK(small.wrong() == "");

    // The next run uses other arguments that a refused run was given.
    DeviceTensor twice(fk::DataType::float32, fk::kcrs(3, 3, 1, 1), {2, 2, 2, 4, 4, 4, -2, -2, 2});
    Arguments others;
    succeeds(miopenSetOpArgsConvForward(others, small.conv, nullptr, nullptr, twice.data()));
    std::swap(small.args, others);
    check_refused(small.run(), miopenStatusNotInitialized, "of operator 1, a bias, got none");
    succeeds(miopenSetOpArgsBiasForward(small.args, small.term, nullptr, nullptr, small.bias.data()));
    succeeds(miopenSetOpArgsActivForward(small.args, small.last, nullptr, nullptr, 0, 0, 0));
    succeeds(small.run());
    CHECK(small.wrong() != "");
    std::swap(small.args, others);
    succeeds(small.run());
    CHECK(small.wrong() == "");

    // Statistics are required if the operator was created with them.
    test::miopen::Plan const plan(small.x.descriptor);
    miopenFusionOpDescriptor_t with, without;
    succeeds(miopenCreateOpBatchNormForward(plan, &with, miopenBNSpatial, true));
    auto const p = small.bias.data();
    check_refused(
        miopenSetOpArgsBatchNormForward(small.args, with, nullptr, nullptr, p, p, p, p, nullptr, p, 0.1, 1e-5),
        miopenStatusBadParm, "runningMean: expected a pointer, got null");
    test::miopen::Plan const other(small.x.descriptor);
    succeeds(miopenCreateOpBatchNormForward(other, &without, miopenBNSpatial, false));
    succeeds(miopenSetOpArgsBatchNormForward(small.args, without, nullptr, nullptr, p, p, nullptr, nullptr, nullptr,
                                             nullptr, 0.1, 1e-5));
}

TEST_CASE("MIOpen: operators' alpha and beta are never read") {
    SmallPlan small;
    small.compile();
    double const one = 1, zero = 0;  // read as floats, the first would be 0
    succeeds(miopenSetOpArgsConvForward(small.args, small.conv, &one, &zero, small.weights.data()));
    auto const byte = std::make_unique<char>();  // a sanitizer detects reads beyond it
    succeeds(miopenSetOpArgsBiasForward(small.args, small.term, byte.get(), byte.get(), small.bias.data()));
    float const two = 2;
    succeeds(miopenSetOpArgsActivForward(small.args, small.last, &two, &two, 0, 0, 0));
    succeeds(small.run());
    CHECK(small.wrong() == "");
}

TEST_CASE("MIOpen: arguments that change between runs, and tensors that are less aligned, take effect") {
    SmallPlan small;
    small.compile();
    succeeds(small.run());
    DeviceTensor others(fk::DataType::float32, fk::kcrs(3, 3, 1, 1), std::vector<double>(9, 1));
    succeeds(miopenSetOpArgsConvForward(small.args, small.conv, nullptr, nullptr, others.data()));
    succeeds(miopenSetOpArgsActivForward(small.args, small.last, nullptr, nullptr, 0, 0, 0));
    succeeds(small.run());
    CHECK(small.wrong() != "");
    small.set_conv();
    succeeds(small.run());
    CHECK(small.wrong() == "");

    std::vector<double> const values(121, 2);
    DeviceTensor from(fk::DataType::float32, fk::nchw(1, 1, 1, 121), values);
    succeeds(miopenExecuteFusionPlan(session(), small.plan, small.x.descriptor, static_cast<float*>(from.data()) + 1,
                                     small.y.descriptor, small.y.data(), small.args));
    CHECK(small.wrong() == "");
    check_refused(
        miopenExecuteFusionPlan(session(), small.plan, small.x.descriptor, static_cast<char*>(small.x.data()) + 1,
                                small.y.descriptor, small.y.data(), small.args),
        miopenStatusBadParm, "alignment");
    auto* const odd = static_cast<char*>(small.bias.data()) + 2;
    succeeds(miopenSetOpArgsBiasForward(small.args, small.term, nullptr, nullptr, odd));
    check_refused(small.run(), miopenStatusBadParm,
                  "bias: expected an address aligned to 4 bytes, the element's size, got less");
    succeeds(miopenSetOpArgsBiasForward(small.args, small.term, nullptr, nullptr, small.bias.data()));
    succeeds(small.run());
    CHECK(small.wrong() == "");
}

namespace {

std::size_t workspace_of(miopenFusionPlanDescriptor_t plan) {
    std::size_t bytes = 0;
    succeeds(miopenFusionPlanGetWorkSpaceSize(session(), plan, &bytes, miopenConvolutionFwdAlgoDirect));
    return bytes;
}

/// True if runs of a plan use workspace; if so, checks its sizes and states.
bool check_workspace(miopenFusionPlanDescriptor_t plan, DeviceTensor& x, DeviceTensor& y, miopenOperatorArgs_t args,
                     oracle::Tensor const& expected) {
    std::size_t const bytes = workspace_of(plan);
    succeeds(miopenCompileFusionPlan(session(), plan));
    CHECK(workspace_of(plan) == bytes);
    if (bytes == 0) return false;
    auto const run = [&](void* workspace, std::size_t size) {
        return miopenExecuteFusionPlan_v2(session(), plan, x.descriptor, x.data(), y.descriptor, y.data(), args,
                                          workspace, size);
    };
    // Workspace of nonzero bytes, which a caller may pass.
    auto const elements = static_cast<std::int64_t>((bytes + 63 + 3) / 4);
    DeviceTensor lent(fk::DataType::float32, fk::nchw(1, 1, 1, elements),
                      std::vector<double>(static_cast<std::size_t>(elements), 7));
    auto const address = reinterpret_cast<std::uintptr_t>(lent.data());
    auto* const aligned = reinterpret_cast<char*>((address + 63) / 64 * 64);
    check_refused(run(aligned, bytes - 1), miopenStatusBadParm, "workspace: expected");
    check_refused(run(x.data(), bytes), miopenStatusBadParm, "workspace: expected memory apart from input");
    CHECK(y.memory.fetch().untouched(true));
    for (int i = 0; i < 2; ++i) {
        succeeds(run(aligned, bytes));
        CHECK(difference(expected, y.memory.fetch()) == "");
    }
    succeeds(run(nullptr, 0));
    CHECK(difference(expected, y.memory.fetch()) == "");
    succeeds(run(aligned + 1, 1));  // misaligned: the handle's own workspace is used
    CHECK(difference(expected, y.memory.fetch()) == "");
    return true;
}

}  // namespace

TEST_CASE("MIOpen: the workspace's size is exact, and one that is too small is refused") {
    SmallPlan small;
    int borrowing = check_workspace(small.plan, small.x, small.y, small.args, SmallPlan::expected());

    std::vector<double> values(8 * 31 * 34);  // no cluster computes sums over float planes that packets do not divide
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<double>(i % 2) * 2;
    auto const type = fk::DataType::float32;
    DeviceTensor x(type, fk::nchw(8, 1, 31, 34), values), y(type, x.memory.any().layout),
        scale(type, fk::nchw(1, 1, 1, 1), {1}), shift(type, fk::nchw(1, 1, 1, 1), {2});
    test::miopen::Plan const plan(x.descriptor);
    Arguments const args;
    miopenFusionOpDescriptor_t norm;
    succeeds(miopenCreateOpBatchNormForward(plan, &norm, miopenBNSpatial, false));
    succeeds(miopenSetOpArgsBatchNormForward(args, norm, nullptr, nullptr, scale.data(), shift.data(), nullptr, nullptr,
                                             nullptr, nullptr, 0, 3));
    oracle::Tensor expected({8, 1, 31, 34});  // mean 1, variance 1 + 3
    for (std::size_t i = 0; i < values.size(); ++i) expected.at[i].value = (values[i] - 1) / 2 + 2;
    borrowing += check_workspace(plan, x, y, args, expected);
    CHECK(borrowing > 0);
}

TEST_CASE("MIOpen: the convolution algorithms are reported like MIOpen's") {
    SmallPlan small;
    int count = 7;
    miopenConvFwdAlgorithm_t algorithms[2] = {};
    succeeds(miopenFusionPlanConvolutionGetAlgo(small.plan, 0, &count, nullptr));
    CHECK(count == 0);
    succeeds(miopenFusionPlanConvolutionGetAlgo(small.plan, 2, &count, algorithms));
    CHECK((count == 1 && algorithms[0] == miopenConvolutionFwdAlgoImplicitGEMM));
    check_refused(miopenFusionPlanConvolutionGetAlgo(small.plan, -1, &count, algorithms), miopenStatusInvalidValue,
                  "requestAlgoCount");
    check_refused(miopenFusionPlanConvolutionSetAlgo(small.plan, static_cast<miopenConvFwdAlgorithm_t>(6)),
                  miopenStatusInvalidValue, "algo");
    test::miopen::Plan const plan(small.x.descriptor);
    succeeds(miopenFusionPlanConvolutionGetAlgo(plan, 2, &count, algorithms));
    CHECK(count == 0);  // without a convolution
}
