// SPDX-License-Identifier: MIT
#include "fusekit/backend/hip/arch/buffer.hpp"

#include "backend/hip/blocks.hpp"

using namespace test;

namespace {

/// Each thread loads its element and the next by offsets from an element in the middle, then loads out of bounds.
struct ReadNear : BlockOf<64> {
    struct Params {
        std::uint32_t const* memory;
        std::uint32_t *found, *padding, *ended;
    };
    struct Two {
        std::uint32_t values[2];
    };
    struct Shared {};
    __device__ static void run(Params const& params, Shared&, unsigned thread, unsigned) {
        fk::hip::Buffer const buffer(params.memory + 20);
        std::uint32_t const offset = buffer.offset(params.memory + thread);
        Two const two = buffer.load<Two>(offset);
        params.found[thread] = two.values[0] + 1000 * two.values[1];
        params.padding[3 * thread] = buffer.load<std::uint32_t>(fk::hip::Buffer::out_of_bounds + offset);
        params.padding[3 * thread + 1] = buffer.load<std::uint16_t>(offset | (0 - (1 + thread)));
        fk::hip::Buffer const to_element_40(params.memory + 20, params.memory + 40);
        params.ended[thread] = to_element_40.load<std::uint32_t>(offset);
        std::uint64_t const far = std::uint64_t{1} << 40;
        auto const* const away = reinterpret_cast<void const*>(reinterpret_cast<std::uint64_t>(params.memory) + far);
        params.padding[3 * thread + 2] = buffer.offset(away) - buffer.offset(params.memory + 20);
    }
};

}  // namespace

TEST_CASE("HIP: a Buffer loads by 32-bit offsets and reads zero out of bounds") {
    fk::hip::Device device = gpu();
    std::vector<std::uint32_t> numbers(65);
    for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = static_cast<std::uint32_t>(i + 1);
    Array<std::uint32_t> const memory(device, numbers), found(device, 64, 7), padding(device, 192, 7),
        ended(device, 64, 7);
    run_blocks<ReadNear>(device, {memory.data(), found.data(), padding.data(), ended.data()});
    for (std::size_t i = 0; i < 64; ++i) {
        CHECK(found.values()[i] == i + 1 + 1000 * (i + 2));
        CHECK(ended.values()[i] == (i < 40 ? i + 1 : 0));
    }
    CHECK(padding.values() == std::vector<std::uint32_t>(192, 0));
}
