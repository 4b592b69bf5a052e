// SPDX-License-Identifier: MIT
#include "tensor_descriptor.hpp"

#include <algorithm>
#include <climits>

namespace fusekit::compat {
namespace {

constexpr std::int64_t max_elements = std::int64_t{1} << 56;  // then bytes and sums of offsets fit 63 bits

/// Size of an element in bytes. Throws Failure if `type` is not a miopenDataType_t.
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
    fail(miopenStatusBadParm, "dataType: expected a miopenDataType_t, got " + Text::number(int{type}));
}

void check_rank(int rank) {
    if (rank < 1 || rank > TensorDescriptor::max_modes)
        fail(miopenStatusInvalidValue, "expected 1 to 5 modes, got " + Text::number(rank));
}

TensorDescriptor with_extents(miopenDataType_t type, int rank, std::int64_t const* extents) {
    bytes_of(type);
    check_rank(rank);
    TensorDescriptor tensor;
    tensor.type = type, tensor.rank = rank;
    for (int i = 0; i < rank; ++i) tensor.extents[i] = extents[i];
    std::int64_t elements = 1;  // counts an extent of 0 as 1, so that no stride overflows
    for (int i = 0; i < rank; ++i) {
        if (extents[i] < 0) fail(miopenStatusBadParm, "expected extents of 0 or more, got " + tensor.shape());
        std::int64_t const extent = std::max<std::int64_t>(extents[i], 1);
        if (elements > max_elements / extent)
            fail(miopenStatusBadParm, "expected at most 2^56 elements, got " + tensor.shape());
        elements *= extent;
    }
    return tensor;
}

}  // namespace

TensorDescriptor TensorDescriptor::packed(miopenDataType_t type, int rank, std::int64_t const* extents,
                                          Innermost innermost) {
    TensorDescriptor tensor = with_extents(type, rank, extents);
    std::int64_t stride = 1;
    auto const append_stride = [&](int mode) {
        tensor.strides[mode] = stride;
        stride *= tensor.extents[mode];
    };
    int const first = innermost == Innermost::channels && rank > 1 ? 1 : innermost == Innermost::images ? 0 : rank;
    if (first < rank) append_stride(first);
    for (int i = rank - 1; i >= 0; --i)
        if (i != first) append_stride(i);
    return tensor;
}

TensorDescriptor TensorDescriptor::strided(miopenDataType_t type, int rank, std::int64_t const* extents,
                                           std::int64_t const* strides) {
    TensorDescriptor tensor = with_extents(type, rank, extents);
    for (int i = 0; i < rank; ++i) tensor.strides[i] = strides[i];
    std::int64_t reach = 0;
    for (int i = 0; i < rank; ++i) {
        if (extents[i] < 2) continue;
        if (strides[i] < 0) fail(miopenStatusBadParm, "expected strides of 0 or more, got " + tensor.steps());
        if (strides[i] > (max_elements - reach) / (extents[i] - 1))
            fail(miopenStatusBadParm,
                 "expected a tensor that reaches over 2^56 elements at most, got strides of " + tensor.steps());
        reach += (extents[i] - 1) * strides[i];
    }
    return tensor;
}

std::int64_t TensorDescriptor::size() const {
    std::int64_t product = 1;
    for (int i = 0; i < rank; ++i) product *= extents[i];
    return product;
}

std::size_t TensorDescriptor::bytes() const {
    if (size() == 0) return 0;
    std::int64_t last = 0;
    for (int i = 0; i < rank; ++i) last += (extents[i] - 1) * strides[i];
    return static_cast<std::size_t>((last + 1) * bytes_of(type));
}

bool TensorDescriptor::channels_last() const {
    return rank > 2 && extents[1] > 1 && strides[1] > 0 && strides[1] < strides[rank - 1];
}

bool TensorDescriptor::broadcasts_to(TensorDescriptor const& whole) const {
    bool fits = rank == whole.rank;
    for (int i = 0; i < rank && fits; ++i) fits = extents[i] == 1 || extents[i] == whole.extents[i];
    return fits;
}

TensorDescriptor TensorDescriptor::broadcast_to(TensorDescriptor const& whole) const {
    TensorDescriptor repeated = *this;
    for (int i = 0; i < rank; ++i) {
        if (extents[i] != whole.extents[i]) repeated.strides[i] = 0;
        repeated.extents[i] = whole.extents[i];
    }
    return repeated;
}

bool TensorDescriptor::is_per_channel() const {
    bool only = true;
    for (int i = 0; i < rank; ++i) only &= i == 1 || extents[i] == 1;
    return only;
}

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
    fail(miopenStatusBadParm, "dataType: expected a miopenDataType_t, got " + Text::number(int{type}));
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
    std::int64_t extents[TensorDescriptor::max_modes];
    for (int i = 0; i < x.rank; ++i) extents[i] = i == 1 || (i > 1 && mode == miopenBNPerActivation) ? x.extents[i] : 1;
    using Innermost = TensorDescriptor::Innermost;
    return TensorDescriptor::packed(miopenFloat, x.rank, extents,
                                    x.channels_last() ? Innermost::channels : Innermost::last);
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

