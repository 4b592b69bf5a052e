// SPDX-License-Identifier: MIT
#include "fusekit/backend/hip/copy/nchw_planes.hpp"

#include "backend/hip/blocks.hpp"
#include "backend/hip/sm90a_device.hpp"
#include "fusekit/backend/hip/pipeline/tma_pipeline.hpp"

using namespace test;
namespace hip = fk::hip;

namespace {

/// Eight warps copy all stages of planes of a CTA's tiles, and then each stage is stored: out[stage][element].
template <class Plan, class T, int pixels, int parts>
struct CopyPlanes : BlockOf<256> {
    using Architecture = hip::arch::Sm90a;
    using Tiles = hip::PlaneTiles<pixels, T>;
    using Grid = hip::PlaneGrid<Tiles, parts, 64>;
    using Copies = hip::PlaneCopies<T, Grid, parts>;
    using Warps = hip::PlaneWarps<Tiles>;
    struct Params {
        hip::ConvParams<Plan, T> conv;
        T* out;
    };
    struct DynamicShared {
        alignas(128) unsigned char planes[64 * 1024];
        hip::TmaStages<1> full[Warps::groups];
    };
    __device__ static void run(Params const& params, DynamicShared& shared, unsigned thread, unsigned block) {
        auto const conv = params.conv.problem();
        fk::Index<4> const& x = conv.x.layout.shape;
        Tiles const tiles(conv.y[2], conv.y[3], x[2], x[3], conv.filter, conv.y[0]);
        Grid const grid(conv, tiles);
        if (thread == 0) {
            for (auto& each : shared.full) each.init(Copies::lanes);
            hip::ptx::fence_mbarrier_init();
        }
        __syncthreads();
        auto const& full = shared.full[thread / 32 / Warps::sharing];
        Copies copies(conv.x, tiles, grid, thread / 32, thread % 32, block);
        auto* const planes = reinterpret_cast<T*>(shared.planes);
        int const elements = tiles.plane_bytes(parts) / static_cast<int>(sizeof(T));
        unsigned phase = 0;
        for (typename Grid::Step step(grid, block); step.is_valid(); step.advance(), phase ^= 1) {
            copies.begin(planes, full.barrier(0));
            full.consumer_wait(0, phase);
            __syncthreads();
            T* const to = params.out + (static_cast<int>(step.tile) * grid.channel_blocks() + step.block) * elements;
            for (int i = static_cast<int>(thread); i < elements; i += threads) to[i] = planes[i];
            __syncthreads();
        }
        copies.begin(planes, full.barrier(0));  // after the last block it does nothing
    }
};

template <auto Filter, class T, int pixels, int parts>
void check(fk::Layout<4> const& of_x) {
    using Plan = fk::Plan<fk::Conv<Filter>>;
    using Body = CopyPlanes<Plan, T, pixels, parts>;
    using Tiles = typename Body::Tiles;
    hip::Device device = sm90a_device();
    fk::Index<4> const& x = of_x.shape;
    Tiles const tiles(x[2], x[3], x[2], x[3], Filter, x[0]);
    REQUIRE(tiles.plane_bytes(parts) <= 64 * 1024);
    std::vector<T> values;
    for (std::int64_t i = 0; i < of_x.size(); ++i) values.push_back(T(static_cast<float>(i % 1999)));
    for (int i = 0; i < 16; ++i) values.push_back(T(0.0f));  // a copy's whole 16 bytes may end after x
    int const blocks = static_cast<int>((x[1] + Tiles::channels - 1) / Tiles::channels),
              count = (tiles.of_image * tiles.images + parts - 1) / parts,
              elements = tiles.plane_bytes(parts) / static_cast<int>(sizeof(T));
    Array<T> const in(device, values), out(device, static_cast<std::size_t>(count * blocks * elements), T(-7.0f));
    auto const bound = Plan::bind({.weights = fk::TensorView<T const>(in.data(), fk::kcrs(64, x[1], 3, 3))});
    REQUIRE(hip::kernel_of<Abs, Body>().is_launchable(device.gpu().index()));
    run_blocks<Body>(device, {{bound, {in.data(), of_x}, {nullptr, fk::nchw(x[0], 64, x[2], x[3])}}, out.data()}, 2);
    auto const found = out.values();
    int wrong = 0;
    for (int tile = 0; tile < count; ++tile)
        for (int part = 0; part < parts; ++part) {
            int const number = tile * parts + part;
            if (number >= tiles.of_image * tiles.images) continue;
            int const n = number / tiles.of_image, first = tiles.first_row_of_x(number % tiles.of_image * tiles.rows),
                      end = tiles.end_row_of_x(number % tiles.of_image * tiles.rows);
            for (int c = 0; c < x[1]; ++c)
                for (int i = first * tiles.x_width; i < end * tiles.x_width; ++i) {
                    int const own = c % Tiles::channels, at = (tile * blocks + c / Tiles::channels) * elements +
                                                              (part * Tiles::channels + own) * tiles.plane_pitch() +
                                                              tiles.early(own, first) + i - first * tiles.x_width;
                    auto const element = n * of_x.stride[0] + c * of_x.stride[1] + i;
                    wrong +=
                        static_cast<float>(found[static_cast<std::size_t>(at)]) != static_cast<float>(element % 1999);
                }
        }
    CAPTURE(x[0], x[1], x[2], x[3], tiles.rows, tiles.of_image);
    CHECK(wrong == 0);
}

}  // namespace

TEST_CASE("HIP: rows of planes are copied from multiples of 16 bytes on, and whole images at once") {
    check<fk::filter(3, 3).pad(1), fk::half, 128, 1>(fk::nchw(2, 72, 9, 13));
    check<fk::filter(3, 3).pad(1), fk::half, 128, 1>(fk::nchw(1, 8, 31, 9));
    check<fk::filter(3, 3).pad(1), fk::half, 64, 2>(fk::nchw(3, 72, 7, 7));
    check<fk::filter(3, 3).pad(1), float, 64, 1>(fk::nchw(2, 40, 9, 7));
}
