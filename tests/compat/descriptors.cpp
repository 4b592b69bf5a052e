// SPDX-License-Identifier: MIT
#include <catch2/catch_test_macros.hpp>
#include <climits>
#include <string>

#include "compat/owned.hpp"
#include "compat/refused.hpp"

using namespace test::miopen;

namespace {

struct Extents {
    int modes = 0, extents[5] = {}, strides[5] = {};
    miopenDataType_t type = miopenInt8;

    explicit Extents(miopenTensorDescriptor_t tensor) {
        succeeds(miopenGetTensorDescriptorSize(tensor, &modes));
        succeeds(miopenGetTensorDescriptor(tensor, &type, extents, strides));
    }
    std::vector<int> shape() const { return {extents, extents + modes}; }
    std::vector<int> steps() const { return {strides, strides + modes}; }
};

using List = std::vector<int>;

}  // namespace

TEST_CASE("MIOpen: a tensor descriptor gives back what it was set to") {
    Tensor tensor;
    succeeds(miopenSet4dTensorDescriptor(tensor, miopenHalf, 2, 3, 4, 5));
    CHECK(Extents(tensor).shape() == List{2, 3, 4, 5});
    CHECK(Extents(tensor).steps() == List{60, 20, 5, 1});
    CHECK(Extents(tensor).type == miopenHalf);
    std::size_t bytes = 0;
    succeeds(miopenGetTensorNumBytes(tensor, &bytes));
    CHECK(bytes == 240);

    succeeds(miopenSet4dTensorDescriptorEx(tensor, miopenFloat, 2, 3, 4, 5, 100, 1, 20, 4));
    int n, c, h, w, strides[4];
    miopenDataType_t type;
    succeeds(
        miopenGet4dTensorDescriptor(tensor, &type, &n, &c, &h, &w, strides, strides + 1, strides + 2, strides + 3));
    CHECK((List{n, c, h, w}) == List{2, 3, 4, 5});
    CHECK(List(strides, strides + 4) == List{100, 1, 20, 4});
    CHECK(type == miopenFloat);
    succeeds(miopenGetTensorNumBytes(tensor, &bytes));
    CHECK(bytes == 4 * (100 + 2 + 60 + 16 + 1));
    succeeds(miopenGet4dTensorDescriptor(tensor, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr,
                                         nullptr));

    int const extents[] = {2, 3, 4, 5, 6}, steps[] = {360, 1, 90, 18, 3};
    succeeds(miopenSetTensorDescriptor(tensor, miopenDouble, 5, extents, steps));
    CHECK(Extents(tensor).steps() == List{360, 1, 90, 18, 3});
    succeeds(miopenSetTensorDescriptor(tensor, miopenInt32, 1, extents, nullptr));
    CHECK(Extents(tensor).steps() == List{1});
    succeeds(miopenSetNdTensorDescriptorWithLayout(tensor, miopenBFloat16, miopenTensorNHWC, extents, 4));
    CHECK(Extents(tensor).shape() == List{2, 3, 4, 5});
    CHECK(Extents(tensor).steps() == List{60, 1, 15, 3});
    succeeds(miopenSetNdTensorDescriptorWithLayout(tensor, miopenInt8, miopenTensorNCDHW, extents, 5));
    CHECK(Extents(tensor).steps() == List{360, 120, 30, 6, 1});
    succeeds(miopenSetNdTensorDescriptorWithLayout(tensor, miopenInt64, miopenTensorNDHWC, extents, 5));
    CHECK(Extents(tensor).steps() == List{360, 1, 90, 18, 3});
    succeeds(miopenSetNdTensorDescriptorWithLayout(tensor, miopenFloat, miopenTensorCHWN, extents, 4));
    CHECK(Extents(tensor).shape() == List{2, 3, 4, 5});
    CHECK(Extents(tensor).steps() == List{1, 40, 10, 2});

    std::size_t const wide_extents[] = {2, 3, 4}, wide_steps[] = {100, 20, 5};
    succeeds(miopenSetTensorDescriptorV2(tensor, miopenFloat, 3, wide_extents, nullptr));
    CHECK(Extents(tensor).shape() == List{2, 3, 4});
    CHECK(Extents(tensor).steps() == List{12, 4, 1});
    succeeds(miopenSetTensorDescriptorV2(tensor, miopenFloat, 3, wide_extents, wide_steps));
    CHECK(Extents(tensor).steps() == List{100, 20, 5});
}

