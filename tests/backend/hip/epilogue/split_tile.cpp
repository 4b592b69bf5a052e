// SPDX-License-Identifier: MIT
#include "fusekit/backend/hip/epilogue/split_tile.hpp"

#include "backend/hip/epilogue/scattered_atom.hpp"

using namespace test;
namespace hip = fk::hip;

namespace {

constexpr unsigned tiles = 3;

/// Part of the accumulator of pixel m and channel k of a tile that CTA `split` has.
__host__ __device__ float part_of(unsigned tile, unsigned split, unsigned m, unsigned k) {
    return static_cast<float>((tile * 3 + split * 5 + m * 7 + k) % 31) - 15;
}

/// Each CTA stores the rows that it sums over the CTAs of its tile: out[tile][m][k].
template <bool rows_are_pixels>
struct SumParts : BlockOf<64> {
    using Split = hip::SplitTile<Scattered, rows_are_pixels>;
    using Transpose = hip::TransposeTile<Split, rows_are_pixels>;
    struct Params {
        hip::SplitK split_k;
        float* out;
        unsigned* writers;
    };
    struct DynamicShared {
        typename Split::Buffer parts;
        typename Transpose::Buffer sums;
    };
    __device__ static void run(Params const& params, DynamicShared& shared, unsigned thread, unsigned block) {
        unsigned const tile = block / params.split_k.count, split = block % params.split_k.count;
        Scattered const atom{thread};
        Scattered::Fragment fragment;
        for (unsigned i = 0; i < 32; ++i) fragment.sums[i] = part_of(tile, split, atom.pixel(i), atom.channel(i));
        Split const whole(params.split_k, shared.parts, block, thread, atom, fragment);
        Transpose::run(shared.sums, whole, {}, [&](int round) {
            for (unsigned i = thread; i < Transpose::rows * Transpose::columns; i += 64) {
                unsigned const row = i / Transpose::columns, column = i % Transpose::columns,
                               of_tile = Transpose::tile_row(row, round), m = rows_are_pixels ? of_tile : column,
                               k = rows_are_pixels ? column : of_tile, at = (tile * 64 + m) * 32 + k;
                params.out[at] = shared.sums.at(row, column);
                ++params.writers[at];
            }
        });
        whole.finish();
    }
};

template <bool rows_are_pixels>
void check(unsigned count) {
    using Body = SumParts<rows_are_pixels>;
    hip::Device device = gpu();
    bool const clusters = hip::launches_clusters(device.gpu());
    constexpr std::size_t elements = tiles * 64 * 32;
    Array<float> const out(device, elements, -999.0f);
    Array<unsigned> const writers(device, elements, 0u);
    typename Body::Params params{{}, out.data(), writers.data()};
    params.split_k.count = count;
    std::size_t const floats = std::size_t{tiles} * count * Body::Split::floats;
    Array<unsigned char> const workspace(device, hip::GroupWorkspace::state_bytes + floats * 4, 0);
    params.split_k.workspace = {workspace.data()};
    REQUIRE(hip::kernel_of<Abs, Body>().is_launchable(device.gpu().index()));
    auto const launch = hip::prepare_launch<Abs, Body>(
        device.gpu(), params, tiles * count, Body::threads,
        clusters ? hip::LaunchMode::clusters : hip::LaunchMode::cooperative, 0, clusters ? count : 1);
    launch.value().start(device).raise();
    device.synchronize();
    std::vector<float> expected;
    for (unsigned i = 0; i < elements; ++i) {
        float sum = 0;
        for (unsigned split = 0; split < count; ++split) sum += part_of(i / 2048, split, i / 32 % 64, i % 32);
        expected.push_back(sum);
    }
    CAPTURE(count, clusters, rows_are_pixels);
    CHECK(out.values() == expected);
    CHECK(writers.values() == std::vector<unsigned>(elements, 1));  // each element is stored by one CTA
}

}  // namespace

TEST_CASE("HIP: the CTAs of a tile sum their accumulators, each some rows") {
    for (unsigned const count : {2u, 4u, 8u}) check<true>(count), check<false>(count);
}
