// SPDX-License-Identifier: MIT
#include "fusekit/backend/hip/arch/permute.hpp"

#include "backend/hip/blocks.hpp"

using namespace test;

namespace {

/// Thread i permutes with the selector i i i i, and with the selector of Params.
struct Permute : BlockOf<64> {
    struct Params {
        std::uint32_t high, low, selector;
        std::uint32_t *same, *own;
    };
    struct Shared {};
    __device__ static void run(Params const& params, Shared&, unsigned thread, unsigned) {
        if (thread > fk::hip::byte_of_ones) return;
        params.same[thread] = fk::hip::permuted(params.high, params.low, thread * 0x01010101);
        params.own[thread] = fk::hip::permuted(params.high, params.low, params.selector);
    }
};

/// Thread i spreads bit i / 2 over a word.
struct Spread : BlockOf<64> {
    struct Params {
        std::uint32_t word, *spread;
    };
    struct Shared {};
    __device__ static void run(Params const& params, Shared&, unsigned thread, unsigned) {
        params.spread[thread] = fk::hip::spread_bit(params.word, thread / 2);
    }
};

}  // namespace

TEST_CASE("HIP: spread_bit broadcasts one bit to a word") {
    fk::hip::Device device = gpu();
    std::uint32_t const word = 0x80010005;
    Array<std::uint32_t> const spread(device, 64, 99);
    run_blocks<Spread>(device, {word, spread.data()});
    for (std::size_t i = 0; i < 64; ++i) CHECK(spread.values()[i] == (word >> i / 2 & 1 ? 0xffffffff : 0));
}

TEST_CASE("HIP: permuted selects four of eight bytes") {
    fk::hip::Device device = gpu();
    Array<std::uint32_t> const same(device, 14, 99), own(device, 14, 99);
    run_blocks<Permute>(device, {0x88776655, 0x44332211, 0x0c070d05, same.data(), own.data()});
    std::uint32_t const bytes[] = {0x11, 0x22, 0x33, 0x44, 0x55, 0x66, 0x77, 0x88};
    for (std::size_t i = 0; i < 8; ++i) CHECK(same.values()[i] == bytes[i] * 0x01010101);
    CHECK(same.values()[fk::hip::no_byte] == 0);
    CHECK(same.values()[fk::hip::byte_of_ones] == 0xffffffff);
    CHECK(own.values()[0] == 0x0088ff66);
}
