// SPDX-License-Identifier: MIT
#include "tensor_descriptor.hpp"

#include <climits>

namespace fusekit::compat {
namespace {

constexpr std::int64_t most_elements = std::int64_t{1} << 56;  // bytes and sums of offsets fit 63 bits

/// Bytes of an element; Failure where it is no type of MIOpen's.
int bytes_of(miopenDataType_t type) {
    switch (type) {
        case miopenInt8: return 1;
        case miopenHalf:
        case miopenBFloat16: return 2;
        case miopenFloat:
        case miopenInt32: return 4;
        case miopenDouble:
        case miopenInt64: return 8;
    }
    fail(miopenStatusInvalidValue, "dataType: expected a miopenDataType_t, got " + Text::number(int{type}));
}

TensorDescriptor with_extents(miopenDataType_t type, int rank, int const* extents) {
    bytes_of(type);
    if (rank < 1 || rank > TensorDescriptor::most_modes)
        fail(miopenStatusInvalidValue, "expected 1 to 5 modes, got " + Text::number(rank));
    at(extents, "extents");
    TensorDescriptor tensor;
    tensor.type = type, tensor.rank = rank;
    for (int i = 0; i < rank; ++i) tensor.extents[i] = extents[i];
    std::int64_t elements = 1;
    for (int i = 0; i < rank; ++i) {
        if (extents[i] < 1) fail(miopenStatusInvalidValue, "expected extents of 1 or more, got " + tensor.shape());
        if (elements > most_elements / extents[i])
            fail(miopenStatusInvalidValue, "expected at most 2^56 elements, got " + tensor.shape());
        elements *= extents[i];
    }
    return tensor;
}

}  // namespace

TensorDescriptor TensorDescriptor::packed(miopenDataType_t type, int rank, int const* extents, bool channels_last) {
    TensorDescriptor tensor = with_extents(type, rank, extents);
    std::int64_t stride = 1;
    if (channels_last && rank > 1) tensor.strides[1] = 1, stride = tensor.extents[1];
    for (int i = rank - 1; i >= 0; --i) {
        if (channels_last && i == 1) continue;
        tensor.strides[i] = stride;
        stride *= tensor.extents[i];
    }
    return tensor;
}

TensorDescriptor TensorDescriptor::strided(miopenDataType_t type, int rank, int const* extents, int const* strides) {
    TensorDescriptor tensor = with_extents(type, rank, extents);
    at(strides, "strides");
    std::int64_t reach = 0;
    for (int i = 0; i < rank; ++i) tensor.strides[i] = strides[i];
    for (int i = 0; i < rank; ++i) {
        if (strides[i] < 1 && tensor.extents[i] > 1)
            fail(miopenStatusInvalidValue, "expected strides of 1 or more, got " + tensor.steps());
        reach += (tensor.extents[i] - 1) * tensor.strides[i];  // 2^62 and a little more at most
        if (reach > most_elements)
            fail(miopenStatusInvalidValue,
                 "expected a tensor that reaches over 2^56 elements at most, got strides of " + tensor.steps());
    }
    return tensor;
}

std::int64_t TensorDescriptor::size() const {
    std::int64_t product = 1;
    for (int i = 0; i < rank; ++i) product *= extents[i];
    return product;
}

std::size_t TensorDescriptor::bytes() const {
    std::int64_t last = 0;
    for (int i = 0; i < rank; ++i) last += (extents[i] - 1) * strides[i];
    return static_cast<std::size_t>((last + 1) * bytes_of(type));
}

bool TensorDescriptor::channels_last() const { return rank > 2 && extents[1] > 1 && strides[1] < strides[rank - 1]; }

Text TensorDescriptor::list(std::int64_t const* numbers) const {
    Text text;
    for (int i = 0; i < rank; ++i) text += (i ? " x " : "") + Text::number(numbers[i]);
    return text;
}

bool TensorDescriptor::has_shape_of(TensorDescriptor const& other) const {
    bool same = rank == other.rank;
    for (int i = 0; i < rank && same; ++i) same = extents[i] == other.extents[i];
    return same;
}

bool TensorDescriptor::operator==(TensorDescriptor const& other) const {
    bool same = type == other.type && has_shape_of(other);
    for (int i = 0; i < rank && same; ++i) same = strides[i] == other.strides[i] || extents[i] == 1;
    return same;
}

Text name_of(miopenDataType_t type) {
    switch (type) {
        case miopenHalf: return "half";
        case miopenFloat: return "float";
        case miopenInt32: return "int32";
        case miopenInt8: return "int8";
        case miopenBFloat16: return "bfloat16";
        case miopenDouble: return "double";
        case miopenInt64: return "int64";
    }
    fail(miopenStatusInvalidValue, "dataType: expected a miopenDataType_t, got " + Text::number(int{type}));
}

TensorDescriptor const& get_set(miopenTensorDescriptor_t handle, char const* argument) {
    TensorDescriptor const& tensor = get<TensorDescriptor>(handle, argument);
    if (tensor.rank == 0)
        fail(miopenStatusNotInitialized, Text(argument) + ": expected a tensor descriptor that was set, got a new one");
    return tensor;
}

TensorDescriptor batch_norm_parameters(TensorDescriptor const& x, miopenBatchNormMode_t mode) {
    if (mode != miopenBNSpatial && mode != miopenBNPerActivation)
        fail(miopenStatusInvalidValue, "bn_mode: expected a miopenBatchNormMode_t, got " + Text::number(int{mode}));
    if (x.rank < 2) fail(miopenStatusBadParm, "xDesc: expected 2 modes or more, got " + x.shape());
    int extents[TensorDescriptor::most_modes];
    for (int i = 0; i < x.rank; ++i)
        extents[i] = i == 1 || (i > 1 && mode == miopenBNPerActivation) ? static_cast<int>(x.extents[i]) : 1;
    return TensorDescriptor::packed(miopenFloat, x.rank, extents, x.channels_last());
}

DataType element_type(miopenDataType_t type, char const* argument) {
    switch (type) {
        case miopenFloat: return DataType::float32;
        case miopenHalf: return DataType::float16;
        case miopenBFloat16: return DataType::bfloat16;
        case miopenDouble: return DataType::float64;
        case miopenInt8: return DataType::int8;
        default: break;
    }
    fail(miopenStatusUnsupportedOp,
         Text(argument) + ": expected elements of float, half, bfloat16, double or int8, got " + name_of(type));
}

Layout<4> image_layout(TensorDescriptor const& tensor, char const* argument) {
    if (tensor.rank != 4) fail(miopenStatusUnsupportedOp, Text(argument) + ": expected 4 modes, got " + tensor.shape());
    Layout<4> layout{};
    for (int i = 0; i < 4; ++i) layout.shape[i] = tensor.extents[i], layout.stride[i] = tensor.strides[i];
    return layout;
}

namespace {

/// A number for an int of the caller's, which may be null.
void give(int* to, std::int64_t value) {
    if (to && value > INT_MAX)
        fail(miopenStatusInvalidValue, "expected a number that fits int, got " + Text::number(value));
    if (to) *to = static_cast<int>(value);
}

}  // namespace
}  // namespace fusekit::compat