/// Stores a number in the caller's int, or nothing if `to` is null. Throws Failure if the number does not fit.
void give(int* to, std::int64_t value) {
    if (to && value > INT_MAX)
        fail(miopenStatusInvalidValue, "expected a number that fits int, got " + Text::number(value));
    if (to) *to = static_cast<int>(value);
}

/// Extents or strides of the caller, converted to 64 bits.
struct Numbers {
    std::int64_t at[TensorDescriptor::max_modes] = {};

    template <class T>
    Numbers(T const* numbers, int rank, char const* argument) {
        check_rank(rank);
        if (!numbers) fail(miopenStatusInvalidValue, Text(argument) + ": expected a pointer, got null");
        for (int i = 0; i < rank; ++i) {
            if (static_cast<std::uint64_t>(numbers[i]) > INT64_MAX && numbers[i] > 0)
                fail(miopenStatusBadParm, Text(argument) + ": expected numbers below 2^63, got a larger one");
            at[i] = static_cast<std::int64_t>(numbers[i]);
        }
    }
};

/// Returns the descriptor with the caller's extents and strides; packed if `strides` is null.
template <class T>
TensorDescriptor described(miopenDataType_t type, int rank, T const* extents, T const* strides) {
    Numbers const shape(extents, rank, "dimsA");
    if (!strides) return TensorDescriptor::packed(type, rank, shape.at);
    return TensorDescriptor::strided(type, rank, shape.at, Numbers(strides, rank, "stridesA").at);
}

/// Mode of stride 1 in a layout. Throws Failure for layouts that strides cannot describe.
TensorDescriptor::Innermost innermost_of(miopenTensorLayout_t layout) {
    switch (layout) {
        case miopenTensorNCHW:
        case miopenTensorNCDHW: return TensorDescriptor::Innermost::last;
        case miopenTensorNHWC:
        case miopenTensorNDHWC: return TensorDescriptor::Innermost::channels;
        case miopenTensorCHWN: return TensorDescriptor::Innermost::images;
        default: break;
    }
    bool const vectorized = layout >= miopenTensorNCHWc4 && layout <= miopenTensorCHWNc8;
    fail(vectorized ? miopenStatusNotImplemented : miopenStatusBadParm,
         "tensorLayout: expected NCHW, NHWC, CHWN, NCDHW or NDHWC, got " +
             (vectorized ? Text("a vectorized layout, ") : Text()) + Text::number(int{layout}));
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
        std::int64_t const extents[] = {n, c, h, w};
        get<TensorDescriptor>(tensorDesc, "tensorDesc") = TensorDescriptor::packed(dataType, 4, extents);
    });
}

miopenStatus_t miopenSet4dTensorDescriptorEx(miopenTensorDescriptor_t tensorDesc, miopenDataType_t dataType, int n,
                                             int c, int h, int w, int nStride, int cStride, int hStride, int wStride) {
    return guard(__func__, [&] {
        std::int64_t const extents[] = {n, c, h, w}, strides[] = {nStride, cStride, hStride, wStride};
        get<TensorDescriptor>(tensorDesc, "tensorDesc") = TensorDescriptor::strided(dataType, 4, extents, strides);
    });
}

miopenStatus_t miopenSetTensorDescriptor(miopenTensorDescriptor_t tensorDesc, miopenDataType_t dataType, int nbDims,
                                         int const* dimsA, int const* stridesA) {
    return guard(__func__, [&] {
        get<TensorDescriptor>(tensorDesc, "tensorDesc") = described(dataType, nbDims, dimsA, stridesA);
    });
}

miopenStatus_t miopenSetTensorDescriptorV2(miopenTensorDescriptor_t tensorDesc, miopenDataType_t dataType, int nbDims,
                                           size_t const* dimsA, size_t const* stridesA) {
    return guard(__func__, [&] {
        get<TensorDescriptor>(tensorDesc, "tensorDesc") = described(dataType, nbDims, dimsA, stridesA);
    });
}

miopenStatus_t miopenSetNdTensorDescriptorWithLayout(miopenTensorDescriptor_t tensorDesc, miopenDataType_t dataType,
                                                     miopenTensorLayout_t tensorLayout, int const* lens, int num_lens) {
    return guard(__func__, [&] {
        TensorDescriptor::Innermost const innermost = innermost_of(tensorLayout);
        int const modes = tensorLayout == miopenTensorNCDHW || tensorLayout == miopenTensorNDHWC ? 5 : 4;
        Numbers const extents(lens, num_lens, "lens");
        if (num_lens != modes)
            fail(miopenStatusBadParm, "num_lens: expected the layout's " + fusekit::Text::number(modes) + ", got " +
                                          fusekit::Text::number(num_lens));
        get<TensorDescriptor>(tensorDesc, "tensorDesc") =
            TensorDescriptor::packed(dataType, num_lens, extents.at, innermost);
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
        int given[2 * TensorDescriptor::max_modes];
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
    return guard(__func__, [&] { at(size, "size") = get<TensorDescriptor>(tensorDesc, "tensorDesc").rank; });
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
