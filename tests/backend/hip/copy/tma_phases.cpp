// SPDX-License-Identifier: MIT
#include "fusekit/backend/hip/copy/tma_phases.hpp"

#include "backend/hip/copy/multiplied_stages.hpp"

using namespace test;
namespace hip = fk::hip;

namespace {

/// Producer of the tiles of all phases.
struct Phases {
    template <class Params, class Problem>
    __device__ static auto of(Params const& params, Problem const& conv) {
        using Maps = std::remove_cvref_t<decltype(params.maps)>;
        return hip::PhaseTiles<Problem, Maps, 64, 64>(conv, params.maps, 0);
    }
    template <class Params, class Problem>
    __device__ static unsigned tiles(Params const& params, Problem const& conv) {
        unsigned count = 0;
        for (auto const all = of(params, conv); all.exists(count);) ++count;
        return count;
    }
    template <class Params, class Problem>
    __device__ static hip::PhaseTile start(Params const& params, Problem const& conv, unsigned i) {
        return of(params, conv)[i];
    }
    template <class Params, class Problem>
    __device__ static unsigned steps(Params const& params, Problem const& conv, unsigned i) {
        return of(params, conv).taps(i) * static_cast<unsigned>((conv.group_c() + 63) / 64);
    }
    template <class Params, class Problem>
    __device__ static int pixel(Params const& params, Problem const& conv, unsigned i, int m) {
        hip::PhaseTile const tile = start(params, conv, i);
        hip::PhasePixels const pixels(conv, params.maps.phases[tile.phase]);
        hip::Pixel const at = pixels.pixel(tile.m + m);
        // next() counts from the tile's first pixel to the same pixel
        hip::Pixel const also = pixels.next(pixels.pixel(tile.m), m);
        if (at.n < 0) return -1;
        if (at.n != also.n || at.p != also.p || at.q != also.q) return 0;
        return (at.n * static_cast<int>(conv.y[2]) + at.p) * static_cast<int>(conv.y[3]) + at.q;
    }
    template <class Params, class Problem, class Stages, class Pipeline, class State>
    __device__ static void load(Params const& params, Problem const& conv, Stages& stages, Pipeline& pipeline,
                                State& state, unsigned i) {
        hip::load_phase_tile(params, conv, stages, pipeline, state, start(params, conv, i));
    }
};

template <auto Filter>
void check(StageExtents const& of) {
    using Plan = fk::Plan<fk::TransposedConv<Filter>>;
    check_stages<MultiplyStages<Plan, 64, 64, Phases>, Plan>(of, Filter, [&](auto& params, auto const& w) {
        fk::Index<4> const& y = params.y.layout.shape;
        hip::detail::set_phases<hip::ConvPhases<typename Plan::Head>>(params.maps, params.x.layout.shape, y, 64,
                                                                      (y[1] + 63) / 64);
        return !hip::detail::unmet_by_phases(params.maps) && hip::encode_phases(params.maps, params.x, w, params.y, 64);
    });
}

}  // namespace

// Phases with different numbers of taps, and without taps; phases of several tiles, of an odd number of pixels.
TEST_CASE("HIP: TMA loads each phase of a strided transposed convolution as a convolution of its own") {
    check<fk::filter(3, 3).pad(1).stride(2)>({2, 72, 5, 7, 64});
    check<fk::filter(4, 3).pad(1, 0).stride(2, 1)>({1, 8, 9, 6, 72});
    check<fk::filter(1, 1).stride(2)>({3, 40, 4, 3, 24});
    check<fk::filter(3, 3).pad(2).stride(2).dilation(2)>({1, 16, 6, 5, 8});
}
