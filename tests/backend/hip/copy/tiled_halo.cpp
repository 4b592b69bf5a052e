// SPDX-License-Identifier: MIT
#include "fusekit/backend/hip/copy/tiled_halo.hpp"

#include <cstring>

#include "backend/hip/copy/dumped_halos.hpp"

using namespace test;
namespace hip = fk::hip;

namespace {

constexpr int filter_bytes = 64 * 128, halo_bytes = 24 * 1024;
using Plan = fk::Plan<fk::Conv<fk::filter(3, 3).pad(1)>>;
using Shape = hip::HaloShape<64>;

/// Loader of the tiles of one CTA, and of their filters: all taps once, or tap by tap with each 64 channels of x.
struct Loader {
    using Params = hip::ConvParams<Plan, fk::half>;
    struct Shared {
        alignas(1024) unsigned char filters[9 * filter_bytes];
        alignas(1024) unsigned char halos[halo_bytes];
        hip::TmaPipeline<9, 1> filter_pipeline;
        hip::TmaPipeline<2, 1> pipeline;

        __device__ void init() { filter_pipeline.init(), pipeline.init(); }
        __device__ std::uint32_t halo(hip::TiledHalo const& tiles, int stage) {
            return hip::ptx::shared_address(halos) + static_cast<unsigned>(stage * tiles.stage_bytes);
        }
    };
    template <class Problem>
    __device__ static void load(Params const& params, Problem const& conv, Shared& shared) {
        hip::load_tiled_halos<false, filter_bytes>(params, conv, shared, 0);
    }
    template <class Problem, class Copy>
    __device__ static void each_stage(Params const& params, Problem const&, Shared& shared, bool releases,
                                      Copy const& copy, unsigned char* filters, unsigned char* halos) {
        hip::TiledHalo const& tiles = params.tiled_halo;
        if (!tiles.streams_filters()) {
            shared.filter_pipeline.consumer_wait(0, 0);
            copy(filters, shared.filters, tiles.taps * filter_bytes);
        }
        hip::DynamicPipelineState state{tiles.stages};
        typename decltype(shared.filter_pipeline)::State slot;
        int number = 0;
        for (unsigned tile = 0; tile < tiles.all; ++tile)
            for (int block = 0; block < tiles.blocks; ++block, ++number, state.advance()) {
                shared.pipeline.consumer_wait(state);
                copy(halos + number * tiles.stage_bytes, shared.halos + state.stage * tiles.stage_bytes,
                     tiles.stage_bytes);
                if (releases) shared.pipeline.consumer_release(state.stage);
                for (int tap = 0; tap < tiles.taps && tiles.streams_filters(); ++tap, slot.advance()) {
                    shared.filter_pipeline.consumer_wait(slot);
                    copy(filters + (number * tiles.taps + tap) * filter_bytes,
                         shared.filters + static_cast<int>(slot.stage) * filter_bytes, filter_bytes);
                    if (releases) shared.filter_pipeline.consumer_release(slot.stage);
                }
            }
    }
};

void check(int n, int c, int p, int q, int k, bool splits_rows) {
    using Body = DumpHalos<Loader::Params, Loader>;
    hip::Device device = sm90a_device();
    fk::Filter<2> const filter = fk::filter(3, 3).pad(1);
    Shape const shape = Shape::of(p, q, filter, halo_bytes, false);
    REQUIRE(shape.splits_rows == splits_rows);
    fk::Layout<4> const of_x = fk::nhwc(n, p, q, c), of_w = fk::krsc(k, 3, 3, c), of_y = fk::nhwc(n, p, q, k);
    hip::TiledHalo const tiles(shape, c, of_y.shape, halo_bytes, 2);
    REQUIRE((k <= 64 && tiles.stages >= 1));
    auto const stages = static_cast<int>(tiles.all) * tiles.blocks;
    Array<fk::half> const x(device, numbers_of(of_x)), w(device, numbers_of(of_w)),
        y(device, static_cast<std::size_t>(of_y.size()), fk::half(0.0f));
    int const of_filters = tiles.streams_filters() ? stages : 1;
    Array<unsigned char> const filters(device, static_cast<std::size_t>(of_filters * 9 * filter_bytes), 0xff),
        halos(device, static_cast<std::size_t>(stages * tiles.stage_bytes), 0xff);
    auto const bound = Plan::bind({.weights = fk::TensorView<fk::half const>(w.data(), of_w)});
    Body::Params params{{bound, {x.data(), of_x}, {y.data(), of_y}}, filters.data(), halos.data()};
    REQUIRE(hip::encode_rows<false>(params.conv.maps, params.conv.x, fk::TensorView<fk::half const>(w.data(), of_w),
                                    params.conv.y, shape, 64));
    params.conv.tiled_halo = tiles;
    REQUIRE(hip::kernel_of<Abs, Body>().is_launchable(device.gpu().index()));
    run_blocks<Body>(device, params);

    auto const found = halos.values(), of_w_found = filters.values();
    int wrong = 0;
    for (int i = 0; i < of_filters * 9; ++i)
        for (int row = 0; row < k; ++row)
            for (int e = 0; e < 64; ++e) {
                int const channel = i / 9 % tiles.blocks * 64 + e;
                wrong += swizzled_element(of_w_found, static_cast<std::size_t>(i * filter_bytes), row, e) !=
                         (channel < c ? number_of(row, channel, i % 9 / 3, i % 3) : 0);
            }
    int const across = shape.tiles_of_row(q), of_image = shape.tiles_of_image(p, q);
    for (int stage = 0; stage < stages; ++stage) {
        int const tile = stage / tiles.blocks, image = tile / of_image,
                  first_row = tile % of_image / across * shape.rows,
                  first_column = tile % of_image % across * shape.columns;
        for (int i = 0; i < shape.rows_of_x() * shape.pitch; ++i)
            for (int e = 0; e < 64; ++e) {
                int const row = first_row + i / shape.pitch - 1, column = first_column + i % shape.pitch - 1,
                          channel = stage % tiles.blocks * 64 + e;
                bool const exists = row >= 0 && row < p && column >= 0 && column < q && channel < c;
                wrong += swizzled_element(found, static_cast<std::size_t>(stage * tiles.stage_bytes), i, e) !=
                         (exists ? number_of(image, channel, row, column) : 0);
            }
    }
    CAPTURE(n, c, p, q, k);
    CHECK(wrong == 0);
}

}  // namespace

// Filters that stay in SMEM and filters that are loaded with each 64 channels of x; ranges of columns.
TEST_CASE("HIP: TMA loads tiles of x with their halos, 64 channels at a time, and their filters") {
    check(2, 64, 7, 9, 64, false);
    check(1, 40, 5, 90, 24, true);
    check(2, 136, 7, 9, 40, false);
    check(1, 72, 4, 90, 64, true);
}
