// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include "fusekit/backend/hip/arch/access.hpp"
#include "fusekit/backend/hip/arch/buffer.hpp"
#include "fusekit/tensor/dtype.hpp"

namespace fusekit::hip {

/// An operand in memory. A thread loads what stands at an offset, in elements, or takes zeros. AMD's OperandNearby
/// takes offsets of 2^30 bytes at most (Buffer), and has nothing at the offset `nowhere`.
template <Element T>
struct AnyOperand {
    static constexpr bool knows_nowhere = false;
    T const* first;

    template <class To>
    __device__ void load_if(bool is_read, std::int64_t offset, To& to) const {
        to = Zeros().load_if(is_read, reinterpret_cast<To const*>(first + offset));
    }
};
template <Element T>
class OperandNearby {
    static constexpr auto bytes = static_cast<std::uint32_t>(sizeof(T));

public:
    static constexpr bool knows_nowhere = true;
    static constexpr std::int64_t nowhere = Buffer::nowhere / bytes;

    __device__ explicit OperandNearby(T const* first) : buffer(first) {}
    template <class To>
    __device__ void load_if(bool is_read, std::int64_t offset, To& to) const {
        std::uint32_t const at = static_cast<std::uint32_t>(offset) * bytes + Buffer::before;
        to = buffer.load<To>(is_read ? at : Buffer::nowhere);
    }

private:
    Buffer buffer;
};

}  // namespace fusekit::hip
