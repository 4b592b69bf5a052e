// SPDX-License-Identifier: MIT
#include "fusekit/backend/hip/epilogue/phased_store.hpp"

#include <limits>

#include "backend/hip/blocks.hpp"
#include "backend/hip/sm90a_device.hpp"
#include "fusekit/backend/hip/atom/wgmma.hpp"

using namespace test;
namespace hip = fk::hip;

namespace {

constexpr fk::Filter<2> of_y = fk::filter(3, 3).pad(1).stride(2);
using Plan = fk::Plan<fk::TransposedConv<of_y>, fk::Bias, fk::Activation<fk::Relu>>;
using Atom = hip::Wgmma<fk::half, hip::PhasedHaloShape::positions>;
using Writer = hip::PhasedStore<Plan, Atom, fk::half, fk::half>;

__host__ __device__ bool is_nan(int n, int c, int p, int q) { return (n + c * 3 + p * 5 + q * 7) % 29 == 0; }
__host__ __device__ float sum_at(int n, int c, int p, int q) {
    return static_cast<float>((n * 31 + c * 17 + p * 7 + q * 3) % 61 - 30);
}
float bias_of(int channel) { return static_cast<float>(channel % 9 - 4); }

/// A warpgroup stores all tiles of one block of columns. Some accumulators are NaN, as those of an MMA with infinite x
/// are; the store computes them again.
struct StorePhases : BlockOf<128> {
    using Architecture = hip::arch::Sm90a;
    struct Params {
        hip::ConvParams<Plan, fk::half> conv;
    };
    struct Shared {
        Writer::Shared writer;
    };
    __device__ static void run(Params const& params, Shared& shared, unsigned thread, unsigned block) {
        hip::PhasedHaloTiles const& tiles = params.conv.phased_halo;
        fk::Index<4> const& shape = params.conv.y.layout.shape;
        hip::PhasedColumns const columns(tiles, block, of_y.strides[0]);
        Writer const writer(params.conv, columns, shared.writer, thread);
        auto const own = static_cast<int>(thread), channels = static_cast<int>(shape[1]);
        float const nan = std::numeric_limits<float>::quiet_NaN();
        for (unsigned number = 0; number < tiles.tiles_of_block; ++number) {
            hip::PhasedTile const tile(tiles, number);
            typename Atom::Accumulators acc;
            for (int e = 0; e < Atom::acc_per_thread; ++e) {
                int const row = Atom::row(own, e), position = Atom::column(own, e), in_row = row % tiles.width,
                          column = columns.column + in_row, i = columns.row + row / tiles.width,
                          p = (tile.p + (position >> tiles.pitch_bits)) * of_y.strides[0] + i - tiles.origin[0],
                          q = (tile.q + position % tiles.pitch()) * of_y.strides[1] + column / channels -
                              tiles.origin[1],
                          c = column % channels;
                acc[e] = is_nan(tile.n, c, p, q) ? nan : sum_at(tile.n, c, p, q);
            }
            writer.store(acc, tile, [] { __syncthreads(); });
        }
    }
};

/// y of `pitch` elements per pixel, stored `vector` columns at a time.
void check(int n, int p, int q, int c, int pitch, int vector) {
    hip::Device device = sm90a_device();
    fk::Layout<4> of_out = fk::nhwc(n, p, q, c);
    of_out.stride = {{p * q * pitch, 1, q * pitch, pitch}};
    fk::Layout<4> const of_x = fk::nhwc(n, (p + 1) / 2, (q + 1) / 2, 8), of_w = fk::krsc(8, 3, 3, c);
    std::vector<float> biases;
    for (int channel = 0; channel < c; ++channel) biases.push_back(bias_of(channel));
    Array<float> const bias(device, biases);
    auto const elements = static_cast<std::size_t>(n * p * q * pitch);
    Array<fk::half> const out(device, elements, fk::half(-99.0f)),
        x(device, static_cast<std::size_t>(of_x.size()), fk::half(3.0f)),
        w(device, static_cast<std::size_t>(of_w.size()), fk::half(0.0f));
    auto const bound = Plan::bind({.weights = fk::TensorView<fk::half const>(w.data(), of_w)},
                                  {.bias = fk::TensorView<float const, 1>(bias.data(), fk::channels(c))}, {});
    hip::ConvParams<Plan, fk::half> params{bound, {x.data(), of_x}, {out.data(), of_out}};
    hip::PhasedHaloShape const shape = hip::phased_halo_shape(of_x.shape, of_out.shape, of_y);
    REQUIRE(shape.stages > 0);
    params.phased_halo.set(shape, n, c, vector);
    run_blocks<StorePhases>(device, {params}, shape.blocks);
    std::vector<float> expected(elements, -99), found;
    for (fk::half const value : out.values()) found.push_back(static_cast<float>(value));
    for (int i = 0; i < n * p * q * c; ++i) {
        int const channel = i % c, column = i / c % q, row = i / c / q % p, image = i / c / q / p;
        // weights are zero: the sum that is computed again is zero
        float const value =
            (is_nan(image, channel, row, column) ? 0 : sum_at(image, channel, row, column)) + bias_of(channel);
        expected[static_cast<std::size_t>(of_out.offset({{image, channel, row, column}}))] = value > 0 ? value : 0;
    }
    int wrong = 0;
    for (std::size_t i = 0; i < elements; ++i) wrong += found[i] != expected[i];
    CAPTURE(n, p, q, c, pitch, vector);
    CHECK(wrong == 0);
}

}  // namespace

TEST_CASE("HIP: columns of all phases are stored to their pixels of y, and those that are not finite computed again") {
    check(2, 18, 22, 8, 8, 8);
    check(1, 10, 14, 4, 4, 4);
    check(1, 12, 8, 2, 2, 2);
    check(3, 7, 9, 3, 3, 1);
    check(1, 9, 11, 5, 7, 1);  // gaps between pixels
    check(1, 6, 10, 48, 48, 8);  // several blocks of columns
}
