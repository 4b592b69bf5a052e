// SPDX-License-Identifier: MIT
#include "fusekit/backend/hip/copy/depthwise_halo.hpp"

#include "backend/hip/blocks.hpp"

using namespace test;
namespace hip = fk::hip;
using Tiles = fk::hip::DepthwiseHaloTiles;

namespace {

constexpr int ring_rows = 5, halo_columns = 9, threads_of_cta = 64;

/// Copies `rows` rows of x to the ring, two at a time, and stores them before they are overwritten:
/// out[row][column][plane].
struct CopyRows : BlockOf<threads_of_cta> {
    struct Params {
        Tiles tiles;
        fk::TensorView<fk::half const> x;
        unsigned first_plane;
        int top, left, rows;
        float* out;
    };
    struct Shared {
        alignas(16) unsigned char ring[ring_rows * halo_columns * Tiles::planes * 2];
    };
    __device__ static void run(Params const& params, Shared& shared, unsigned thread, unsigned) {
        hip::DepthwiseHaloLoad<fk::half> load(params.tiles, params.x, params.first_plane, params.top, params.left,
                                              params.rows, shared.ring, thread);
        for (int row = 0; row < params.rows; row += 2) {
            load.copy_rows(params.tiles, params.x.layout, 2);
            hip::wait_for_groups<0>();
            __syncthreads();
            for (int i = static_cast<int>(thread); i < 2 * halo_columns * Tiles::planes; i += threads) {
                int const at = row + i / (halo_columns * Tiles::planes), in_row = i % (halo_columns * Tiles::planes);
                if (at < params.rows)
                    params.out[at * halo_columns * Tiles::planes + in_row] =
                        static_cast<float>(reinterpret_cast<fk::half const*>(
                            shared.ring)[at % ring_rows * halo_columns * Tiles::planes + in_row]);
            }
            __syncthreads();
        }
    }
};

/// Each thread writes the weights of one plane: out[plane][tap].
template <bool rotated>
struct WriteWeights : BlockOf<threads_of_cta> {
    using Window = hip::UnrolledWindow<3, 5, 1, 1>;
    using Weights = hip::DepthwiseHaloWeights<Window, fk::half, rotated>;
    struct Params {
        Tiles tiles;
        bool dense;
        fk::TensorView<fk::half const> w;
        unsigned first_plane;
        float* out;
    };
    struct Shared {
        Weights weights;
    };
    __device__ static void run(Params const& params, Shared& shared, unsigned thread, unsigned) {
        shared.weights.stage(params.tiles, params.dense, params.w, params.first_plane, thread);
        hip::commit_copies();
        hip::wait_for_groups<0>();
        __syncthreads();
        float weights[3][5][1];
        shared.weights.template load<1>(params.dense, static_cast<int>(thread), weights);
        for (unsigned i = 0; i < 15; ++i) params.out[thread * 15 + i] = weights[i / 5][i % 5][0];
    }
};

void check_rows(int n, int c, int h, int w, int vector, unsigned first_plane, int top, int left, int rows) {
    hip::Device device = gpu();
    fk::Layout<4> const layout = fk::nhwc(n, h, w, c);
    auto const number = [](int image, int k, int row, int column) {
        return static_cast<float>((image * 31 + k * 17 + row * 7 + column * 3) % 997 + 1);
    };
    std::vector<fk::half> x(static_cast<std::size_t>(layout.size()));
    for (int i = 0; i < n * c * h * w; ++i) {
        int const k = i % c, column = i / c % w, row = i / c / w % h, image = i / c / w / h;
        x[static_cast<std::size_t>(layout.offset({{image, k, row, column}}))] = fk::half(number(image, k, row, column));
    }
    Array<fk::half> const of_x(device, x);
    Array<float> const out(device, static_cast<std::size_t>(rows * halo_columns * Tiles::planes), -7.0f);
    Tiles tiles;
    tiles.channels = hip::FastDivmod(static_cast<std::uint32_t>(c));
    tiles.halo_columns = halo_columns, tiles.ring_rows = ring_rows, tiles.vector = vector;
    tiles.copied_columns = threads_of_cta / (Tiles::planes / vector);
    run_blocks<CopyRows>(device, {tiles, {of_x.data(), layout}, first_plane, top, left, rows, out.data()});
    auto const found = out.values();
    int wrong = 0;
    for (int i = 0; i < rows * halo_columns * Tiles::planes; ++i) {
        int const plane = static_cast<int>(first_plane) + i % Tiles::planes, k = plane % c, image = plane / c,
                  column = left + i / Tiles::planes % halo_columns, row = top + i / Tiles::planes / halo_columns;
        if (image >= n) continue;  // planes that do not exist are not stored
        bool const exists = row >= 0 && row < h && column >= 0 && column < w;
        wrong += found[static_cast<std::size_t>(i)] != (exists ? number(image, k, row, column) : 0);
    }
    CAPTURE(n, c, h, w, vector, first_plane, top, left, rows);
    CHECK(wrong == 0);
}

template <bool rotated>
void check_weights(int c, bool dense, unsigned first_plane) {
    hip::Device device = gpu();
    int const pitch = dense ? 15 : 17;
    auto const number = [](int k, int tap) { return static_cast<float>((k * 31 + tap * 7) % 997 + 1); };
    std::vector<fk::half> w(static_cast<std::size_t>(c * pitch), fk::half(-1.0f));
    for (int k = 0; k < c; ++k)
        for (int i = 0; i < 15; ++i) w[static_cast<std::size_t>(k * pitch + i)] = fk::half(number(k, i));
    Array<fk::half> const of_w(device, w);
    fk::TensorView<fk::half const> view(of_w.data(), {{{c, 1, 3, 5}}, {pitch, 1, 5, 1}});
    if (rotated) {
        view.data += 14;
        view.layout.stride[2] = -5, view.layout.stride[3] = -1;
    }
    Array<float> const out(device, Tiles::planes * 15, -7.0f);
    Tiles tiles;
    tiles.channels = hip::FastDivmod(static_cast<std::uint32_t>(c));
    tiles.weights = hip::FastDivmod(static_cast<std::uint32_t>(15 * c)), tiles.threads = threads_of_cta;
    run_blocks<WriteWeights<rotated>>(device, {tiles, dense, view, first_plane, out.data()});
    int wrong = 0;
    for (int i = 0; i < Tiles::planes * 15; ++i)
        wrong += out.values()[static_cast<std::size_t>(i)] !=
                 number((static_cast<int>(first_plane) + i / 15) % c, rotated ? 14 - i % 15 : i % 15);
    CAPTURE(c, dense, rotated, first_plane);
    CHECK(wrong == 0);
}

}  // namespace

TEST_CASE("HIP: rows of x pass a ring in SMEM, with zeros in the padding and planes of several images") {
    check_rows(1, 64, 7, 13, 8, 0, -1, -1, 7);
    check_rows(3, 40, 5, 6, 8, 40, -2, 2, 9);  // planes of two images
    check_rows(2, 36, 9, 9, 4, 64, 1, -3, 6);  // the last planes do not exist
    check_rows(2, 34, 4, 20, 2, 0, 2, 9, 5);
}

TEST_CASE("HIP: the weights of a CTA's planes are staged, dense or strided or rotated") {
    for (unsigned const first_plane : {0u, 64u}) {
        check_weights<false>(64, true, first_plane), check_weights<false>(40, false, first_plane);
        check_weights<true>(96, true, first_plane), check_weights<true>(40, false, first_plane);
    }
}
