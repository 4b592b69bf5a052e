// SPDX-License-Identifier: MIT
#include "fusekit/backend/hip/atom/simt.hpp"

#include <algorithm>
#include <catch2/catch_template_test_macros.hpp>

#include "backend/hip/blocks.hpp"

using namespace test;
using fk::hip::SimtShape;

namespace {

/// Writes the tile's elements (m, n) that put() stages to `out`, with rows of pixels or of channels.
template <class Atom, bool rows_are_pixels>
struct Leave {
    static constexpr int rows = Atom::rows(rows_are_pixels), columns = Atom::columns(rows_are_pixels),
                         pitch = columns / 4;
    struct Buffer {
        fk::hip::Packet<float, 4> packets[rows][pitch];
    };
    __device__ static void run(Atom const& atom, typename Atom::Fragment const& fragment, Buffer& buffer,
                               unsigned thread, float* out) {
        for (int round = 0; round < Atom::rounds; ++round) {
            atom.template put<rows_are_pixels>(round, fragment, buffer.packets);
            __syncthreads();
            for (unsigned i = thread; i < rows * columns; i += Atom::threads) {
                unsigned const row = Atom::template tile_row<rows_are_pixels>(i / columns, round), column = i % columns;
                unsigned const m = rows_are_pixels ? row : column, n = rows_are_pixels ? column : row;
                out[m * Atom::tile_n + n] = buffer.packets[i / columns]->values[Atom::tile_column(column)];
            }
            __syncthreads();
        }
    }
};

/// Each accumulator holds a unique number.
template <class Atom, bool rows_are_pixels>
struct Number : BlockOf<Atom::threads> {
    struct Params {
        float* out;  // (TileM, TileN)
    };
    using Shared = typename Leave<Atom, rows_are_pixels>::Buffer;
    __device__ static void run(Params const& params, Shared& shared, unsigned thread, unsigned) {
        typename Atom::Fragment fragment;
        for (int i = 0; i < 64; ++i)
            fragment.acc[i / 8][i % 8] = static_cast<float>(thread * 64 + static_cast<unsigned>(i));
        Leave<Atom, rows_are_pixels>::run(Atom(thread), fragment, shared, thread, params.out);
    }
};

/// Multiplies one stage twice, into the same accumulators.
template <class Atom, bool rows_are_pixels>
struct Multiply : BlockOf<Atom::threads> {
    using Operand = typename Atom::Operand;
    struct Params {
        Operand const *x, *w;  // (TileK, TileM), (TileK, TileN)
        float* out;            // (TileM, TileN)
    };
    struct Shared {
        typename Atom::Stage stage;
        typename Leave<Atom, rows_are_pixels>::Buffer buffer;
    };
    __device__ static void run(Params const& params, Shared& shared, unsigned thread, unsigned) {
        constexpr unsigned m = Atom::tile_m, n = Atom::tile_n, k = Atom::tile_k;
        for (unsigned i = thread; i < k * m; i += Atom::threads) *shared.stage.x.at(i / m, i % m) = params.x[i];
        for (unsigned i = thread; i < k * n; i += Atom::threads) *shared.stage.w.at(i / n, i % n) = params.w[i];
        __syncthreads();
        Atom const atom(thread);
        typename Atom::Fragment fragment = {};
        atom.multiply(shared.stage, fragment);
        atom.multiply(shared.stage, fragment);
        Leave<Atom, rows_are_pixels>::run(atom, fragment, shared.buffer, thread, params.out);
    }
};

template <class Atom, bool rows_are_pixels>
std::vector<float> numbers_of() {
    fk::hip::Device device = gpu();
    Array<float> const out(device, std::size_t{Atom::tile_m} * Atom::tile_n, -1);
    run_blocks<Number<Atom, rows_are_pixels>>(device, {out.data()});
    return out.values();
}

template <class Atom, bool rows_are_pixels>
void check_product() {
    using Operand = typename Atom::Operand;
    constexpr int tile_m = Atom::tile_m, tile_n = Atom::tile_n, tile_k = Atom::tile_k;
    fk::hip::Device device = gpu();
    std::vector<Operand> x, w;
    for (int i = 0; i < tile_k * tile_m; ++i) x.push_back(static_cast<Operand>(i * 37 % 255 - 127));
    for (int i = 0; i < tile_k * tile_n; ++i) w.push_back(static_cast<Operand>(i * 91 % 253 - 126));
    Array<Operand> const own_x(device, x), own_w(device, w);
    Array<float> const out(device, std::size_t{tile_m} * tile_n, -1);
    run_blocks<Multiply<Atom, rows_are_pixels>>(device, {own_x.data(), own_w.data(), out.data()});
    std::vector<float> expected;
    for (int m = 0; m < tile_m; ++m)
        for (int n = 0; n < tile_n; ++n) {
            int sum = 0;  // below 2 * 16 * 2^14: exact in float
            for (int k = 0; k < tile_k; ++k)
                sum += 2 * static_cast<int>(x[static_cast<std::size_t>(k * tile_m + m)]) *
                       static_cast<int>(w[static_cast<std::size_t>(k * tile_n + n)]);
            expected.push_back(static_cast<float>(sum));
        }
    CAPTURE(tile_m, tile_n, tile_k, rows_are_pixels);
    CHECK(out.values() == expected);
}

using Small = fk::hip::Simt<float, 64, 64, 8, 2>;
using Large = fk::hip::Simt<float, 128, 64, 16, 8>;
using SmallInteger = fk::hip::Simt<fk::int8, 64, 64, 16, 8>;
using LargeInteger = fk::hip::Simt<fk::int8, 128, 128, 8, 2>;

}  // namespace

TEMPLATE_TEST_CASE("HIP: a SIMT atom's accumulators map one to one to the tile, in both orientations", "", Small,
                   Large) {
    auto const by_pixels = numbers_of<TestType, true>(), by_channels = numbers_of<TestType, false>();
    CHECK(by_pixels == by_channels);
    auto sorted = by_pixels;
    std::sort(sorted.begin(), sorted.end());
    std::vector<float> each;
    for (int i = 0; i < TestType::tile_m * TestType::tile_n; ++i) each.push_back(static_cast<float>(i));
    CHECK(sorted == each);
}

TEMPLATE_TEST_CASE("HIP: a SIMT atom multiplies integers exactly", "", Small, Large, SmallInteger, LargeInteger) {
    check_product<TestType, true>();
    check_product<TestType, false>();
}

TEST_CASE("HIP: a SIMT atom has 8 x 8 accumulators per thread and rejects other tile shapes") {
    CHECK(SimtShape{128, 64, 16}.threads() == 128);
    CHECK(SimtShape{128, 64, 16}.shared_bytes() == 2 * 16 * 200 * 4);
    CHECK(SimtShape{64, 32, 8}.has_whole_waves());
    CHECK_FALSE(SimtShape{32, 64, 8}.has_whole_waves());
    CHECK_FALSE(SimtShape{64, 48, 8}.has_whole_waves());
    CHECK_FALSE(SimtShape{64, 64, 0}.has_whole_waves());
    CHECK(SimtShape{128, 128, 8}.has_whole_columns());
    CHECK_FALSE(SimtShape{64, 32, 8}.has_whole_columns());  // 32 threads for 64 rows
    CHECK_FALSE(SimtShape{64, 64, 128}.has_whole_columns());
    CHECK(SimtShape{128, 128, 8}.has_equal_shares());
    CHECK_FALSE(SimtShape{128, 128, 3}.has_equal_shares());
}
