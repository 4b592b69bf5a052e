// SPDX-License-Identifier: MIT
#include "fusekit/problem/facts.hpp"

#include <catch2/catch_test_macros.hpp>

namespace fk = fusekit;
using namespace fk::problem;

namespace {

static_assert(channels_are_contiguous(fk::nhwc(2, 4, 5, 3)) && !channels_are_contiguous(fk::nchw(2, 3, 4, 5)));
/// A single channel is not contiguous, but channels-last; channels with stride 2 are not contiguous, but channels-last.
static_assert(!channels_are_contiguous(fk::nhwc(2, 4, 5, 1)) && fk::channels_last(fk::nhwc(2, 4, 5, 1)));
constexpr fk::Layout<4> every_other{{{2, 3, 4, 5}}, {{120, 2, 30, 6}}};
static_assert(!channels_are_contiguous(every_other) && fk::channels_last(every_other));

/// Rows of y are contiguous for any step between columns.
static_assert(planes_are_rows(fk::nchw(2, 3, 4, 5)) && planes_are_rows(fk::nhwc(2, 4, 5, 3)));
static_assert(planes_are_rows(every_other));
constexpr fk::Layout<4> padded{{{2, 3, 4, 5}}, {{72, 24, 6, 1}}};
static_assert(!planes_are_rows(padded));
static_assert(rows_follow(30, 6, 5) && !rows_follow(30, 6, 4));

/// Pixels in order: gaps between rows, or between images of which there are several, break the sequence.
static_assert(pixels_are_equidistant(fk::nhwc(2, 4, 5, 3)) && pixels_are_equidistant(every_other));
static_assert(!pixels_are_equidistant(padded) && !pixels_are_equidistant(fk::nchw(2, 3, 4, 5)));
static_assert(pixels_are_equidistant(fk::nchw(1, 3, 4, 5)));

/// Modes without gaps, and modes of one element.
static_assert(dense(fk::nchw(2, 3, 4, 5), fk::Index<4>{{0, 1, 2, 3}}));
static_assert(!dense(fk::nchw(2, 3, 4, 5), fk::Index<4>{{0, 2, 3, 1}}));
static_assert(dense(fk::nhwc(2, 4, 5, 3), fk::Index<4>{{0, 2, 3, 1}}) &&
              !dense(fk::nhwc(2, 4, 5, 3), fk::Index<2>{{2, 3}}));
static_assert(dense(padded, fk::Index<1>{{3}}) && !dense(padded, fk::Index<2>{{2, 3}}));
constexpr fk::Layout<4> one_row{{{2, 3, 1, 5}}, {{15, 5, 77, 1}}}, one_column{{{2, 3, 5, 1}}, {{15, 5, 1, 77}}};
static_assert(dense(one_row, fk::Index<3>{{1, 2, 3}}) && dense(one_column, fk::Index<3>{{1, 2, 3}}));

static_assert(dense_alike(fk::nchw(2, 3, 4, 5), fk::nchw(2, 3, 4, 5)) &&
              dense_alike(fk::nhwc(2, 4, 5, 3), fk::nhwc(2, 4, 5, 3)));
static_assert(!dense_alike(fk::nchw(2, 3, 4, 5), fk::nhwc(2, 4, 5, 3)) &&
              !dense_alike(fk::nhwc(2, 4, 5, 3), fk::nchw(2, 3, 4, 5)));
static_assert(!dense_alike(padded, padded) && !dense_alike(padded, fk::nchw(2, 3, 4, 5)));
/// A single image may have any stride.
static_assert(dense_alike({{{1, 3, 4, 5}}, {{999, 20, 5, 1}}}, fk::nchw(1, 3, 4, 5)));

alignas(16) constexpr float memory[8] = {};

fk::TensorView<float const> at(int offset, fk::Layout<4> const& layout) { return {memory + offset, layout}; }

}  // namespace