TEST_CASE("MIOpen: a tensor descriptor of extent 0 has no elements, and is set and read like any other") {
    Tensor tensor, copy;
    std::size_t bytes = 7;
    auto const check = [&](List const& shape) {
        CHECK(Extents(tensor).shape() == shape);
        succeeds(miopenGetTensorNumBytes(tensor, &bytes));
        CHECK(bytes == 0);
        Extents const read(tensor);  // reads extents and strides back
        succeeds(miopenSetTensorDescriptor(copy, read.type, read.modes, read.extents, read.strides));
        CHECK(Extents(copy).shape() == shape);
        CHECK(Extents(copy).steps() == read.steps());
        succeeds(miopenGetTensorNumBytes(copy, &bytes));
        CHECK(bytes == 0);
    };
    succeeds(miopenSet4dTensorDescriptor(tensor, miopenFloat, 0, 0, 0, 0));
    check({0, 0, 0, 0});
    CHECK(Extents(tensor).steps() == List{0, 0, 0, 1});
    for (int mode = 0; mode < 4; ++mode) {
        List extents = {2, 3, 4, 5};
        extents[static_cast<std::size_t>(mode)] = 0;
        succeeds(miopenSet4dTensorDescriptor(tensor, miopenHalf, extents[0], extents[1], extents[2], extents[3]));
        check(extents);
        int n, c, h, w, strides[4];
        miopenDataType_t type;
        succeeds(
            miopenGet4dTensorDescriptor(tensor, &type, &n, &c, &h, &w, strides, strides + 1, strides + 2, strides + 3));
        CHECK((List{n, c, h, w}) == extents);
        succeeds(miopenSet4dTensorDescriptorEx(tensor, miopenFloat, n, c, h, w, 60, 20, 5, 1));
        check(extents);
        CHECK(Extents(tensor).steps() == List{60, 20, 5, 1});
        for (auto const layout : {miopenTensorNCHW, miopenTensorNHWC, miopenTensorCHWN}) {
            succeeds(miopenSetNdTensorDescriptorWithLayout(tensor, miopenInt8, layout, extents.data(), 4));
            check(extents);
        }
    }
    int const volume[] = {2, 3, 0, 5, 6}, list[] = {0};
    succeeds(miopenSetTensorDescriptor(tensor, miopenFloat, 5, volume, nullptr));
    check({2, 3, 0, 5, 6});
    succeeds(miopenSetTensorDescriptor(tensor, miopenFloat, 1, list, nullptr));
    check({0});
    std::size_t const wide[] = {0, 3, 4, 5};
    succeeds(miopenSetTensorDescriptorV2(tensor, miopenFloat, 4, wide, nullptr));
    check({0, 3, 4, 5});

    Tensor derived;  // batch norm's parameters for no images
    succeeds(miopenDeriveBNTensorDescriptor(derived, tensor, miopenBNSpatial));
    CHECK(Extents(derived).shape() == List{1, 3, 1, 1});
    int n, k, p, q;
    auto const conv = convolution(1, 2);
    succeeds(miopenGetConvolutionForwardOutputDim(conv, tensor, test::miopen::tensor({8, 3, 3, 3}), &n, &k, &p, &q));
    CHECK((List{n, k, p, q}) == List{0, 8, 2, 3});
    succeeds(miopenSet4dTensorDescriptor(tensor, miopenFloat, 2, 0, 4, 5));
    succeeds(miopenGetConvolutionForwardOutputDim(conv, tensor, test::miopen::tensor({8, 0, 3, 3}), &n, &k, &p, &q));
    CHECK((List{n, k, p, q}) == List{2, 8, 2, 3});
    check_refused(
        miopenGetConvolutionForwardOutputDim(conv, tensor, test::miopen::tensor({8, 0, 0, 3}), &n, &k, &p, &q),
        miopenStatusBadParm, "weights: expected a window of 1 to 2^31 - 1 in each mode, got 8 x 0 x 0 x 3");
}

