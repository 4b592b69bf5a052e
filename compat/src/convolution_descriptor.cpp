// SPDX-License-Identifier: MIT
#include "convolution_descriptor.hpp"

#include <algorithm>
#include <climits>

namespace fusekit::compat {
namespace {

void check_mode(miopenConvolutionMode_t mode) {
    if (mode < miopenConvolution || mode > miopenDepthwise)
        fail(miopenStatusBadParm, "c_mode: expected a miopenConvolutionMode_t, got " + Text::number(int{mode}));
}

void check_least(char const* what, int least, int given) {
    if (given < least)
        fail(miopenStatusBadParm,
             Text("expected ") + what + " of " + Text::number(least) + " or more, got " + Text::number(given));
}

void refuse_transposed(miopenConvolutionMode_t mode) {
    if (mode == miopenTranspose)
        fail(miopenStatusUnsupportedOp, "a transposed convolution is no operator of a fusion plan");
}

/// Throws Failure if a filter has no taps in mode i. C and K may be 0.
void check_window(TensorDescriptor const& weights, int i) {
    if (weights.extents[2 + i] < 1 || weights.extents[2 + i] > INT_MAX)
        fail(miopenStatusBadParm, "weights: expected a window of 1 to 2^31 - 1 in each mode, got " + weights.shape());
}

}  // namespace

void ConvolutionDescriptor::set(miopenConvolutionMode_t the_mode, int the_space, int const* the_pads,
                                int const* the_strides, int const* the_dilations) {
    check_mode(the_mode);
    if (the_space < 1 || the_space > max_modes)
        fail(miopenStatusBadParm, "spatialDim: expected 1 to 3, got " + Text::number(the_space));
    at(the_pads, "padA"), at(the_strides, "strideA"), at(the_dilations, "dilationA");
    for (int i = 0; i < the_space; ++i) {
        check_least("padding", 0, the_pads[i]);
        check_least("a stride", 1, the_strides[i]);
        check_least("a dilation", 1, the_dilations[i]);
    }
    *this = {};
    mode = the_mode, space = the_space;
    std::copy_n(the_pads, space, pads);
    std::copy_n(the_strides, space, strides);
    std::copy_n(the_dilations, space, dilations);
}

TensorDescriptor ConvolutionDescriptor::output(TensorDescriptor const& input, TensorDescriptor const& weights) const {
    refuse_transposed(mode);
    if (input.rank != space + 2)
        fail(miopenStatusBadParm, "input: expected " + Text::number(space + 2) + " modes, got " + input.shape());
    if (weights.rank != space + 2)
        fail(miopenStatusBadParm, "weights: expected " + Text::number(space + 2) + " modes, got " + weights.shape());
    if (input.extents[1] % groups != 0 || weights.extents[1] != input.extents[1] / groups ||
        weights.extents[0] % groups != 0)
        fail(miopenStatusBadParm, "weights: expected K x C/groups x ... with groups that divide C and K, got " +
                                      weights.shape() + " for an input of " + input.shape() + " and " +
                                      Text::number(groups) + " groups");
    std::int64_t extents[TensorDescriptor::max_modes] = {input.extents[0], weights.extents[0]};
    for (int i = 0; i < space; ++i) {
        check_window(weights, i);
        std::int64_t const covered = dilations[i] * (weights.extents[2 + i] - 1) + 1;
        std::int64_t const reach = input.extents[2 + i] + 2 * std::int64_t{pads[i]} - covered;
        if (reach < 0 && input.extents[2 + i] != 0)
            fail(miopenStatusBadParm, "weights: expected a window that fits the padded input, got " + weights.shape() +
                                          " for an input of " + input.shape());
        extents[2 + i] = reach < 0 ? 0 : reach / strides[i] + 1;
    }
    for (int i = 0; i < input.rank; ++i)
        if (extents[i] > INT_MAX)
            fail(miopenStatusBadParm, "expected an output whose extents fit int, got " + Text::number(extents[i]));
    using Innermost = TensorDescriptor::Innermost;
    return TensorDescriptor::packed(input.type, input.rank, extents,
                                    input.channels_last() ? Innermost::channels : Innermost::last);
}

Filter<2> ConvolutionDescriptor::filter(TensorDescriptor const& weights) const {
    refuse_transposed(mode);
    if (space != 2 || weights.rank != 4)
        fail(miopenStatusUnsupportedOp, "expected a convolution of images, which have two modes of space, got " +
                                            Text::number(space) + " modes and weights of " + weights.shape());
    check_window(weights, 0), check_window(weights, 1);
    return fusekit::filter(weights.extents[2], weights.extents[3])
        .pad(pads[0], pads[1])
        .stride(strides[0], strides[1])
        .dilation(dilations[0], dilations[1])
        .groups(groups);
}

ConvolutionDescriptor const& get_set(miopenConvolutionDescriptor_t handle, char const* argument) {
    ConvolutionDescriptor const& convolution = get<ConvolutionDescriptor>(handle, argument);
    if (convolution.space == 0)
        fail(miopenStatusNotInitialized,
             Text(argument) + ": expected a convolution descriptor that was set, got a new one");
    return convolution;
}

namespace {

/// Returns a reference to an attribute of the convolution. Throws Failure if `attr` is not a miopenConvolutionAttrib_t.
int& attribute(ConvolutionDescriptor& convolution, miopenConvolutionAttrib_t attr) {
    if (attr != MIOPEN_CONVOLUTION_ATTRIB_FP16_ALT_IMPL && attr != MIOPEN_CONVOLUTION_ATTRIB_DETERMINISTIC)
        fail(miopenStatusInvalidValue, "attr: expected a miopenConvolutionAttrib_t, got " + Text::number(int{attr}));
    return convolution.attributes[attr];
}

template <class T>
void give(T* to, T value) {
    if (to) *to = value;
}

}  // namespace
}  // namespace fusekit::compat

