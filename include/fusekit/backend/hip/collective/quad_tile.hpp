// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include "fusekit/backend/hip/arch/reload.hpp"
#include "fusekit/backend/hip/arch/vector.hpp"

namespace fusekit::hip {

/// One operand of a step along GemmK in shared memory, in floats. Four rows after one another are stored together, as a
/// quad. Nobody reads the `Between` words between two quads, so a quad may be stored as many words further.
template <int Size, int TileK, int Between>
class QuadTile {
public:
    /// Where an index of the first row of a quad is. The quad's other rows follow.
    __device__ std::uint32_t* at(unsigned k, unsigned row) { return words + place(k, row); }

    /// Chunk number `chunk` of a row: four indices.
    __device__ Words<4> read(unsigned chunk, unsigned row) const {
        auto const* const first = address_in_register(words + place(chunk * 4, row));
        Words<4> result;
#pragma unroll
        for (unsigned i = 0; i < 4; ++i) result[static_cast<int>(i)] = first[i * pitch];
        return result;
    }

private:
    static constexpr unsigned quad = 4 + Between, pitch = Size / 4 * quad + Between;
    alignas(16) std::uint32_t words[TileK * pitch];

    __device__ static constexpr unsigned place(unsigned k, unsigned row) {
        return k * pitch + Between + row / 4 * quad + row % 4;
    }
};

}  // namespace fusekit::hip
