// SPDX-License-Identifier: MIT
#include "fusekit/backend/hip/copy/strip_halo.hpp"

#include <cstring>

#include "backend/hip/copy/dumped_halos.hpp"

using namespace test;
namespace hip = fk::hip;

namespace {

using Plan = fk::Plan<fk::Conv<fk::filter(3, 3).pad(1)>>;
constexpr fk::Filter<2> filter = fk::filter(3, 3).pad(1);

/// Bytes of a tile of x, from a multiple of 1024 bytes on, so that its rows have the swizzle of their own addresses.
__host__ __device__ int x_bytes(hip::HaloStrips const& strips) {
    return (strips.shape.bytes_of_x() + 1023) / 1024 * 1024;
}

/// Loader of the tiles of one CTA through two stages of x and of filters.
struct Loader {
    using Params = hip::ConvParams<Plan, fk::half>;
    struct Shared {
        alignas(1024) unsigned char tiles[2 * 80 * 1024];
        alignas(1024) unsigned char taps[2 * 16 * 1024];
        hip::TmaPipeline<2, 1> x_pipeline, filter_pipeline;

        __device__ void init() { x_pipeline.init(), filter_pipeline.init(); }
        __device__ std::uint32_t x(hip::HaloStrips const& strips, unsigned stage) {
            return hip::ptx::shared_address(tiles) + stage * static_cast<unsigned>(x_bytes(strips));
        }
        template <class Stage>
        __device__ std::uint32_t filters(hip::HaloStrips const& strips, Stage stage) {
            return hip::ptx::shared_address(taps) +
                   static_cast<unsigned>(stage) * static_cast<unsigned>(strips.shape.filter_bytes());
        }
    };
    /// Loads the tiles of x.
    template <class Problem>
    __device__ static void load(Params const& params, Problem const& conv, Shared& shared) {
        hip::load_halo_strips(params, conv, shared, 0);
    }
    template <class Problem, class Copy>
    __device__ static void each_stage(Params const& params, Problem const&, Shared& shared, bool releases,
                                      Copy const& copy, unsigned char*, unsigned char* halos) {
        hip::HaloStrips const& strips = params.halo_strips;
        typename decltype(shared.x_pipeline)::State state;
        for (unsigned number = 0; number < strips.tiles * static_cast<unsigned>(strips.blocks);
             ++number, state.advance()) {
            shared.x_pipeline.consumer_wait(state);
            copy(halos + static_cast<int>(number) * x_bytes(strips),
                 shared.tiles + static_cast<int>(state.stage) * x_bytes(strips), strips.shape.bytes_of_x());
            if (releases) shared.x_pipeline.consumer_release(state.stage);
        }
    }
};
/// Loader of the filters, through two stages.
struct FilterLoader : Loader {
    template <class Problem>
    __device__ static void load(Params const& params, Problem const& conv, Shared& shared) {
        hip::load_strip_filters<false>(params, conv, shared, 0);
    }
    template <class Problem, class Copy>
    __device__ static void each_stage(Params const& params, Problem const&, Shared& shared, bool releases,
                                      Copy const& copy, unsigned char* filters, unsigned char*) {
        hip::HaloStrips const& strips = params.halo_strips;
        int const bytes = strips.shape.filter_bytes();
        hip::DynamicPipelineState state{strips.stages};
        for (int number = 0; number < static_cast<int>(strips.tiles) * strips.blocks * strips.taps;
             ++number, state.advance()) {
            shared.filter_pipeline.consumer_wait(state);
            copy(filters + number * bytes, shared.taps + state.stage * bytes, bytes);
            if (releases) shared.filter_pipeline.consumer_release(state.stage);
        }
    }
};

void check(int n, int c, int p, int q, int k) {
    hip::Device device = sm90a_device();
    fk::Layout<4> const of_x = fk::nhwc(n, p, q, c), of_w = fk::krsc(k, 3, 3, c), of_y = fk::nhwc(n, p, q, k);
    hip::HaloStripShape const shape = hip::HaloStripShape::of(filter, k);
    Array<fk::half> const x(device, numbers_of(of_x)), w(device, numbers_of(of_w));
    fk::TensorView<fk::half const> const view(w.data(), of_w);
    auto const bound = Plan::bind({.weights = view});
    Loader::Params conv{bound, {x.data(), of_x}, {nullptr, of_y}};
    hip::HaloStrips& strips = conv.halo_strips;
    strips.set(shape, c, of_y.shape, filter);
    strips.stages = 2;
    int const of_tile = shape.tile_filters(), filters = k < of_tile ? k : of_tile, tap_bytes = shape.filter_bytes(),
              stages = static_cast<int>(strips.tiles) * strips.blocks;
    REQUIRE((2 * x_bytes(strips) <= 2 * 80 * 1024 && 2 * tap_bytes <= 2 * 16 * 1024));
    REQUIRE(hip::detail::encode_image_rows(conv.maps.x, conv.x, strips.pitch, 1, {}));
    REQUIRE(hip::detail::encode_filters(conv.maps.w, view, 64, static_cast<std::uint32_t>(filters), false));
    Array<unsigned char> const taps(device, static_cast<std::size_t>(stages * strips.taps * tap_bytes), 0xff),
        halos(device, static_cast<std::size_t>(stages * x_bytes(strips)), 0xff);
    auto const run = [&]<class L>(L) {
        using Body = DumpHalos<Loader::Params, L>;
        REQUIRE(hip::kernel_of<Abs, Body>().is_launchable(device.gpu().index()));
        run_blocks<Body>(device, {conv, taps.data(), halos.data()});
    };
    run(Loader{}), run(FilterLoader{});

    auto const found = halos.values(), of_filters = taps.values();
    int wrong = 0;
    int const channel_tiles = static_cast<int>(shape.channel_tiles(k)),
              across = static_cast<int>(shape.tiles_of_row(q)),
              period = p + 2;  // rows of an image, with the two rows that windows of both images read
    for (int stage = 0; stage < stages; ++stage) {
        int const tile = stage / strips.blocks, block = stage % strips.blocks, of_pixels = tile / channel_tiles,
                  first_filter = tile % channel_tiles * of_tile, first = of_pixels / across * 32,
                  left = of_pixels % across * shape.tile_columns() - 1;
        for (int i = 0; i < shape.rows_of_x() * shape.pitch(); ++i)
            for (int e = 0; e < 64; ++e) {
                int const number = first + i / shape.pitch(), row = number % period - 1, image = number / period,
                          column = left + i % shape.pitch(), channel = block * 64 + e;
                bool const exists = image < n && row >= 0 && row < p && column >= 0 && column < q && channel < c;
                wrong += swizzled_element(found, static_cast<std::size_t>(stage * x_bytes(strips)), i, e) !=
                         (exists ? number_of(image, channel, row, column) : 0);
            }
        for (int tap = 0; tap < 9; ++tap)
            for (int row = 0; row < filters && first_filter + row < k; ++row)
                for (int e = 0; e < 64; ++e)
                    wrong +=
                        swizzled_element(of_filters, static_cast<std::size_t>((stage * 9 + tap) * tap_bytes), row, e) !=
                        (block * 64 + e < c ? number_of(first_filter + row, block * 64 + e, tap / 3, tap % 3) : 0);
    }
    CAPTURE(n, c, p, q, k);
    CHECK(wrong == 0);
}

}  // namespace

// Tiles of 8 columns and 128 channels, and of 16 columns and 64 channels; rows of two images in a tile.
TEST_CASE("HIP: TMA loads strips of x with rows of two images, and the filters tap by tap") {
    check(2, 72, 19, 13, 128);
    check(3, 64, 11, 9, 40);
}