TEST_CASE("MIOpen: a tensor descriptor refuses what is no tensor, and stays as it was") {
    Tensor tensor;
    Tensor const unset;
    succeeds(miopenSet4dTensorDescriptor(tensor, miopenHalf, 2, 3, 4, 5));
    int const good[] = {2, 3, 4, 5, 6, 7}, negative[] = {2, -3, 4, 5}, huge[] = {INT_MAX, INT_MAX},
              empty[] = {0, INT_MAX, INT_MAX};
    std::size_t const largest[] = {SIZE_MAX, 2};
    auto const no_type = static_cast<miopenDataType_t>(4);
    check_refused(miopenSet4dTensorDescriptor(tensor, no_type, 1, 1, 1, 1), miopenStatusBadParm,
                  "expected a miopenDataType_t, got 4");
    check_refused(miopenSetTensorDescriptor(tensor, miopenFloat, 6, good, good), miopenStatusInvalidValue,
                  "expected 1 to 5 modes, got 6");
    check_refused(miopenSetTensorDescriptor(tensor, miopenFloat, 4, nullptr, good), miopenStatusInvalidValue,
                  "dimsA: expected a pointer, got null");
    check_refused(miopenSetTensorDescriptor(tensor, miopenFloat, 0, good, good), miopenStatusInvalidValue,
                  "expected 1 to 5 modes, got 0");
    check_refused(miopenSetTensorDescriptor(tensor, miopenFloat, 4, negative, nullptr), miopenStatusBadParm,
                  "expected extents of 0 or more, got 2 x -3 x 4 x 5");
    check_refused(miopenSetTensorDescriptor(tensor, miopenFloat, 4, good, negative), miopenStatusBadParm,
                  "expected strides of 0 or more, got 2 x -3 x 4 x 5");
    check_refused(miopenSetTensorDescriptor(tensor, miopenFloat, 2, huge, nullptr), miopenStatusBadParm,
                  "expected at most 2^56 elements");
    check_refused(miopenSetTensorDescriptor(tensor, miopenFloat, 3, empty, nullptr), miopenStatusBadParm,
                  "expected at most 2^56 elements");
    check_refused(miopenSetTensorDescriptorV2(tensor, miopenFloat, 2, largest, nullptr), miopenStatusBadParm,
                  "dimsA: expected numbers below 2^63");
    succeeds(miopenSetTensorDescriptor(tensor, miopenFloat, 2, good + 4, huge));
    check_refused(miopenGet4dTensorDescriptor(tensor, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr,
                                              nullptr, nullptr),
                  miopenStatusBadParm, "expected a tensor of 4 modes");
    succeeds(miopenSet4dTensorDescriptor(tensor, miopenHalf, 2, 3, 4, 5));
    check_refused(miopenSetNdTensorDescriptorWithLayout(tensor, miopenFloat, miopenTensorNCHWc4, good, 4),
                  miopenStatusNotImplemented, "NCDHW or NDHWC, got a vectorized layout, 3");
    check_refused(
        miopenSetNdTensorDescriptorWithLayout(tensor, miopenFloat, static_cast<miopenTensorLayout_t>(9), good, 4),
        miopenStatusBadParm, "tensorLayout: expected NCHW, NHWC, CHWN, NCDHW or NDHWC, got 9");
    check_refused(miopenSetNdTensorDescriptorWithLayout(tensor, miopenFloat, miopenTensorNHWC, good, 5),
                  miopenStatusBadParm, "num_lens: expected the layout's 4, got 5");
    CHECK(Extents(tensor).shape() == List{2, 3, 4, 5});
    CHECK(Extents(tensor).type == miopenHalf);

    int modes = 7;
    succeeds(miopenGetTensorDescriptorSize(unset, &modes));
    CHECK(modes == 0);
    std::size_t bytes = 7;
    check_refused(miopenGetTensorNumBytes(unset, &bytes), miopenStatusNotInitialized,
                  "tensorDesc: expected a tensor descriptor that was set, got a new one");
    check_refused(miopenGetTensorNumBytes(tensor, nullptr), miopenStatusBadParm, "numBytes: expected a pointer");
    int const wide[] = {2, 1 << 20, 1 << 20};
    succeeds(miopenSetTensorDescriptor(tensor, miopenFloat, 3, wide, nullptr));
    int extents[5], strides[5] = {7};
    check_refused(miopenGetTensorDescriptor(tensor, nullptr, extents, strides), miopenStatusInvalidValue,
                  "expected a number that fits int, got 1099511627776");
    CHECK(strides[0] == 7);
}

