// SPDX-License-Identifier: MIT
#include "fusekit/backend/hip/copy/gathered_filters.hpp"

#include "backend/hip/blocks.hpp"

using namespace test;
namespace hip = fk::hip;

namespace {

/// Copies a stage of filters over ones, and stores its bytes.
struct CopyFilters : BlockOf<96> {
    struct Params {
        fk::TensorView<fk::half const> w;
        hip::GatherTiles tiles;
        int first, channel;
        float* out;
    };
    struct Shared {
        alignas(16) unsigned char stage[40 * 1024];
    };
    __device__ static void run(Params const& params, Shared& shared, unsigned thread, unsigned) {
        auto* const elements = reinterpret_cast<fk::half*>(shared.stage);
        int const all = params.tiles.tile_filters() * params.tiles.filter_pitch() / 2;
        for (int i = static_cast<int>(thread); i < all; i += threads) elements[i] = fk::half(-1.0f);
        __syncthreads();
        hip::GatheredFilters<fk::half, threads>(params.w, params.tiles, thread)
            .copy(params.first, params.channel, shared.stage);
        hip::commit_copies();
        hip::wait_for_groups<0>();
        __syncthreads();
        for (int i = static_cast<int>(thread); i < all; i += threads) params.out[i] = static_cast<float>(elements[i]);
    }
};

void check(fk::Filter<2> const& filter, int c, int k, int first, int channel) {
    hip::Device device = gpu();
    hip::GatherTiles const tiles = hip::gather_tiles({{2, c, 12, 13}}, {{2, k, 6, 7}}, filter, 132);
    REQUIRE(tiles.stages > 0);
    fk::Layout<4> const layout = fk::kcrs(k, c, filter.size[0], filter.size[1]);
    std::vector<fk::half> w;
    for (std::int64_t i = 0; i < layout.size(); ++i) w.push_back(fk::half(static_cast<float>(i % 1999)));
    Array<fk::half> const of_w(device, w);
    int const row = tiles.filter_pitch() / 2, taps = tiles.all_taps, copied = 2 * tiles.slices * taps * 8;
    auto const elements = static_cast<std::size_t>(tiles.tile_filters() * row);
    REQUIRE(elements * 2 <= sizeof(CopyFilters::Shared));
    Array<float> const out(device, elements, -7.0f);
    run_blocks<CopyFilters>(device, {{of_w.data(), layout}, tiles, first, channel, out.data()});
    auto const found = out.values();
    int wrong = 0;
    for (int i = 0; i < tiles.tile_filters() * row; ++i) {
        int const own = first + i / row, element = channel * taps + i % row;
        float const expected = i % row >= copied               ? -1  // the chunk that no bank conflict needs
                               : own < k && element < c * taps ? static_cast<float>((own * c * taps + element) % 1999)
                                                               : 0;
        wrong += found[static_cast<std::size_t>(i)] != expected;
    }
    CAPTURE(filter.size[0], filter.size[1], c, k, first, channel);
    CHECK(wrong == 0);
}

}  // namespace

TEST_CASE("HIP: stages of filters have all taps of their channels, and zeros past the last filter and channel") {
    check(fk::filter(3, 3).pad(1).stride(2), 24, 130, 0, 0);
    check(fk::filter(3, 3).pad(1).stride(2), 24, 130, 128, 16);
    check(fk::filter(1, 3).pad(0, 1).stride(2), 40, 70, 64, 0);
}
