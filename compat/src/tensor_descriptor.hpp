// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <fusekit/tensor/dtype.hpp>
#include <fusekit/tensor/layout.hpp>

#include "object_table.hpp"

namespace fusekit::compat {

/// Extents and strides, in elements, of one to five modes, in the order N, C, then space. None until it is set.
struct TensorDescriptor {
    static constexpr ObjectKind kind = ObjectKind::tensor;
    static constexpr char const* name = "a tensor descriptor";
    using Handle = miopenTensorDescriptor_t;
    static constexpr int most_modes = 5;

    miopenDataType_t type = miopenFloat;
    int rank = 0;  ///< 0 until it is set
    std::int64_t extents[most_modes] = {}, strides[most_modes] = {};

    /// The mode of stride 1 of a packed tensor: the last one, the channels (1) or the images (0).
    enum class Innermost { last, channels, images };

    /// A packed tensor. Throws Failure for negative extents, more than 2^56 elements, and an invalid type or rank.
    static TensorDescriptor packed(miopenDataType_t type, int rank, std::int64_t const* extents,
                                   Innermost innermost = Innermost::last);
    /// Also throws Failure for negative strides. A stride of 0 is a broadcast.
    static TensorDescriptor strided(miopenDataType_t type, int rank, std::int64_t const* extents,
                                    std::int64_t const* strides);

    /// The number of elements; 0 where an extent is 0.
    std::int64_t size() const;
    /// Bytes from the first to one past the last element; 0 without elements.
    std::size_t bytes() const;

    /// Whether channels lie closest together in memory. Of a single channel it does not matter.
    bool channels_last() const;

    /// True if every extent is 1 or the extent of `whole`.
    bool broadcasts_to(TensorDescriptor const& whole) const;
    /// This tensor with the extents of `whole`: broadcast modes have stride 0. Needs broadcasts_to(whole).
    TensorDescriptor broadcast_to(TensorDescriptor const& whole) const;
    /// True if every extent but the channels' is 1.
    bool is_per_channel() const;

    /// "8 x 64 x 56 x 56"
    Text shape() const { return list(extents); }
    Text steps() const { return list(strides); }

    bool has_shape_of(TensorDescriptor const& other) const;
    /// The same elements in the same places; strides of modes of one element do not count.
    bool operator==(TensorDescriptor const& other) const;

private:
    Text list(std::int64_t const* numbers) const;
};

/// "float" and so on; Failure where it is no type of MIOpen's.
Text name_of(miopenDataType_t type);

/// The descriptor of a handle, which has been set.
TensorDescriptor const& get_set(miopenTensorDescriptor_t handle, char const* argument);

/// What batch norm's parameters are, of such an x; Failure where it is no mode of MIOpen's.
TensorDescriptor batch_norm_parameters(TensorDescriptor const& x, miopenBatchNormMode_t mode);

/// fusekit's element type; Failure where it has none.
DataType element_type(miopenDataType_t type, char const* argument);

/// fusekit's layout of four modes; Failure where the descriptor has others.
Layout<4> image_layout(TensorDescriptor const& tensor, char const* argument);

}  // namespace fusekit::compat