TEST_CASE("MIOpen: a convolution descriptor gives back what it was set to, and the output's extents") {
    Convolution convolution;
    succeeds(miopenInitConvolutionDescriptor(convolution, miopenConvolution, 1, 2, 3, 4, 5, 6));
    miopenConvolutionMode_t mode;
    int values[6], space = 0, groups = 0;
    succeeds(miopenGetConvolutionDescriptor(convolution, &mode, values, values + 1, values + 2, values + 3, values + 4,
                                            values + 5));
    CHECK(mode == miopenConvolution);
    CHECK(List(values, values + 6) == List{1, 2, 3, 4, 5, 6});
    succeeds(miopenSetConvolutionGroupCount(convolution, 2));
    succeeds(miopenGetConvolutionGroupCount(convolution, &groups));
    CHECK(groups == 2);
    succeeds(miopenSetConvolutionAttribute(convolution, MIOPEN_CONVOLUTION_ATTRIB_DETERMINISTIC, 1));
    int value = 0;
    succeeds(miopenGetConvolutionAttribute(convolution, MIOPEN_CONVOLUTION_ATTRIB_DETERMINISTIC, &value));
    CHECK(value == 1);

    int n, k, p, q;
    auto const x = tensor({8, 6, 50, 60}), weights = tensor({10, 3, 3, 2});
    succeeds(miopenGetConvolutionForwardOutputDim(convolution, x, weights, &n, &k, &p, &q));
    CHECK((List{n, k, p, q}) == List{8, 10, (50 + 2 - 11) / 3 + 1, (60 + 4 - 7) / 4 + 1});
    check_refused(miopenGetConvolutionForwardOutputDim(convolution, x, tensor({10, 6, 3, 2}), &n, &k, &p, &q),
                  miopenStatusBadParm, "got 10 x 6 x 3 x 2 for an input of 8 x 6 x 50 x 60 and 2 groups");
    check_refused(miopenGetConvolutionForwardOutputDim(convolution, x, tensor({10, 3, 12, 2}), &n, &k, &p, &q),
                  miopenStatusBadParm, "expected a window that fits the padded input");

    int const pads[] = {1, 0, 2}, strides[] = {1, 2, 3}, dilations[] = {1, 1, 2};
    succeeds(miopenInitConvolutionNdDescriptor(convolution, 3, pads, strides, dilations, miopenDepthwise));
    succeeds(miopenGetConvolutionSpatialDim(convolution, &space));
    CHECK(space == 3);
    succeeds(miopenGetConvolutionNdDescriptor(convolution, 3, &space, values, values + 3, nullptr, &mode));
    CHECK(List(values, values + 6) == List{1, 0, 2, 1, 2, 3});
    CHECK(mode == miopenDepthwise);
    int modes = 0, extents[5];
    succeeds(miopenGetConvolutionNdForwardOutputDim(convolution, tensor({2, 3, 7, 8, 9}), tensor({4, 3, 3, 2, 3}),
                                                    &modes, extents));
    CHECK(List(extents, extents + modes) == List{2, 4, 7, 4, 3});
    check_refused(miopenGetConvolutionForwardOutputDim(convolution, tensor({2, 3, 7, 8, 9}), tensor({4, 3, 3, 2, 3}),
                                                       &n, &k, &p, &q),
                  miopenStatusBadParm, "expected a convolution of images");
}

