// SPDX-License-Identifier: MIT
#include "fusekit/backend/hip/collective/reduction_segment.hpp"

#include "backend/hip/blocks.hpp"

using namespace test;
using fk::hip::FastDivmod, fk::hip::Pattern;

namespace {

/// Each CTA visits the elements of one segment.
template <class Plan, int lanes, Pattern pattern>
struct VisitElements : BlockOf<64> {
    using Segment = fk::hip::ReductionSegment<Plan, float, float, lanes, pattern>;
    struct Params {
        fk::hip::ReductionParams<Plan, float> reduction;
        unsigned *visits, *indices, *totals;  ///< per element of y: number of visits, index in N x K x P x Q, and total
    };
    struct Shared {};
    __device__ static void run(Params const& params, Shared&, unsigned thread, unsigned block) {
        fk::Index<4> const& shape = params.reduction.y.layout.shape;
        auto const number = [&](fk::OutputCoord const& at) {
            return static_cast<unsigned>(((at.n * shape[1] + at.k) * shape[2] + at.p) * shape[3] + at.q);
        };
        for (unsigned column = 0; column < params.reduction.width; ++column) {
            Segment const segment(params.reduction, block, column);
            for (unsigned step = thread; step < segment.steps(); step += threads) {
                auto const packet = segment.locate(step);
                unsigned count = 0;
                for (int lane = 0; lane < lanes; ++lane) {
                    if (!segment.has(packet, lane)) continue;
                    atomicAdd(&params.visits[packet.y + lane], 1u);
                    params.indices[packet.y + lane] = number(segment.coord(step, lane));
                    params.totals[packet.y + lane] = number(segment.first_coord(lane % Segment::totals));
                    ++count;
                }
                if (count / Segment::totals != segment.count(packet)) atomicAdd(&params.visits[packet.y], 100u);
                if (segment.whole(packet) != (count == lanes)) atomicAdd(&params.visits[packet.y], 1000u);
            }
        }
    }
};

using Spatial = fk::Plan<fk::BatchNormTraining<fk::Spatial>>;
using PerActivation = fk::Plan<fk::BatchNormTraining<fk::PerActivation>>;

/// Visits all segments of a tensor, and compares the coordinates with its layout.
template <class Plan, int lanes, Pattern pattern>
void check_segments(fk::Layout<4> const& layout, unsigned width) {
    constexpr bool per_pixel = std::is_same_v<Plan, PerActivation>;
    fk::Index<4> const shape = layout.shape;
    std::int64_t const plane = shape[2] * shape[3], image = shape[1] * plane;
    bool const channels_last = fk::channels_last(layout), by_columns = per_pixel || channels_last;
    fk::hip::Device device = gpu();
    Floats const tensor(device, layout);
    auto const bound = [&] {
        if constexpr (per_pixel) {
            fk::TensorView<float const, 3> const each(nullptr, fk::chw(shape[1], shape[2], shape[3]));
            return Plan::bind({.scale = each, .shift = each});
        } else {
            fk::TensorView<float const, 1> const each(nullptr, fk::channels(shape[1]));
            return Plan::bind({.scale = each, .shift = each});
        }
    }();
    auto const size = static_cast<std::size_t>(layout.span());
    Array<unsigned> const visits(device, size, 0), indices(device, size, 0), totals(device, size, 0);

    fk::TensorView<float> const y(const_cast<float*>(tensor.const_view().data), layout);
    fk::hip::ReductionParams<Plan, float> params{bound, y, y, y, {}, by_columns, {layout.shape, channels_last}};
    params.width = width;
    std::int64_t segments = shape[1];
    if (by_columns) {
        params.columns = static_cast<unsigned>((per_pixel ? image : shape[1]) / lanes);
        params.steps = static_cast<unsigned>(per_pixel ? shape[0] : shape[0] * plane);
        segments = (params.columns + width - 1) / width;
    } else {
        bool const cut = plane % lanes != 0;
        params.packets[0] = FastDivmod(static_cast<unsigned>((plane + lanes - 1) / lanes));
        params.packets[1] = FastDivmod(static_cast<unsigned>((plane + (cut ? 2 * lanes - 2 : lanes - 1)) / lanes));
        params.steps = static_cast<unsigned>(pattern == Pattern::planes ? shape[0] : shape[0] * plane);
    }
    run_blocks<VisitElements<Plan, lanes, pattern>>(device, {params, visits.data(), indices.data(), totals.data()},
                                                    segments);

    auto const where = indices.values(), whose = totals.values();
    int wrong = 0;
    for (std::int64_t number = 0; number < layout.size(); ++number) {
        fk::Index<4> const at{
            {number / image, number / plane % shape[1], number % plane / shape[3], number % shape[3]}};
        auto const element = static_cast<std::size_t>(layout.offset(at));
        wrong += where[element] != number;
        wrong += whose[element] != (per_pixel ? number % image : at[1] * plane);
    }
    CAPTURE(fk::to_string(shape).c_str(), channels_last, width, lanes);
    CHECK(wrong == 0);
    auto const often = visits.values();
    for (unsigned const visited : often) wrong += visited > 1;
    CHECK(wrong == 0);
    std::int64_t sum = 0;
    for (unsigned const visited : often) sum += visited;
    CHECK(sum == layout.size());
}

}  // namespace

TEST_CASE("HIP: segments of planes (NCHW) cover every element once") {
    for (std::int64_t const rows : {1, 2, 3, 4}) {
        check_segments<Spatial, 4, Pattern::planes>(fk::nchw(3, 5, rows, 7), 1);
        check_segments<Spatial, 8, Pattern::planes>(fk::nchw(3, 8, rows, 3), 1);
        check_segments<Spatial, 1, Pattern::planes>(fk::nchw(2, 3, rows, 5), 1);
    }
}

TEST_CASE("HIP: segments of columns (NHWC) cover every element once") {
    check_segments<Spatial, 4, Pattern::columns>(fk::nhwc(2, 3, 5, 24), 4);  // the last segment is partial
    check_segments<Spatial, 2, Pattern::columns>(fk::nhwc(2, 3, 5, 8), 1);
    check_segments<PerActivation, 4, Pattern::columns>(fk::nchw(3, 4, 3, 7), 8);
    check_segments<PerActivation, 4, Pattern::columns>(fk::nhwc(3, 3, 7, 4), 2);
}

TEST_CASE("HIP: segments of arbitrary strides cover every element once") {
    fk::Layout<4> const gaps{{{2, 3, 4, 5}}, {{200, 7, 40, 1}}};
    check_segments<Spatial, 1, Pattern::any>(fk::nchw(2, 3, 4, 5), 1);
    check_segments<Spatial, 1, Pattern::any>(gaps, 1);
    check_segments<Spatial, 1, Pattern::any>(fk::nhwc(2, 4, 5, 3), 2);
    check_segments<PerActivation, 1, Pattern::any>(gaps, 8);
}
