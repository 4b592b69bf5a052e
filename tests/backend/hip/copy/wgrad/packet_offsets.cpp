// SPDX-License-Identifier: MIT
#include "fusekit/backend/hip/copy/wgrad/packet_offsets.hpp"

#include "backend/hip/blocks.hpp"

using namespace test;
namespace hip = fk::hip;

namespace {

using Tile = hip::WeightGradientTile;
constexpr int step_pixels = 8;
using Offsets = hip::TapPacketOffsets<fk::half, 2, Tile, step_pixels>;
constexpr std::uint32_t nothing = hip::Buffer::out_of_bounds;

/// Fills the table of one tile's taps for pixels from `first` on: out[tap][pixel], and then those of dy.
struct FillTable : BlockOf<Tile::threads> {
    using Problem = hip::ConvProblem<fk::half, 2>;
    struct Params {
        Problem conv;
        int first_column, weights, first, end;
        std::uint32_t* out;
        int* range;
    };
    struct Shared {
        Offsets offsets;
    };
    /// The members of WeightGradientTileAt that TapRange reads.
    struct At {
        int first_column;
    };
    __device__ static void run(Params const& params, Shared& shared, unsigned thread, unsigned) {
        int const channels = params.conv.group_c(),
                  last = params.first_column + Tile::m < params.weights ? params.first_column + Tile::m - 1
                                                                        : params.weights - 1,
                  first_tap = params.first_column / channels;
        hip::TapRange const range{first_tap, last < params.first_column ? 0 : last / channels - first_tap + 1};
        shared.offsets.find_taps(params.conv, range, thread);
        __syncthreads();
        shared.offsets.fill(params.conv, range, params.first, params.end, thread);
        __syncthreads();
        for (unsigned i = thread; i < Offsets::pixels; i += threads) {
            for (int tap = 0; tap < range.count; ++tap)
                params.out[static_cast<unsigned>(tap) * Offsets::pixels + i] = shared.offsets.in_x[tap][i];
            params.out[static_cast<unsigned>(range.count) * Offsets::pixels + i] = shared.offsets.in_dy[i];
        }
        if (thread == 0) params.range[0] = range.first, params.range[1] = range.count;
    }
};

void check(fk::Layout<4> const& of_x, fk::Layout<4> const& of_dy, fk::Filter<2> const& filter, int first_column,
           int first, int end) {
    hip::Device device = gpu();
    fk::Index<4> const &x = of_x.shape, &y = of_dy.shape;
    int const c = static_cast<int>(x[1]), taps = filter.size[0] * filter.size[1];
    Array<fk::half> const memory(device, 16, fk::half(0.0f));
    Array<std::uint32_t> const out(device, static_cast<std::size_t>((taps + 1) * Offsets::pixels), 7u);
    Array<int> const range(device, 2, -1);
    FillTable::Problem const conv{
        {{memory.data(), of_x}, {memory.data(), fk::krsc(y[1], filter.size[0], filter.size[1], c)}, y, filter, {}},
        of_dy.stride,
        {}};
    run_blocks<FillTable>(device, {conv, first_column, taps * c, first, end, out.data(), range.data()});
    auto const found = out.values();
    int const begin = range.values()[0], count = range.values()[1];
    REQUIRE((begin == first_column / c && count >= 1 && begin + count <= taps));
    int wrong = 0;
    auto const in_bytes = [](std::int64_t offset) {
        return hip::Buffer::bias + static_cast<std::uint32_t>(2 * offset);
    };
    for (int i = 0; i < Offsets::pixels; ++i) {
        int const m = first + i, q = static_cast<int>(y[3]), p = static_cast<int>(y[2]), n = m / (p * q),
                  row = m / q % p, column = m % q;
        for (int tap = 0; tap < count; ++tap) {
            int const r = (begin + tap) / filter.size[1], s = (begin + tap) % filter.size[1],
                      h = row * filter.strides[0] + r * filter.dilations[0] - filter.pad_before[0],
                      w = column * filter.strides[1] + s * filter.dilations[1] - filter.pad_before[1];
            bool const exists = m < end && h >= 0 && h < x[2] && w >= 0 && w < x[3];
            std::uint32_t const expected = exists ? in_bytes(of_x.offset({{n, 0, h, w}})) : nothing;
            wrong += found[static_cast<std::size_t>(tap * Offsets::pixels + i)] != expected;
        }
        std::uint32_t const expected = m < end ? in_bytes(of_dy.offset({{n, 0, row, column}})) : nothing;
        wrong += found[static_cast<std::size_t>(count * Offsets::pixels + i)] != expected;
    }
    CAPTURE(first_column, first, end, filter.size[0], filter.strides[0]);
    CHECK(wrong == 0);
}

}  // namespace

// The tile's taps begin within the filter; pixels of several images; pixels past the end, and padding.
TEST_CASE("HIP: a table has the offset of each pixel at each tap of a tile's columns") {
    check(fk::nhwc(3, 7, 9, 24), fk::nhwc(3, 7, 9, 16), fk::filter(3, 3).pad(1), 64, 0, 3 * 63);
    check(fk::nhwc(3, 7, 9, 24), fk::nhwc(3, 7, 9, 16), fk::filter(3, 3).pad(1), 192, 51, 60);
    check(fk::nhwc(2, 9, 11, 40), fk::nhwc(2, 4, 11, 8), fk::filter(3, 2).pad(0, 1, 0, 0).stride(2, 1), 0, 33, 88);
    check(fk::nhwc(1, 9, 9, 8), fk::nhwc(1, 5, 9, 8), fk::filter(3, 3).pad(0, 1).dilation(2, 1), 0, 0, 45);
}
