// SPDX-License-Identifier: MIT
#include "fusekit/ops/conv/window.hpp"

#include "fusekit/tensor/collapse.hpp"

namespace fk = fusekit;

namespace {

/// A filter of one mode becomes one row.
static_assert(fk::detail::with_rows(fk::filter(3).pad(1, 2).stride(2).dilation(4).groups(5)) ==
              fk::filter(1, 3).pad(0, 1, 0, 2).stride(1, 2).dilation(1, 4).groups(5));
static_assert(fk::detail::with_rows(fk::filter(3, 5)) == fk::filter(3, 5));
static_assert(fk::detail::window_rows(fk::filter(2, 3, 5)) == 6 &&
              fk::detail::window_columns(fk::filter(2, 3, 5)) == 5);
static_assert(fk::detail::window_rows(fk::filter(3, 5)) == 3);

/// Rows of x in the window: padding is out of bounds, also within a slice.
constexpr fk::detail::SliceHeights<3> heights(fk::detail::collapse<4>(fk::ncdhw(1, 1, 9, 5, 1)).shape,
                                              fk::detail::collapse<4>(fk::ncdhw(1, 1, 9, 4, 1)).shape);
constexpr auto f = fk::filter(3, 2, 1).pad(1, 1, 0).stride(2, 1, 1).dilation(1, 3, 1);
static_assert(fk::detail::row_under(f, heights, 0, 1) < 0 &&
              fk::detail::row_under(f, heights, 0, 2) < 0);  // before the first slice; above it
static_assert(fk::detail::row_under(f, heights, 1, 2) == 0 && fk::detail::row_under(f, heights, 0, 3) == 2);
static_assert(fk::detail::column_under(fk::filter(3, 3).pad(1).stride(2).dilation(3), 4, 2) == 4 * 2 - 1 + 2 * 3);

/// True if the taps of the transposed window of y's row h read exactly the rows of x whose own taps read h.
template <bool spreads>
constexpr bool leads_back(fk::Filter<1> const& of_y) {
    fk::detail::TransposedFilter<1, spreads> const back(of_y);
    for (fk::Extent h = 0; h < 20; ++h)
        for (int i = 0; i < of_y.size[0]; ++i) {
            fk::Extent const p = fk::detail::coord_under(back, 0, h, i);
            if (p >= 0 && fk::detail::coord_under(of_y, 0, p, i) != h) return false;
            for (fk::Extent other = 0; other < 40; ++other)
                if (other != p && fk::detail::coord_under(of_y, 0, other, i) == h) return false;
        }
    return true;
}
static_assert(leads_back<false>(fk::filter(3).pad(1, 0)) && leads_back<false>(fk::filter(2).pad(7).dilation(5)));
static_assert(leads_back<true>(fk::filter(3).pad(1).stride(2)) &&
              leads_back<true>(fk::filter(4).stride(3).dilation(2)) &&
              leads_back<true>(fk::filter(2).pad(9, 0).stride(7).dilation(3)));

/// As above with slices and rows, from y of 9 slices of 5 rows to x of 5 slices of 4.
constexpr fk::detail::SliceHeights<3> back_heights(fk::detail::collapse<4>(fk::ncdhw(1, 1, 5, 4, 1)).shape,
                                                   fk::detail::collapse<4>(fk::ncdhw(1, 1, 9, 5, 1)).shape);
constexpr bool rows_lead_back() {
    fk::detail::TransposedFilter<3, true> const back(f);
    for (fk::Extent row = 0; row < 9 * 5; ++row)
        for (int r = 0; r < 6; ++r) {
            fk::Extent const p = fk::detail::row_under(back, back_heights, row, r);
            for (fk::Extent other = 0; other < 5 * 4; ++other)
                if ((fk::detail::row_under(f, heights, other, r) == row) != (other == p)) return false;
        }
    return true;
}
static_assert(rows_lead_back());

static_assert(!fk::detail::is_single_pixels(fk::detail::TransposedFilter<2, true>(fk::filter(1, 1).stride(2))) &&
              fk::detail::is_single_pixels(fk::detail::TransposedFilter<2, false>(fk::filter(1, 1))));

}  // namespace