using namespace fusekit::compat;

extern "C" {

miopenStatus_t miopenCreateConvolutionDescriptor(miopenConvolutionDescriptor_t* convDesc) {
    return guard(__func__, [&] { give_handle(convDesc, "convDesc", std::make_unique<ConvolutionDescriptor>()); });
}

miopenStatus_t miopenInitConvolutionDescriptor(miopenConvolutionDescriptor_t convDesc, miopenConvolutionMode_t c_mode,
                                               int pad_h, int pad_w, int stride_h, int stride_w, int dilation_h,
                                               int dilation_w) {
    return guard(__func__, [&] {
        int const pads[] = {pad_h, pad_w}, strides[] = {stride_h, stride_w}, dilations[] = {dilation_h, dilation_w};
        get<ConvolutionDescriptor>(convDesc, "convDesc").set(c_mode, 2, pads, strides, dilations);
    });
}

miopenStatus_t miopenInitConvolutionNdDescriptor(miopenConvolutionDescriptor_t convDesc, int spatialDim,
                                                 int const* padA, int const* strideA, int const* dilationA,
                                                 miopenConvolutionMode_t c_mode) {
    return guard(__func__, [&] {
        get<ConvolutionDescriptor>(convDesc, "convDesc").set(c_mode, spatialDim, padA, strideA, dilationA);
    });
}

miopenStatus_t miopenGetConvolutionSpatialDim(miopenConvolutionDescriptor_t convDesc, int* spatialDim) {
    return guard(__func__, [&] { at(spatialDim, "spatialDim") = get_set(convDesc, "convDesc").space; });
}

miopenStatus_t miopenGetConvolutionDescriptor(miopenConvolutionDescriptor_t convDesc, miopenConvolutionMode_t* c_mode,
                                              int* pad_h, int* pad_w, int* stride_h, int* stride_w, int* dilation_h,
                                              int* dilation_w) {
    return guard(__func__, [&] {
        ConvolutionDescriptor const& convolution = get_set(convDesc, "convDesc");
        require(convolution.space == 2, miopenStatusBadParm,
                "convDesc: expected a convolution of two modes of space, got others");
        give(c_mode, convolution.mode);
        give(pad_h, convolution.pads[0]), give(pad_w, convolution.pads[1]);
        give(stride_h, convolution.strides[0]), give(stride_w, convolution.strides[1]);
        give(dilation_h, convolution.dilations[0]), give(dilation_w, convolution.dilations[1]);
    });
}

miopenStatus_t miopenGetConvolutionNdDescriptor(miopenConvolutionDescriptor_t convDesc, int requestedSpatialDim,
                                                int* spatialDim, int* padA, int* strideA, int* dilationA,
                                                miopenConvolutionMode_t* c_mode) {
    return guard(__func__, [&] {
        ConvolutionDescriptor const& convolution = get_set(convDesc, "convDesc");
        require(requestedSpatialDim >= 0, miopenStatusBadParm, "requestedSpatialDim: expected 0 or more, got fewer");
        give(spatialDim, convolution.space);
        give(c_mode, convolution.mode);
        for (int i = 0; i < std::min(requestedSpatialDim, convolution.space); ++i) {
            if (padA) padA[i] = convolution.pads[i];
            if (strideA) strideA[i] = convolution.strides[i];
            if (dilationA) dilationA[i] = convolution.dilations[i];
        }
    });
}

miopenStatus_t miopenSetConvolutionGroupCount(miopenConvolutionDescriptor_t convDesc, int groupCount) {
    return guard(__func__, [&] {
        ConvolutionDescriptor& convolution = get<ConvolutionDescriptor>(convDesc, "convDesc");
        check_least("a group count", 1, groupCount);
        convolution.groups = groupCount;
    });
}

miopenStatus_t miopenGetConvolutionGroupCount(miopenConvolutionDescriptor_t convDesc, int* groupCount) {
    return guard(__func__,
                 [&] { at(groupCount, "groupCount") = get<ConvolutionDescriptor>(convDesc, "convDesc").groups; });
}

miopenStatus_t miopenSetConvolutionAttribute(miopenConvolutionDescriptor_t convDesc,
                                             miopenConvolutionAttrib_t const attr, int value) {
    return guard(__func__, [&] { attribute(get<ConvolutionDescriptor>(convDesc, "convDesc"), attr) = value; });
}

miopenStatus_t miopenGetConvolutionAttribute(miopenConvolutionDescriptor_t convDesc,
                                             miopenConvolutionAttrib_t const attr, int* value) {
    return guard(__func__,
                 [&] { at(value, "value") = attribute(get<ConvolutionDescriptor>(convDesc, "convDesc"), attr); });
}

miopenStatus_t miopenGetConvolutionForwardOutputDim(miopenConvolutionDescriptor_t convDesc,
                                                    const miopenTensorDescriptor_t inputTensorDesc,
                                                    const miopenTensorDescriptor_t filterDesc, int* n, int* c, int* h,
                                                    int* w) {
    return guard(__func__, [&] {
        TensorDescriptor const output =
            get_set(convDesc, "convDesc")
                .output(get_set(inputTensorDesc, "inputTensorDesc"), get_set(filterDesc, "filterDesc"));
        require(output.rank == 4, miopenStatusBadParm, "convDesc: expected a convolution of images, got another");
        int* const to[] = {n, c, h, w};
        for (int i = 0; i < 4; ++i) give(to[i], static_cast<int>(output.extents[i]));
    });
}

miopenStatus_t miopenGetConvolutionNdForwardOutputDim(miopenConvolutionDescriptor_t convDesc,
                                                      const miopenTensorDescriptor_t inputTensorDesc,
                                                      const miopenTensorDescriptor_t filterDesc, int* nDim,
                                                      int* outputTensorDimA) {
    return guard(__func__, [&] {
        TensorDescriptor const output =
            get_set(convDesc, "convDesc")
                .output(get_set(inputTensorDesc, "inputTensorDesc"), get_set(filterDesc, "filterDesc"));
        at(nDim, "nDim"), at(outputTensorDimA, "outputTensorDimA");
        *nDim = output.rank;
        for (int i = 0; i < output.rank; ++i) outputTensorDimA[i] = static_cast<int>(output.extents[i]);
    });
}

miopenStatus_t miopenDestroyConvolutionDescriptor(miopenConvolutionDescriptor_t convDesc) {
    return guard(__func__, [&] { destroy<ConvolutionDescriptor>(convDesc, "convDesc"); });
}
}
