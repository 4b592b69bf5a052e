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

    /// Packed, its channels closest together in memory or its last mode. Throws Failure.
    static TensorDescriptor packed(miopenDataType_t type, int rank, int const* extents, bool channels_last = false);
    static TensorDescriptor strided(miopenDataType_t type, int rank, int const* extents, int const* strides);

    std::int64_t size() const;
    /// Bytes from the first to one past the last element.
    std::size_t bytes() const;

    /// Whether channels lie closest together in memory. Of a single channel it does not matter.
    bool channels_last() const;

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
