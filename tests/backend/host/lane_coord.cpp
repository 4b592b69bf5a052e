// SPDX-License-Identifier: MIT
#include "fusekit/backend/host/lane_coord.hpp"

#include <catch2/catch_test_macros.hpp>
#include <numeric>
#include <vector>

#include "fusekit/fusekit.hpp"

namespace fk = fusekit;
using namespace fusekit::host;
using fusekit::detail::Axis;

namespace {

std::vector<float> numbers(std::int64_t count) {
    std::vector<float> values(static_cast<std::size_t>(count));
    std::iota(values.begin(), values.end(), 1.0f);
    return values;
}

bool same(fk::OutputCoord const& a, fk::OutputCoord const& b) {
    return a.n == b.n && a.k == b.k && a.p == b.p && a.q == b.q;
}

/// Each valid lane loads the value at its own coordinate, the others zero; and stores there, and nowhere else.
template <Axis axis, class T>
void check(fk::Layout<4> const& layout, LaneCoord<axis> const& at) {
    auto const values = numbers(layout.span());
    std::vector<T> elements(values.begin(), values.end());
    fk::TensorView<T> const view(elements.data(), layout);
    Vector const loaded = at.load(fk::AnyView<4>(view.const_view()));
    for (int lane = 0; lane < lanes; ++lane) {
        fk::OutputCoord const own = at.lane(lane);
        CHECK(loaded[lane] == (lane < at.count ? float(view(own.n, own.k, own.p, own.q)) : 0.0f));
    }
    std::vector<T> written(elements.size(), T(-1.0f));
    at.store(fk::AnyOutput(fk::TensorView<T>(written.data(), layout)), loaded);
    std::vector<T> expected(elements.size(), T(-1.0f));
    for (int lane = 0; lane < at.count; ++lane) {
        fk::OutputCoord const own = at.lane(lane);
        auto const index = static_cast<std::size_t>(layout.offset({{own.n, own.k, own.p, own.q}}));
        expected[index] = elements[index];
    }
    int wrong = 0;
    for (std::size_t i = 0; i < written.size(); ++i) wrong += float(written[i]) != float(expected[i]);
    CHECK(wrong == 0);
}

template <class T>
void check_all(std::int64_t rows, std::int64_t columns) {
    for (int const count : {lanes, lanes - 1, 1}) {
        for (auto const& layout : {fk::nchw(2, 2 * lanes, rows, columns), fk::nhwc(2, rows, columns, 2 * lanes)}) {
            check<Axis::channel, T>(layout, {{1, 3, rows - 1, columns - 1}, count, columns});
            auto gaps = layout;
            for (std::int64_t& stride : gaps.stride.values) stride *= 2;
            check<Axis::channel, T>(gaps, {{1, 0, 0, 1}, count, columns});
        }
        std::int64_t const high = (2 * lanes + columns) / columns + 1;  // rows that the lanes reach
        for (auto const& layout : {fk::nchw(2, 3, high, columns), fk::nhwc(2, high, columns, 3)}) {
            check<Axis::pixel, T>(layout, {{1, 2, 0, columns - 1}, count, columns});
            auto gaps = layout;
            gaps.stride[2] += 1, gaps.stride[1] *= 2, gaps.stride[0] *= 3;
            check<Axis::pixel, T>(gaps, {{0, 1, 0, 1}, count, columns});
        }
    }
}

}  // namespace

TEST_CASE("lanes are the channels of a pixel, or pixels row after row") {
    LaneCoord<Axis::channel> const channel{{1, 4, 2, 3}, lanes, 5};
    CHECK(same(channel.lane(0), {1, 4, 2, 3}));
    CHECK(same(channel.lane(3), {1, 7, 2, 3}));
    LaneCoord<Axis::pixel> const pixel{{1, 4, 2, 3}, lanes, 3};  // q past the row's end: the next row
    CHECK(same(pixel.lane(0), {1, 4, 3, 0}));
    CHECK(same(pixel.lane(2), {1, 4, 3, 2}));
    CHECK(same(pixel.lane(3), {1, 4, 4, 0}));
}

TEST_CASE("LaneCoord loads and stores each lane's element, in every type and layout") {
    for (std::int64_t const columns : {2, 3, 7, 40}) {
        check_all<float>(2, columns);
        check_all<fk::half>(2, columns);
        check_all<fk::bfloat16>(1, columns);
        check_all<double>(2, columns);
    }
}

TEST_CASE("lanes load a parameter of their channels") {
    auto const values = numbers(3 * lanes);
    fk::TensorView<float const, 1> const view(values.data(), {{{2 * lanes - 1}}, {{1}}});
    fk::TensorView<float const, 1> const apart(values.data(), {{{lanes}}, {{2}}});
    for (int lane = 0; lane < lanes; ++lane) {
        CHECK(LaneCoord<Axis::channel>{{0, 2, 0, 0}, lanes, 1}.load(fk::AnyView<1>(view))[lane] == 3.0f + lane);
        CHECK(LaneCoord<Axis::channel>{{0, 1, 0, 0}, lanes, 1}.load(fk::AnyView<1>(apart))[lane] == 3.0f + 2 * lane);
        CHECK(LaneCoord<Axis::pixel>{{0, 2, 0, 0}, lanes, 1}.load(fk::AnyView<1>(view))[lane] == 3);
    }
}