TEST_CASE("MIOpen: a convolution descriptor refuses what is no convolution, and stays as it was") {
    auto convolution = test::miopen::convolution(1, 2);
    Convolution const unset;
    auto const init = [&](int pad, int stride, int dilation) {
        return miopenInitConvolutionDescriptor(convolution, miopenConvolution, pad, pad, stride, stride, dilation,
                                               dilation);
    };
    check_refused(init(-1, 1, 1), miopenStatusBadParm, "expected padding of 0 or more, got -1");
    check_refused(init(0, 0, 1), miopenStatusBadParm, "expected a stride of 1 or more, got 0");
    check_refused(init(0, 1, 0), miopenStatusBadParm, "expected a dilation of 1 or more, got 0");
    check_refused(
        miopenInitConvolutionDescriptor(convolution, static_cast<miopenConvolutionMode_t>(9), 0, 0, 1, 1, 1, 1),
        miopenStatusBadParm, "c_mode: expected a miopenConvolutionMode_t, got 9");
    check_refused(miopenSetConvolutionGroupCount(convolution, 0), miopenStatusBadParm,
                  "expected a group count of 1 or more, got 0");
    int values[4] = {1, 1, 1, 1};
    check_refused(miopenInitConvolutionNdDescriptor(convolution, 4, values, values, values, miopenConvolution),
                  miopenStatusBadParm, "spatialDim: expected 1 to 3, got 4");
    check_refused(miopenInitConvolutionNdDescriptor(convolution, 2, values, nullptr, values, miopenConvolution),
                  miopenStatusBadParm, "strideA: expected a pointer");
    check_refused(miopenGetConvolutionSpatialDim(unset, values), miopenStatusNotInitialized,
                  "expected a convolution descriptor that was set");
    check_refused(miopenSetConvolutionAttribute(convolution, static_cast<miopenConvolutionAttrib_t>(7), 1),
                  miopenStatusInvalidValue, "attr: expected a miopenConvolutionAttrib_t, got 7");
    check_refused(miopenGetConvolutionNdDescriptor(convolution, -1, values, values, values, values, nullptr),
                  miopenStatusBadParm, "requestedSpatialDim: expected 0 or more");
    int space = 0, pads[2] = {7, 7}, strides[2] = {7, 7}, dilations[2] = {7, 7};
    succeeds(miopenGetConvolutionNdDescriptor(convolution, 0, &space, nullptr, nullptr, nullptr, nullptr));
    CHECK(space == 2);
    succeeds(miopenGetConvolutionNdDescriptor(convolution, 1, &space, pads, strides, dilations, nullptr));
    CHECK((space == 2 && pads[0] == 1 && strides[0] == 2 && dilations[0] == 1));
    CHECK((pads[1] == 7 && strides[1] == 7 && dilations[1] == 7));
    succeeds(
        miopenGetConvolutionDescriptor(convolution, nullptr, values, nullptr, values + 1, nullptr, nullptr, nullptr));
    CHECK((values[0] == 1 && values[1] == 2));
}

TEST_CASE("MIOpen: an activation descriptor, and the descriptor of batch norm's parameters") {
    Activation activation;
    check_refused(miopenGetActivationDescriptor(activation, nullptr, nullptr, nullptr, nullptr),
                  miopenStatusNotInitialized, "expected an activation descriptor that was set");
    succeeds(miopenSetActivationDescriptor(activation, miopenActivationPOWER, 1, 2, 3));
    check_refused(miopenSetActivationDescriptor(activation, static_cast<miopenActivationMode_t>(11), 4, 5, 6),
                  miopenStatusInvalidValue, "mode: expected a miopenActivationMode_t, got 11");
    miopenActivationMode_t mode;
    double alpha, beta, gamma;
    succeeds(miopenGetActivationDescriptor(activation, &mode, &alpha, &beta, &gamma));
    CHECK((mode == miopenActivationPOWER && alpha == 1 && beta == 2 && gamma == 3));

    Tensor derived;
    auto const first = tensor({2, 3, 4, 5}, miopenHalf), last = channels_last({2, 3, 4, 5});
    succeeds(miopenDeriveBNTensorDescriptor(derived, first, miopenBNSpatial));
    CHECK(Extents(derived).shape() == List{1, 3, 1, 1});
    CHECK(Extents(derived).type == miopenFloat);
    succeeds(miopenDeriveBNTensorDescriptor(derived, first, miopenBNPerActivation));
    CHECK(Extents(derived).shape() == List{1, 3, 4, 5});
    CHECK(Extents(derived).steps() == List{60, 20, 5, 1});
    succeeds(miopenDeriveBNTensorDescriptor(derived, last, miopenBNPerActivation));
    CHECK(Extents(derived).steps() == List{60, 1, 15, 3});
    check_refused(miopenDeriveBNTensorDescriptor(derived, first, static_cast<miopenBatchNormMode_t>(2)),
                  miopenStatusInvalidValue, "bn_mode: expected a miopenBatchNormMode_t, got 2");
}
