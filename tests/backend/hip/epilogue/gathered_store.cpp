// SPDX-License-Identifier: MIT
#include "fusekit/backend/hip/epilogue/gathered_store.hpp"

#include "backend/hip/epilogue/stored_planes.hpp"
#include "fusekit/backend/hip/atom/wgmma.hpp"

using namespace test;
namespace hip = fk::hip;

namespace {

/// One warpgroup stores tiles of 64 channels x 240 positions, with gaps between rows and images. If `by_quads`, it
/// stores four positions at a time, as split-K does.
template <auto Filter, bool by_quads>
struct StorePositions : BlockOf<128> {
    using Architecture = hip::arch::Sm90a;
    using Plan = planes::Plan<Filter>;
    using Atom = hip::Wgmma<fk::half, 120>;
    using Writer = hip::GatheredStore<Plan, Atom, fk::half>;
    struct Params {
        hip::ConvParams<Plan, fk::half> conv;
    };
    struct Shared {
        typename Writer::Shared writer;
    };

    __device__ static float value(hip::GatherTiles const& tiles, int k, unsigned position) {
        if (!tiles.is_pixel(position)) return planes::nowhere;
        std::uint32_t const element = tiles.elements_before(position), plane = tiles.of_plane.value();
        return planes::sum_at(static_cast<int>(element / plane), k, static_cast<int>(element % plane));
    }
    __device__ static void run(Params const& params, Shared& shared, unsigned thread, unsigned block) {
        hip::GatherTiles const& tiles = params.conv.gather;
        unsigned const columns = (static_cast<unsigned>(params.conv.y.layout.shape[1]) + 63) / 64;
        int const first = static_cast<int>(block % columns) * 64;
        unsigned const start = block / columns * hip::GatherTiles::pixels;
        if constexpr (by_quads) {
            fk::Index<4> const &shape = params.conv.y.layout.shape, &stride = params.conv.y.layout.stride;
            auto const& arguments = params.conv.bound.epilogue;
            for (unsigned i = 4 * thread; i < hip::GatherTiles::pixels; i += 4 * threads)
                for (int k = first; k < first + 64 && k < shape[1]; ++k) {
                    auto const state = Plan::Epilogue::prepare(std::int64_t{k}, arguments);
                    float results[4];
                    for (unsigned j = 0; j < 4; ++j)
                        results[j] = Plan::Epilogue::apply(value(tiles, k, start + i + j), fk::OutputCoord{0, k, 0, 0},
                                                           state, arguments);
                    std::uint32_t const pairs[] = {hip::packed<fk::half>(results[0], results[1]),
                                                   hip::packed<fk::half>(results[2], results[3])};
                    hip::GatheredQuad(tiles, start + i, stride[0])
                        .store(pairs, reinterpret_cast<std::uint16_t*>(params.conv.y.data + k * stride[1]));
                }
            return;
        }
        typename Atom::Accumulators acc[2];
        auto const own = static_cast<int>(thread);
        for (int i = 0; i < 2; ++i)
            for (int e = 0; e < Atom::acc_per_thread; ++e)
                acc[i][e] = value(tiles, first + Atom::row(own, e),
                                  start + static_cast<unsigned>(120 * i + Atom::column(own, e)));
        Writer const writer(params.conv, tiles, first, thread);
        writer.store(acc, start, shared.writer, [] { __syncthreads(); });
    }
};

template <auto Filter, bool by_quads = false>
void check(fk::Layout<4> const& y) {
    using Body = StorePositions<Filter, by_quads>;
    fk::Index<4> const& of = y.shape;
    auto const extent = [&](int mode) {
        return (of[mode + 2] - 1) * Filter.strides[mode] + (Filter.size[mode] - 1) * Filter.dilations[mode] + 1 -
               2 * Filter.pad_before[mode];
    };
    hip::GatherTiles const tiles = hip::gather_tiles({{of[0], 16, extent(0), extent(1)}}, of, Filter, 132);
    REQUIRE(tiles.stages > 0);
    unsigned const ctas = (tiles.positions + hip::GatherTiles::pixels - 1) / hip::GatherTiles::pixels *
                          static_cast<unsigned>((of[1] + 63) / 64);
    planes::check<Body, typename Body::Plan, fk::half>(y, ctas, [&](auto& params) { params.gather = tiles; });
}

}  // namespace

// Odd planes, at odd elements; a tile with pixels of several images; gaps of several rows.
TEST_CASE("HIP: positions of a tile are stored to NCHW planes without the gaps") {
    check<fk::filter(3, 3).pad(1).stride(2)>(fk::nchw(3, 70, 5, 7));
    check<fk::filter(3, 3).pad(2).dilation(2)>(fk::nchw(2, 24, 9, 12));
    check<fk::filter(3, 3).pad(1).stride(2)>(fk::nchw(1, 64, 14, 14));
    check<fk::filter(3, 3).pad(1).stride(2), true>(fk::nchw(3, 70, 5, 7));
    check<fk::filter(3, 3).pad(2).dilation(2), true>(fk::nchw(2, 9, 9, 12));
}
