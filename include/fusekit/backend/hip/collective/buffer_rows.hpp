// SPDX-License-Identifier: MIT
#pragma once

#include "fusekit/backend/hip/arch/buffer.hpp"
#include "fusekit/backend/hip/arch/vector.hpp"
#include "fusekit/backend/hip/conv_problem.hpp"

namespace fusekit::hip {

/// The rows of a tile that a thread loads 16 bytes of, by offsets of 32 bits from where the first begins: an addition
/// for each, and none of 64 bits. All rows are near it. Where windows are `padded`, zeros are read outside the image.
template <Element T, int Count, bool padded>
class BufferRows {
public:
    template <class RowAt>
    __device__ explicit BufferRows(RowAt row) : buffer(row(0).first) {
#pragma unroll
        for (int i = 0; i < Count; ++i) {
            RowPointer<T> const at = row(i);
            first[i] = buffer.offset(at.first);
            invalid[i] = ~at.valid;
        }
    }
    /// An index of GemmK as `load` takes it: in bytes.
    __device__ static KOffset in_bytes(KOffset const& offset) {
        std::uint32_t const bytes = static_cast<std::uint32_t>(offset.offset) * sizeof(T);
        return {static_cast<std::int32_t>(offset.mask == KOffset::never ? Buffer::nowhere : bytes), offset.mask};
    }
    __device__ Words<4> load(int i, KOffset const& offset) const {
        std::uint32_t const at = first[i] + static_cast<std::uint32_t>(offset.offset);
        // What is invalid, a number up to 2^31, is nowhere when it is negative: without a comparison.
        return buffer.template load<Words<4>>(padded ? at | (0 - (offset.mask & invalid[i])) : at);
    }
    __device__ bool has(int i, KOffset const& offset) const { return (offset.mask & invalid[i]) == 0; }

private:
    Buffer buffer;
    std::uint32_t first[Count], invalid[Count];
};

/// Where no rows are loaded so.
struct NoBufferRows {
    template <class RowAt>
    __device__ explicit NoBufferRows(RowAt) {}
};

}  // namespace fusekit::hip
