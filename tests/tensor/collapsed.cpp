// SPDX-License-Identifier: MIT
#include "fusekit/tensor/collapsed.hpp"

#include <type_traits>

namespace fk = fusekit;

namespace {

constexpr fk::Index<4> extents{{2, 3, 20, 6}};
constexpr fk::CollapsedFrom volumes{fk::CollapsedFrom::volumes, false, 4};
constexpr fk::CollapsedShape<4> images(extents), slices(extents, volumes);

/// Plain extents are those of images, and differ from shapes with other original modes.
static_assert(images == extents && images.from == fk::CollapsedFrom{} && images == fk::CollapsedShape<4>(extents));
static_assert(slices != images && slices != extents && slices[2] == 20);
static_assert(slices != fk::CollapsedShape<4>(extents, {fk::CollapsedFrom::volumes, false, 5}) &&
              slices != fk::CollapsedShape<4>(extents, {fk::CollapsedFrom::volumes, true, 4}));

/// A layout has extents and original modes; so has a view.
constexpr fk::detail::CollapsedLayout<4> layout(fk::nchw(2, 3, 20, 6), volumes);
static_assert(layout.shape == slices && layout.layout() == fk::nchw(2, 3, 20, 6));
static_assert(layout != fk::detail::CollapsedLayout<4>(fk::nchw(2, 3, 20, 6)));
constexpr fk::detail::ImageView<float const> view({nullptr, fk::nchw(2, 3, 20, 6)}, volumes);
static_assert(view.shape() == slices && view.collapsed_layout() == layout && view.layout == layout.layout());
static_assert(fk::detail::collapsed_from(view) == volumes);
static_assert(fk::detail::collapsed_from(fk::TensorView<float const>(view)) == fk::CollapsedFrom{});

/// Kernels receive the base-class view.
static_assert(std::is_trivially_copyable_v<fk::detail::ImageView<float>> &&
              std::is_convertible_v<fk::detail::ImageView<float>, fk::TensorView<float const>>);

}  // namespace
