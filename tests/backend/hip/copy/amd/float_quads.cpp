// SPDX-License-Identifier: MIT
#include "fusekit/backend/hip/copy/amd/float_quads.hpp"

#include "backend/hip/copy/amd/multiplied_operands.hpp"
#include "fusekit/backend/hip/copy/amd/tap_operands.hpp"

using namespace test;

namespace {

template <auto Filter>
void check(OperandExtents const& of) {
    using Plan = fk::Plan<fk::Conv<Filter>>;
    using Packed = fk::hip::TapOperands<Plan, ScalarAtom<float>, float, float, true>;
    using Tail = fk::hip::TapOperands<Plan, ScalarAtom<float>, float, float, false>;
    if constexpr (Tail::is_supported) check_operands<Plan, float, Packed, Tail>(of, Filter, true);
    else check_operands<Plan, float, Packed>(of, Filter, true);
}

/// Writes quads shifted by -2 to 2 words, with the words of their padding, and reads rows of four indices.
struct ShiftQuads : BlockOf<64> {
    using Tile = fk::hip::QuadTile<16, 8, 2>;
    struct Params {
        std::uint32_t* out;
    };
    struct Shared {
        Tile tile;
    };
    __device__ static void run(Params const& params, Shared& shared, unsigned thread, unsigned) {
        if (thread < 32) {
            unsigned const k = thread / 4, quad = thread % 4;
            int const moved = static_cast<int>(k % 5) - 2;
            std::uint32_t* const to = shared.tile.at(k, 4 * quad);
            for (int i = 0; i < 4; ++i) to[moved + i] = 1000 + 100 * k + 10 * quad + static_cast<unsigned>(i);
        }
        __syncthreads();
        if (thread >= 32) return;
        auto const words = shared.tile.read(thread / 16, thread % 16);
        for (int i = 0; i < 4; ++i)
            params.out[(thread / 16 * 4 + static_cast<unsigned>(i)) * 16 + thread % 16] = words[i];
    }
};

}  // namespace

TEST_CASE("HIP: quads of floats, shifted at the ends of rows, are the operands of a convolution") {
    check<fk::filter(1, 1)>({2, 20, 3, 4, 66});
    check<fk::filter(3, 3).pad(1)>({2, 12, 5, 8, 9});
    check<fk::filter(2, 3).pad(1, 0, 0, 2)>({1, 8, 4, 12, 5});
    check<fk::filter(1, 7).pad(0, 3)>({1, 16, 3, 8, 4});
    check<fk::filter(3, 3).pad(2).dilation(2).groups(2)>({1, 24, 5, 8, 6});
}

TEST_CASE("HIP: a quad that is stored shifted reaches no other quad") {
    fk::hip::Device device = gpu();
    Array<std::uint32_t> const out(device, 8 * 16, 7u);
    run_blocks<ShiftQuads>(device, {out.data()});
    auto const found = out.values();
    for (unsigned k = 0; k < 8; ++k)
        for (int row = 0; row < 16; ++row) {
            int const own = row % 4 - (static_cast<int>(k % 5) - 2);
            if (own < 0 || own > 3) continue;  // padding of the quad itself
            CHECK(found[k * 16 + static_cast<unsigned>(row)] ==
                  1000 + 100 * k + 10 * static_cast<unsigned>(row / 4) + static_cast<unsigned>(own));
        }
}