TEST_CASE("an address is aligned if it is a multiple") {
    CHECK((aligned(memory, 16) && aligned(memory + 2, 8)));
    CHECK_FALSE(aligned(memory + 2, 16));
    CHECK_FALSE(aligned(memory + 1, 8));
}

TEST_CASE("runs are vectorizable if each starts aligned and has whole packets") {
    CHECK(vectorizable(at(0, fk::nhwc(2, 3, 5, 8)), 4, 1));
    CHECK(vectorizable(at(4, fk::nhwc(2, 3, 5, 8)), 4, 1));
    CHECK_FALSE(vectorizable(at(2, fk::nhwc(2, 3, 5, 8)), 4, 1));  // the first
    CHECK(vectorizable(at(2, fk::nhwc(2, 3, 5, 8)), 2, 1));
    CHECK_FALSE(vectorizable(at(0, fk::nhwc(2, 3, 5, 6)), 4, 1));  // 6 channels
    CHECK_FALSE(vectorizable(at(0, fk::nhwc(2, 3, 5, 8)), 4, 3));  // columns are 8 apart
    CHECK_FALSE(vectorizable(at(0, {{{2, 8, 3, 5}}, {{150, 1, 50, 10}}}), 4, 1));
    CHECK(vectorizable(at(0, {{{1, 8, 1, 5}}, {{7, 1, 7, 8}}}), 4, 1));  // one image of one row
}

TEST_CASE("planes are vectorizable if dense and aligned") {
    CHECK(vectorizable_planes(at(0, fk::nchw(2, 3, 2, 6)), 4));
    CHECK_FALSE(vectorizable_planes(at(1, fk::nchw(2, 3, 2, 6)), 4));
    CHECK_FALSE(vectorizable_planes(at(0, fk::nchw(2, 3, 3, 5)), 4));  // 15 pixels
    CHECK_FALSE(vectorizable_planes(at(0, fk::nhwc(2, 2, 6, 4)), 4));
    CHECK_FALSE(vectorizable_planes(at(0, {{{2, 3, 2, 6}}, {{48, 16, 8, 1}}}), 4));  // gaps between rows
    CHECK(vectorizable_planes(at(0, {{{2, 3, 2, 6}}, {{48, 16, 6, 1}}}), 4));  // and between planes
    CHECK_FALSE(vectorizable_planes(at(0, {{{2, 3, 2, 6}}, {{42, 14, 6, 1}}}), 4));
    CHECK_FALSE(vectorizable_planes(at(0, {{{2, 3, 2, 6}}, {{38, 12, 6, 1}}}), 4));
    CHECK(vectorizable_planes(at(0, {{{1, 1, 2, 6}}, {{7, 7, 6, 1}}}), 4));
    CHECK(vectorizable_planes(at(0, {{{1, 1, 8, 1}}, {{7, 7, 1, 7}}}), 4));
}

TEST_CASE("taps are vectorizable if filters are dense and aligned") {
    CHECK(vectorizable_taps(at(0, fk::kcrs(5, 4, 3, 3)), 4));
    CHECK_FALSE(vectorizable_taps(at(3, fk::kcrs(5, 4, 3, 3)), 4));
    CHECK_FALSE(vectorizable_taps(at(0, fk::kcrs(5, 3, 3, 3)), 4));  // 27 indices of GemmK
    CHECK_FALSE(vectorizable_taps(at(0, fk::krsc(5, 3, 3, 4)), 4));
    CHECK(vectorizable_taps(at(0, {{{5, 4, 3, 3}}, {{40, 9, 3, 1}}}), 4));  // gaps between filters
    CHECK_FALSE(vectorizable_taps(at(0, {{{5, 4, 3, 3}}, {{38, 9, 3, 1}}}), 4));
    CHECK_FALSE(vectorizable_taps(at(0, {{{5, 4, 3, 3}}, {{40, 10, 3, 1}}}), 4));
    CHECK(vectorizable_taps(at(0, {{{1, 4, 3, 3}}, {{38, 9, 3, 1}}}), 4));
}
