// SPDX-License-Identifier: MIT
#include "fusekit/backend/hip/copy/depthwise_rows.hpp"

#include "backend/hip/blocks.hpp"

using namespace test;
namespace hip = fk::hip;

namespace {

constexpr int columns = 7;

/// Each thread loads the row that begins `thread` columns before the row of x, as channels of pixels or as pixels.
template <class T, class Row, int channels>
struct LoadRow : BlockOf<32> {
    struct Params {
        T const* x;
        int width, vector, present;
        std::int64_t next_channel, stride;
        float* out;  // (threads, columns, channels)
    };
    struct Shared {};
    __device__ static void run(Params const& params, Shared&, unsigned thread, unsigned) {
        // vectors of pixels are entirely inside or outside the row
        int const step = channels == 1 ? params.vector : 1,
                  first = step * static_cast<int>(thread) - 8 - (channels == 1 ? 1 : 0);
        hip::RowColumns const of{hip::RowColumns::mask_of<columns>(first, params.width),
                                 static_cast<int>(params.stride), params.present, params.next_channel, params.vector};
        Row row;
        hip::Zeros zeros;
        zeros.keep();
        row.load(zeros, params.x + first * params.stride, of.mask, of);
        for (int j = 0; j < columns; ++j)
            for (int c = 0; c < channels; ++c)
                params.out[(static_cast<int>(thread) * columns + j) * channels + c] = static_cast<float>(row.at(j, c));
    }
};

/// `pad` elements are before and after x's row of `width` columns.
template <class T, class Row, int channels>
void check(int width, int vector, int present, std::int64_t next_channel, std::int64_t stride) {
    constexpr int pad = 1024;
    hip::Device device = gpu();
    std::vector<T> x(2 * pad + 1024, T(99.0f));
    auto const number = [](int column, int c) { return static_cast<float>((column * 5 + c * 3) % 61 + 1); };
    for (int column = 0; column < width; ++column)
        for (int c = 0; c < present; ++c)
            x[static_cast<std::size_t>(pad + column * stride + c * next_channel)] = T(number(column, c));
    Array<T> const of_x(device, x);
    Array<float> const out(device, 32 * columns * channels, -7.0f);
    run_blocks<LoadRow<T, Row, channels>>(
        device, {of_x.data() + pad, width, vector, present, next_channel, stride, out.data()});
    auto const found = out.values();
    int wrong = 0;
    for (int thread = 0; thread < 32; ++thread)
        for (int j = 0; j < columns; ++j)
            for (int c = 0; c < channels; ++c) {
                int const step = channels == 1 ? vector : 1, column = step * thread - 8 - (channels == 1 ? 1 : 0) + j;
                bool const exists = column >= 0 && column < width && c < present;
                wrong += found[static_cast<std::size_t>((thread * columns + j) * channels + c)] !=
                         (exists ? number(column, c) : 0);
            }
    CAPTURE(width, vector, present, stride);
    CHECK(wrong == 0);
}

}  // namespace

TEST_CASE("HIP: columns of a row of channels are loaded as vectors or one by one, and are zero out of bounds") {
    using Halves = hip::ChannelRow<fk::half, columns, 4>;
    check<fk::half, Halves, 4>(13, 4, 4, 1, 4);
    check<fk::half, Halves, 4>(13, 1, 3, 1, 3);  // the last channels of x
    check<fk::half, Halves, 4>(9, 1, 2, 40, 1);  // channels in planes
    check<float, hip::ChannelRow<float, columns, 2>, 2>(5, 2, 2, 1, 2);
}

TEST_CASE("HIP: columns of a row of pixels are loaded as vectors between single ones, and are zero out of bounds") {
    using Halves = hip::PixelRow<fk::half, columns, 1, 4>;
    check<fk::half, Halves, 1>(16, 4, 1, 0, 1);
    check<fk::half, Halves, 1>(14, 2, 1, 0, 1);
    check<fk::half, Halves, 1>(13, 1, 1, 0, 1);
    check<float, hip::PixelRow<float, columns, 1, 4>, 1>(12, 4, 1, 0, 1);
    check<float, hip::PixelRow<float, columns, 1, 4>, 1>(9, 1, 1, 0, 3);  // columns of any stride
    check<fk::int8, hip::PixelRow<fk::int8, columns, 1, 4>, 1>(16, 4, 1, 0, 1);
}
