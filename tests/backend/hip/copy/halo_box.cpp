// SPDX-License-Identifier: MIT
#include "fusekit/backend/hip/copy/halo_box.hpp"

#include <cstring>

#include "backend/hip/copy/dumped_halos.hpp"

using namespace test;
namespace hip = fk::hip;

namespace {

constexpr int filter_bytes = 64 * 128;
using Shape = hip::HaloShape<64>;

/// Loader of the filters of all taps and of the tiles of one CTA, through two stages.
template <class Plan>
struct Loader {
    using Params = hip::ConvParams<Plan, fk::half>;
    struct Shared {
        alignas(1024) unsigned char filters[9 * filter_bytes];
        alignas(1024) unsigned char halos[2 * 16 * 1024];
        hip::TmaStages<1> filters_full;
        hip::TmaPipeline<2, 1> pipeline;

        __device__ void init() {
            filters_full.init();
            pipeline.init();
        }
    };
    template <class Problem>
    __device__ static auto tiles_of(Problem const& conv) {
        return hip::HaloTiles<Shape>(conv, 2 * 16 * 1024, 2);
    }
    template <class Problem>
    __device__ static void load(Params const& params, Problem const& conv, Shared& shared) {
        hip::load_halos<hip::has_transposed_conv<Plan>, filter_bytes>(params, conv, shared, tiles_of(conv),
                                                                      hip::HaloGroup<false>(conv, 0));
    }
    template <class Problem, class Copy>
    __device__ static void each_stage(Params const&, Problem const& conv, Shared& shared, bool releases,
                                      Copy const& copy, unsigned char* filters, unsigned char* halos) {
        shared.filters_full.consumer_wait(0, 0);
        copy(filters, shared.filters, conv.taps() * filter_bytes);
        auto const tiles = tiles_of(conv);
        int const bytes = tiles.shape.stage_bytes();
        hip::DynamicPipelineState state{tiles.stages};
        for (unsigned tile = 0; tile < tiles.all; ++tile, state.advance()) {
            shared.pipeline.consumer_wait(state);
            copy(halos + static_cast<int>(tile) * bytes, shared.halos + state.stage * bytes, bytes);
            if (releases) shared.pipeline.consumer_release(state.stage);
        }
    }
};

template <auto Filter, bool transposed>
void check(int n, int c, int p, int q, int k) {
    using Head = std::conditional_t<transposed, fk::TransposedConv<Filter>, fk::Conv<Filter>>;
    using Plan = fk::Plan<Head>;
    using Body = DumpHalos<typename Loader<Plan>::Params, Loader<Plan>>;
    hip::Device device = sm90a_device();
    constexpr auto geometry = [] {
        if constexpr (transposed) return fk::detail::TransposedFilter<2, false>(Filter);
        else return Filter;
    }();
    fk::Filter<2> const filter = fk::detail::window_filter(geometry);  // over x, in both cases
    int const r = filter.size[0], s = filter.size[1], h = p + r - 1 - filter.pad_before[0] - filter.pad_after[0],
              width = q + s - 1 - filter.pad_before[1] - filter.pad_after[1];
    Shape const shape(p, q, filter);
    fk::Layout<4> const of_x = fk::nhwc(n, h, width, c),
                        of_w = transposed ? fk::krsc(c, r, s, k) : fk::krsc(k, r, s, c), of_y = fk::nhwc(n, p, q, k);
    int const tiles = n * ((p + shape.rows - 1) / shape.rows);
    Array<fk::half> const x(device, numbers_of(of_x)), w(device, numbers_of(of_w)),
        y(device, static_cast<std::size_t>(of_y.size()), fk::half(0.0f));
    Array<unsigned char> const filters(device, static_cast<std::size_t>(r * s * filter_bytes), 0xff),
        halos(device, static_cast<std::size_t>(tiles * shape.stage_bytes()), 0xff);
    auto const bound = Plan::bind({.weights = fk::TensorView<fk::half const>(w.data(), of_w)});
    typename Body::Params params{{bound, {x.data(), of_x}, {y.data(), of_y}}, filters.data(), halos.data()};
    auto const stored = fk::detail::typed<fk::half>(Plan::Head::filters(params.conv.bound.head)),
               view = transposed ? fk::transposed(stored, 0, 1) : stored;
    REQUIRE(hip::encode_rows<transposed>(params.conv.maps, params.conv.x, view, params.conv.y, shape, 64));
    REQUIRE(hip::kernel_of<Abs, Body>().is_launchable(device.gpu().index()));
    run_blocks<Body>(device, params);

    int wrong = 0;
    auto const of_filters = filters.values(), found = halos.values();
    for (int tap = 0; tap < r * s; ++tap)
        for (int i = 0; i < 64; ++i)
            for (int e = 0; e < 64; ++e) {
                int const of_w_tap = transposed ? r * s - 1 - tap : tap;
                // Rows are channels of y, or for a transposed convolution of x. Results of rows and elements past y's
                // last channel are not stored: they may have any values.
                if ((transposed ? e : i) >= k) continue;
                float const expected = transposed ? i < c ? number_of(i, e, of_w_tap / s, of_w_tap % s) : 0
                                       : e < c    ? number_of(i, e, of_w_tap / s, of_w_tap % s)
                                                  : 0;
                wrong += swizzled_element(of_filters, static_cast<std::size_t>(tap * filter_bytes), i, e) != expected;
            }
    int const of_image = tiles / n;
    for (int tile = 0; tile < tiles; ++tile)
        for (int i = 0; i < shape.rows_of_x() * shape.pitch; ++i)
            for (int e = 0; e < 64; ++e) {
                int const row = tile % of_image * shape.rows + i / shape.pitch - filter.pad_before[0],
                          column = i % shape.pitch - filter.pad_before[1];
                bool const exists = row >= 0 && row < h && column >= 0 && column < width && e < c;
                wrong += swizzled_element(found, static_cast<std::size_t>(tile * shape.stage_bytes()), i, e) !=
                         (exists ? number_of(tile / of_image, e, row, column) : 0);
            }
    CAPTURE(n, c, p, q, k, r, s, transposed);
    CHECK(wrong == 0);
}

}  // namespace

TEST_CASE("HIP: TMA loads the filters of all taps, and tiles of whole rows of x with their halos") {
    check<fk::filter(3, 3).pad(1), false>(2, 64, 7, 9, 64);
    check<fk::filter(2, 3).pad(0, 2, 1, 0), false>(3, 40, 5, 7, 24);
    check<fk::filter(1, 5).pad(0, 2), false>(1, 8, 11, 13, 64);
    check<fk::filter(3, 3).pad(1), true>(2, 64, 7, 9, 64);
    check<fk::filter(3, 2).pad(1, 0), true>(1, 40, 5, 11, 24);
}