using namespace fusekit::compat;

extern "C" {

miopenStatus_t miopenCreateTensorDescriptor(miopenTensorDescriptor_t* tensorDesc) {
    return guard(__func__, [&] { give_handle(tensorDesc, "tensorDesc", std::make_unique<TensorDescriptor>()); });
}

miopenStatus_t miopenSet4dTensorDescriptor(miopenTensorDescriptor_t tensorDesc, miopenDataType_t dataType, int n, int c,
                                           int h, int w) {
    return guard(__func__, [&] {
        int const extents[] = {n, c, h, w};
        get<TensorDescriptor>(tensorDesc, "tensorDesc") = TensorDescriptor::packed(dataType, 4, extents);
    });
}

miopenStatus_t miopenSet4dTensorDescriptorEx(miopenTensorDescriptor_t tensorDesc, miopenDataType_t dataType, int n,
                                             int c, int h, int w, int nStride, int cStride, int hStride, int wStride) {
    return guard(__func__, [&] {
        int const extents[] = {n, c, h, w}, strides[] = {nStride, cStride, hStride, wStride};
        get<TensorDescriptor>(tensorDesc, "tensorDesc") = TensorDescriptor::strided(dataType, 4, extents, strides);
    });
}

miopenStatus_t miopenSetTensorDescriptor(miopenTensorDescriptor_t tensorDesc, miopenDataType_t dataType, int nbDims,
                                         int const* dimsA, int const* stridesA) {
    return guard(__func__, [&] {
        get<TensorDescriptor>(tensorDesc, "tensorDesc") =
            stridesA ? TensorDescriptor::strided(dataType, nbDims, dimsA, stridesA)
                     : TensorDescriptor::packed(dataType, nbDims, dimsA);
    });
}

miopenStatus_t miopenSetNdTensorDescriptorWithLayout(miopenTensorDescriptor_t tensorDesc, miopenDataType_t dataType,
                                                     miopenTensorLayout_t tensorLayout, int const* lens, int num_lens) {
    return guard(__func__, [&] {
        bool const first = tensorLayout == miopenTensorNCHW || tensorLayout == miopenTensorNCDHW;
        bool const last = tensorLayout == miopenTensorNHWC || tensorLayout == miopenTensorNDHWC;
        if (!first && !last)
            fail(miopenStatusInvalidValue,
                 "tensorLayout: expected NCHW, NHWC, NCDHW or NDHWC, got " + fusekit::Text::number(int{tensorLayout}));
        int const modes = tensorLayout == miopenTensorNCHW || tensorLayout == miopenTensorNHWC ? 4 : 5;
        if (num_lens != modes)
            fail(miopenStatusInvalidValue, "num_lens: expected the layout's " + fusekit::Text::number(modes) +
                                               ", got " + fusekit::Text::number(num_lens));
        get<TensorDescriptor>(tensorDesc, "tensorDesc") = TensorDescriptor::packed(dataType, num_lens, lens, last);
    });
}

miopenStatus_t miopenGet4dTensorDescriptor(miopenTensorDescriptor_t tensorDesc, miopenDataType_t* dataType, int* n,
                                           int* c, int* h, int* w, int* nStride, int* cStride, int* hStride,
                                           int* wStride) {
    return guard(__func__, [&] {
        TensorDescriptor const& tensor = get_set(tensorDesc, "tensorDesc");
        require(tensor.rank == 4, miopenStatusBadParm, "tensorDesc: expected a tensor of 4 modes, got others");
        int given[8];
        for (int i = 0; i < 4; ++i) give(given + i, tensor.extents[i]), give(given + 4 + i, tensor.strides[i]);
        if (dataType) *dataType = tensor.type;
        int* const to[] = {n, c, h, w, nStride, cStride, hStride, wStride};
        for (int i = 0; i < 8; ++i)
            if (to[i]) *to[i] = given[i];
    });
}

miopenStatus_t miopenGetTensorDescriptor(miopenTensorDescriptor_t tensorDesc, miopenDataType_t* dataType, int* dimsA,
                                         int* stridesA) {
    return guard(__func__, [&] {
        TensorDescriptor const& tensor = get_set(tensorDesc, "tensorDesc");
        int given[2 * TensorDescriptor::most_modes];
        for (int i = 0; i < tensor.rank; ++i)
            give(given + i, tensor.extents[i]), give(given + tensor.rank + i, tensor.strides[i]);
        if (dataType) *dataType = tensor.type;
        for (int i = 0; i < tensor.rank; ++i) {
            if (dimsA) dimsA[i] = given[i];
            if (stridesA) stridesA[i] = given[tensor.rank + i];
        }
    });
}

miopenStatus_t miopenGetTensorDescriptorSize(miopenTensorDescriptor_t tensorDesc, int* size) {
    return guard(__func__, [&] { at(size, "size") = get_set(tensorDesc, "tensorDesc").rank; });
}

miopenStatus_t miopenGetTensorNumBytes(miopenTensorDescriptor_t tensorDesc, size_t* numBytes) {
    return guard(__func__, [&] { at(numBytes, "numBytes") = get_set(tensorDesc, "tensorDesc").bytes(); });
}

miopenStatus_t miopenDestroyTensorDescriptor(miopenTensorDescriptor_t tensorDesc) {
    return guard(__func__, [&] { destroy<TensorDescriptor>(tensorDesc, "tensorDesc"); });
}

miopenStatus_t miopenDeriveBNTensorDescriptor(miopenTensorDescriptor_t derivedBnDesc,
                                              const miopenTensorDescriptor_t xDesc, miopenBatchNormMode_t bn_mode) {
    return guard(__func__, [&] {
        TensorDescriptor& derived = get<TensorDescriptor>(derivedBnDesc, "derivedBnDesc");
        derived = batch_norm_parameters(get_set(xDesc, "xDesc"), bn_mode);
    });
}
}
