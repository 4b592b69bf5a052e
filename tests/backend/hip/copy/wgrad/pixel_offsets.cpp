// SPDX-License-Identifier: MIT
#include "fusekit/backend/hip/copy/wgrad/pixel_offsets.hpp"

#include "backend/hip/blocks.hpp"

using namespace test;
namespace hip = fk::hip;

namespace {

using Offsets = hip::WindowOffsets<fk::half>;
constexpr int columns_of_tile = hip::WeightGradientTile::m;

/// Fills the tables of one tile, and adds the offsets of each pixel at each of the tile's columns: x[column][pixel].
struct FillTables : BlockOf<2 * Offsets::pixels> {
    using Problem = hip::ConvProblem<fk::half, 2>;
    struct Params {
        Problem conv;
        int first_column, first, end;
        std::uint32_t *x, *dy, *had, *channels;
    };
    struct Shared {
        Offsets offsets;
    };
    __device__ static void run(Params const& params, Shared& shared, unsigned thread, unsigned) {
        Offsets& offsets = shared.offsets;
        offsets.fill_columns<threads>(params.conv, params.first_column, thread);
        offsets.fill_channels<threads>(params.conv.y_stride[1], params.conv.group_k(), thread);
        offsets.fill<threads>(params.conv, params.first, params.end, thread);
        __syncthreads();
        for (int i = static_cast<int>(thread); i < columns_of_tile * Offsets::pixels / 4; i += threads) {
            auto const& column = offsets.columns[i / (Offsets::pixels / 4)];
            auto const pixel = static_cast<std::uint32_t>(i % (Offsets::pixels / 4) * 16);
            auto const rows = offsets.read(column.row, pixel), in_row = offsets.read(column.column, pixel);
            for (int j = 0; j < 4; ++j) params.x[4 * i + j] = rows[j] + in_row[j] + column.channel;
        }
        if (thread < Offsets::pixels / 4)
            params.dy[thread] = offsets.quads[thread].in_dy, params.had[thread] = offsets.quads[thread].had;
        for (unsigned i = thread; i < hip::WeightGradientTile::n; i += threads)
            params.channels[i] = offsets.channels[i % Offsets::channels_apart].values[i / Offsets::channels_apart];
    }
};

void check(fk::Layout<4> const& of_x, fk::Layout<4> const& of_dy, fk::Filter<2> const& filter, int first_column,
           int first) {
    hip::Device device = gpu();
    fk::Index<4> const &x = of_x.shape, &y = of_dy.shape;
    int const c = static_cast<int>(x[1]), r = filter.size[0], s = filter.size[1], q = static_cast<int>(y[3]),
              image = static_cast<int>(y[2]) * q, plane = static_cast<int>(Offsets::whole(image)),
              end = static_cast<int>(y[0]) * plane, k = static_cast<int>(y[1]);
    Array<fk::half> const memory(device, 16, fk::half(0.0f));
    Array<std::uint32_t> const in_x(device, columns_of_tile * Offsets::pixels, 7u),
        in_dy(device, Offsets::pixels / 4, 7u), had(device, Offsets::pixels / 4, 7u),
        channels(device, hip::WeightGradientTile::n, 7u);
    FillTables::Problem const conv{
        {{memory.data(), of_x}, {memory.data(), fk::kcrs(k, c, r, s)}, y, filter, {}}, of_dy.stride, {}};
    run_blocks<FillTables>(device,
                           {conv, first_column, first, end, in_x.data(), in_dy.data(), had.data(), channels.data()});
    int wrong = 0;
    auto const found = in_x.values();
    for (int column = 0; column < columns_of_tile; ++column)
        for (int i = 0; i < Offsets::pixels; ++i) {
            // a quad at the end of an image ends with it, so that its first pixels are also in the quad before
            int const at = first + i, n = at / plane, quad = at % plane / 4 * 4,
                      before = quad + 4 > image ? quad + 4 - image : 0, pixel = at % plane - before,
                      index = first_column + column, of_c = index / (r * s),
                      h = pixel / q * filter.strides[0] + index % (r * s) / s * filter.dilations[0] -
                          filter.pad_before[0],
                      w = pixel % q * filter.strides[1] + index % s * filter.dilations[1] - filter.pad_before[1];
            bool const exists = at < end && at % 4 >= before && of_c < c && h >= 0 && h < x[2] && w >= 0 && w < x[3];
            std::uint32_t const offset = found[static_cast<std::size_t>(column * Offsets::pixels + i)];
            if (exists)
                wrong += offset != hip::Buffer::bias + 2 * static_cast<std::uint32_t>(of_x.offset({{n, of_c, h, w}}));
            else wrong += offset < hip::Buffer::out_of_bounds;
        }
    for (int i = 0; i < Offsets::pixels / 4; ++i) {
        int const at = first + 4 * i, n = at / plane, before = at % plane + 4 > image ? at % plane + 4 - image : 0,
                  pixel = at % plane - before;
        auto const own = static_cast<std::size_t>(i);
        if (at >= end) wrong += in_dy.values()[own] < hip::Buffer::out_of_bounds;
        else
            wrong += in_dy.values()[own] != hip::Buffer::bias + 2 * static_cast<std::uint32_t>(
                                                                        of_dy.offset({{n, 0, pixel / q, pixel % q}})) ||
                     had.values()[own] != static_cast<std::uint32_t>(before);
    }
    for (int i = 0; i < hip::WeightGradientTile::n; ++i)
        wrong += channels.values()[static_cast<std::size_t>(i)] !=
                 (i < k ? 2 * static_cast<std::uint32_t>(i * of_dy.stride[1]) : 0);
    CAPTURE(x[1], r, s, first_column, first);
    CHECK(wrong == 0);
}

}  // namespace

// Images of a multiple of four pixels and others, several images in a table, columns past the last weight.
TEST_CASE("HIP: offsets of window rows, window columns and channels add to those of the elements, or out of range") {
    check(fk::nchw(3, 9, 7, 9), fk::nchw(3, 70, 7, 9), fk::filter(3, 3).pad(1), 0, 0);
    check(fk::nchw(3, 9, 7, 9), fk::nchw(3, 20, 7, 9), fk::filter(3, 3).pad(1), 64, 64);
    check(fk::nchw(3, 9, 7, 9), fk::nchw(3, 20, 7, 9), fk::filter(3, 3).pad(1), 64, 128);
    check(fk::nchw(2, 40, 9, 11), fk::nchw(2, 8, 4, 11), fk::filter(3, 2).pad(0, 1, 0, 0).stride(2, 1), 0, 0);
    check(fk::nchw(1, 16, 9, 12), fk::nchw(1, 64, 5, 12), fk::filter(3, 3).pad(0, 1).dilation(2, 1), 64, 0);
}
