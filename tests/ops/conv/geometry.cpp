// SPDX-License-Identifier: MIT
#include "fusekit/ops/conv/geometry.hpp"

namespace fk = fusekit;

namespace {

static_assert(fk::detail::is_filter(fk::filter(3)) && fk::detail::is_geometry(fk::filter(3, 3, 3)));
static_assert(!fk::detail::is_filter(fk::dynamic) && fk::detail::is_geometry(fk::dynamic));
static_assert(!fk::detail::is_filter(3) && !fk::detail::is_geometry(3));

static_assert(fk::detail::is_possible(3) && fk::detail::is_possible(fk::filter(3, 3).pad(0)));
static_assert(!fk::detail::is_possible(fk::filter(0)) && !fk::detail::is_possible(fk::filter(3).stride(0)) &&
              !fk::detail::is_possible(fk::filter(3).dilation(0)) && !fk::detail::is_possible(fk::filter(3).groups(0)));
static_assert(!fk::detail::is_possible(fk::filter(3, 3).pad(0, 0, 0, -1)));
static_assert(!fk::detail::is_possible(fk::filter(1 << 16, 1 << 15, 1)));

static_assert(fk::detail::longest_of(fk::filter(2, 7, 3)) == 7);

}  // namespace
