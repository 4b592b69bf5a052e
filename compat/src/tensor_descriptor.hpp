// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <fusekit/tensor/dtype.hpp>
#include <fusekit/tensor/layout.hpp>

#include "object_table.hpp"

namespace fusekit::compat {

/// Object of a miopenTensorDescriptor_t: element type, extents and strides (in elements) of one to five modes, in the
/// order N, C, then space. Empty until it is set.
struct TensorDescriptor {
    static constexpr ObjectKind kind = ObjectKind::tensor;
    static constexpr char const* name = "a tensor descriptor";
    using Handle = miopenTensorDescriptor_t;
    static constexpr int max_modes = 5;

    miopenDataType_t type = miopenFloat;
    int rank = 0;  ///< number of modes; 0 until it is set
    std::int64_t extents[max_modes] = {}, strides[max_modes] = {};

    /// Mode of stride 1 in a packed tensor: the last one, the channels (mode 1) or the images (mode 0).
    enum class Innermost { last, channels, images };

    /// Returns the descriptor of a packed tensor. Throws Failure for negative extents, more than 2^56 elements, or an
    /// invalid type or rank.
    static TensorDescriptor packed(miopenDataType_t type, int rank, std::int64_t const* extents,
                                   Innermost innermost = Innermost::last);
    /// Returns the descriptor with the given strides; throws Failure as packed() does, and for a negative stride. A
    /// stride of 0 broadcasts.
    static TensorDescriptor strided(miopenDataType_t type, int rank, std::int64_t const* extents,
                                    std::int64_t const* strides);

    /// Number of elements; 0 if an extent is 0.
    std::int64_t size() const;
    /// Bytes from the start of the first element to the end of the last; 0 without elements.
    std::size_t bytes() const;

    /// True if channels are the fastest mode; unspecified for a single channel.
    bool channels_last() const;

    /// True if every extent is 1 or equal to that of `whole`.
    bool broadcasts_to(TensorDescriptor const& whole) const;
    /// Returns the layout of this tensor broadcast to the extents of `whole`, with stride 0 in broadcast modes.
    /// Precondition: broadcasts_to(whole).
    TensorDescriptor broadcast_to(TensorDescriptor const& whole) const;
    /// True if every extent except that of mode 1 (channels) is 1.
    bool is_per_channel() const;

    /// shape(): text of the extents, "8 x 64 x 56 x 56". steps(): text of the strides, in the same form.
    Text shape() const { return list(extents); }
    Text steps() const { return list(strides); }

    bool has_shape_of(TensorDescriptor const& other) const;
    /// True if element type and extents are equal, and strides too, except in modes of extent 1.
    bool operator==(TensorDescriptor const& other) const;

private:
    Text list(std::int64_t const* numbers) const;
};

/// Name of an element type: "float" and so on. Throws Failure if `type` is not a miopenDataType_t.
Text name_of(miopenDataType_t type);

/// Returns the descriptor of a handle. Throws Failure if the handle is invalid or the descriptor was never set.
TensorDescriptor const& get_set(miopenTensorDescriptor_t handle, char const* argument);

/// Returns the layout of batch norm's parameters for x. Throws Failure if `mode` is not a miopenBatchNormMode_t.
TensorDescriptor batch_norm_parameters(TensorDescriptor const& x, miopenBatchNormMode_t mode);

/// fusekit's element type for `type`. Throws Failure if fusekit has none.
DataType element_type(miopenDataType_t type, char const* argument);

/// fusekit's layout of a tensor of four modes. Throws Failure if the descriptor has another number of modes.
Layout<4> image_layout(TensorDescriptor const& tensor, char const* argument);

}  // namespace fusekit::compat
