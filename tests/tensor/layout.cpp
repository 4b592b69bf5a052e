// SPDX-License-Identifier: MIT
#include "fusekit/tensor/layout.hpp"

#include <catch2/catch_test_macros.hpp>
#include <type_traits>

namespace fk = fusekit;

namespace {

/// Mode order is canonical for every memory order.
static_assert(fk::nchw(2, 3, 4, 5) == fk::Layout<4>{{{2, 3, 4, 5}}, {{60, 20, 5, 1}}});
static_assert(fk::nhwc(2, 4, 5, 3) == fk::Layout<4>{{{2, 3, 4, 5}}, {{60, 1, 15, 3}}});
static_assert(fk::kcrs(7, 3, 2, 5) == fk::Layout<4>{{{7, 3, 2, 5}}, {{30, 10, 5, 1}}});
static_assert(fk::krsc(7, 2, 5, 3) == fk::Layout<4>{{{7, 3, 2, 5}}, {{30, 1, 15, 3}}});
static_assert(fk::channels(9) == fk::Layout<1>{{{9}}, {{1}}});
static_assert(fk::chw(3, 4, 5) == fk::Layout<3>{{{3, 4, 5}}, {{20, 5, 1}}});
static_assert(fk::hwc(4, 5, 3) == fk::Layout<3>{{{3, 4, 5}}, {{1, 15, 3}}});

/// One and three spatial modes.
static_assert(fk::ncw(2, 3, 5) == fk::Layout<3>{{{2, 3, 5}}, {{15, 5, 1}}});
static_assert(fk::nwc(2, 5, 3) == fk::Layout<3>{{{2, 3, 5}}, {{15, 1, 3}}});
static_assert(fk::ncdhw(2, 3, 4, 5, 6) == fk::Layout<5>{{{2, 3, 4, 5, 6}}, {{360, 120, 30, 6, 1}}});
static_assert(fk::ndhwc(2, 4, 5, 6, 3) == fk::Layout<5>{{{2, 3, 4, 5, 6}}, {{360, 1, 90, 18, 3}}});
static_assert(fk::kcs(7, 3, 5) == fk::ncw(7, 3, 5) && fk::ksc(7, 5, 3) == fk::nwc(7, 5, 3));
static_assert(fk::kctrs(7, 3, 4, 5, 6) == fk::ncdhw(7, 3, 4, 5, 6) &&
              fk::ktrsc(7, 4, 5, 6, 3) == fk::ndhwc(7, 4, 5, 6, 3));
static_assert(fk::cw(3, 5) == fk::Layout<2>{{{3, 5}}, {{5, 1}}} && fk::wc(5, 3) == fk::Layout<2>{{{3, 5}}, {{1, 3}}});
static_assert(fk::cdhw(3, 4, 5, 6) == fk::Layout<4>{{{3, 4, 5, 6}}, {{120, 30, 6, 1}}});
static_assert(fk::dhwc(4, 5, 6, 3) == fk::Layout<4>{{{3, 4, 5, 6}}, {{1, 90, 18, 3}}});

/// Row-major and column-major matrices.
static_assert(fk::row_major(3, 5) == fk::Layout<2>{{{3, 5}}, {{5, 1}}} &&
              fk::column_major(3, 5) == fk::Layout<2>{{{3, 5}}, {{1, 3}}});
static_assert(fk::row_major(2, 3, 5) == fk::Layout<3>{{{2, 3, 5}}, {{15, 5, 1}}} &&
              fk::column_major(2, 3, 5) == fk::Layout<3>{{{2, 3, 5}}, {{15, 1, 3}}});
static_assert(fk::packed_like({{3, 7}}, fk::row_major(3, 5)) == fk::row_major(3, 7) &&
              fk::packed_like({{3, 7}}, fk::column_major(3, 5)) == fk::column_major(3, 7));
static_assert(fk::packed_like({{2, 3, 7}}, fk::column_major(2, 3, 5)) == fk::column_major(2, 3, 7) &&
              fk::packed_like({{2, 3, 7}}, fk::row_major(2, 3, 5)) == fk::row_major(2, 3, 7));

static_assert(fk::nchw(2, 3, 4, 5).size() == 120 && fk::nchw(2, 3, 4, 5).span() == 120);
static_assert(fk::nchw(2, 3, 4, 5).offset({{1, 2, 3, 4}}) == 119);
static_assert(fk::nhwc(2, 4, 5, 3).offset({{1, 2, 3, 4}}) == 119);
static_assert(fk::nhwc(2, 4, 5, 3).offset({{0, 1, 0, 2}}) == 7);
static_assert(fk::Layout<4>{{{2, 3, 4, 5}}, {{1000, 100, 10, 2}}}.span() == 1000 + 200 + 30 + 8 + 1);
static_assert(fk::Layout<4>{{{2, 0, 4, 5}}, {{1000, 100, 10, 2}}}.span() == 0);
static_assert(fk::Layout<4>{{{2, 3, 4, 5}}, {{-60, 20, -5, 1}}}.span() == 120);
static_assert(fk::Layout<4>{{{2, 3, 1, 5}}, {{-15, 5, -999, 0}}}.span() == 15 + 10 + 1);
static_assert(fk::nchw(1 << 20, 1 << 20, 1 << 10, 1).size() == std::int64_t{1} << 50);

static_assert(!fk::channels_last(fk::nchw(2, 3, 4, 5)) && fk::channels_last(fk::nhwc(2, 4, 5, 3)));
static_assert(fk::channels_last(fk::nhwc(2, 4, 5, 1)) && !fk::channels_last(fk::nchw(2, 1, 4, 5)));
static_assert(fk::channels_last(fk::nhwc(2, 4, 1, 3)) && !fk::channels_last(fk::nchw(2, 3, 4, 1)));
static_assert(fk::channels_last(fk::nhwc(2, 1, 1, 3)) ||
              fk::nhwc(2, 1, 1, 3).stride[1] == fk::nchw(2, 3, 1, 1).stride[1]);
static_assert(fk::channels_last(fk::nwc(2, 5, 3)) && fk::channels_last(fk::nwc(2, 5, 1)));
static_assert(!fk::channels_last(fk::ncw(2, 3, 5)) && !fk::channels_last(fk::ncw(2, 1, 5)));
static_assert(fk::channels_last(fk::ndhwc(2, 4, 5, 6, 1)) && !fk::channels_last(fk::ncdhw(2, 1, 4, 5, 6)));
static_assert(fk::packed_like({{2, 7, 8, 9, 4}}, fk::ndhwc(2, 4, 5, 3, 3)) == fk::ndhwc(2, 8, 9, 4, 7));
static_assert(fk::packed_like({{2, 7, 8, 9}}, fk::nhwc(2, 4, 5, 3)) == fk::nhwc(2, 8, 9, 7));
static_assert(fk::packed_like({{2, 7, 8, 9}}, fk::nchw(2, 3, 4, 5)) == fk::nchw(2, 7, 8, 9));
static_assert(fk::packed_like({{2, 7, 8, 9}}, fk::Layout<4>{{{2, 3, 4, 5}}, {{999, 2, 66, 12}}}) ==
              fk::nhwc(2, 8, 9, 7));

static_assert(fk::packed<1>({{5}}, {{0}}) == fk::channels(5));
static_assert(fk::packed<5>({{2, 3, 4, 5, 6}}, {{0, 1, 2, 3, 4}}).stride == fk::Index<5>{{360, 120, 30, 6, 1}});
static_assert(fk::packed_like<3>({{2, 7, 9}}, fk::packed<3>({{2, 3, 5}}, {{0, 2, 1}})).stride ==
              fk::Index<3>{{63, 1, 7}});

template <auto>
struct Argument {};
static_assert(std::is_same_v<Argument<fk::nchw(1, 2, 3, 4)>, Argument<fk::kcrs(1, 2, 3, 4)>>);
static_assert(!std::is_same_v<Argument<fk::nchw(1, 2, 3, 4)>, Argument<fk::nhwc(1, 3, 4, 2)>>);
static_assert(std::is_trivially_copyable_v<fk::Layout<4>>);

}  // namespace

TEST_CASE("packed layouts number every element once") {
    for (auto const& layout :
         {fk::nchw(2, 3, 4, 5), fk::nhwc(2, 4, 5, 3), fk::packed<4>({{2, 3, 4, 5}}, {{3, 1, 0, 2}})}) {
        bool seen[120] = {};
        for (std::int64_t n = 0; n < 2; ++n)
            for (std::int64_t c = 0; c < 3; ++c)
                for (std::int64_t h = 0; h < 4; ++h)
                    for (std::int64_t w = 0; w < 5; ++w) {
                        std::int64_t const offset = layout.offset({{n, c, h, w}});
                        REQUIRE((offset >= 0 && offset < 120));
                        CHECK(!seen[offset]);
                        seen[offset] = true;
                    }
        CHECK(layout.span() == 120);
    }
}
