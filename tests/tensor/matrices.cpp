// SPDX-License-Identifier: MIT
#include "fusekit/tensor/matrices.hpp"

#include "fusekit/fusekit.hpp"

namespace fk = fusekit;

namespace {

constexpr fk::CollapsedShape<4> matrices(fk::Index<4> const& extents, int batch_modes) {
    return {extents, {fk::CollapsedFrom::matrices, false, batch_modes}};
}

/// Rows are pixels, columns channels.
constexpr auto one = fk::detail::collapse_matrices(fk::row_major(5, 7));
static_assert(one.shape == matrices({{1, 7, 1, 5}}, 0) && one.stride[1] == 1 && one.stride[3] == 7);
constexpr auto batch = fk::detail::collapse_matrices(fk::column_major(3, 5, 7));
static_assert(batch.shape == matrices({{3, 7, 1, 5}}, 1) && batch.stride[0] == 35 && batch.stride[1] == 5 &&
              batch.stride[3] == 1);
constexpr auto batches = fk::detail::collapse_matrices(fk::packed<4>({{2, 3, 5, 7}}, {{0, 1, 2, 3}}));
static_assert(batches.shape == matrices({{2, 7, 3, 5}}, 2) && batches.stride == fk::nhwc(2, 3, 5, 7).stride);

/// Missing modes have the strides of packed images, for row-major and column-major.
static_assert(fk::detail::collapse_matrices(fk::row_major(5, 7)).stride == fk::nhwc(1, 1, 5, 7).stride &&
              fk::detail::collapse_matrices(fk::column_major(5, 7)).stride[2] == 5);
static_assert(fk::detail::collapse_matrices(fk::row_major(3, 5, 7)).stride == fk::nhwc(3, 1, 5, 7).stride);

static_assert(fk::detail::expand<2>(one.shape) == fk::Index<2>{{5, 7}} &&
              fk::detail::expand<3>(batch.shape) == fk::Index<3>{{3, 5, 7}} &&
              fk::detail::expand<4>(batches.shape) == fk::Index<4>{{2, 3, 5, 7}});

/// A matrix, a batch of matrices, signals and images of the same numbers differ.
static_assert(one.shape != fk::detail::collapse_matrices(fk::row_major(1, 5, 7)).shape &&
              one.shape != fk::detail::collapse<4>(fk::nchw(1, 7, 1, 5)).shape);
static_assert(batch.shape != fk::detail::collapse<4>(fk::ncw(3, 7, 5)).shape);

/// A field's signals or images are reinterpreted as matrices.
static_assert(fk::detail::as_matrices(fk::detail::collapse<4>(fk::column_major(3, 5, 7))) == batch);
static_assert(fk::detail::as_matrices(fk::packed<4>({{2, 3, 5, 7}}, {{0, 1, 2, 3}})) == batches);
static_assert(fk::detail::as_matrices(one) == one && fk::detail::as_matrices(batch) == batch);
static_assert(fk::detail::collapse<4>(fk::row_major(5, 7)) == one);

constexpr fk::TensorView<float const, 2> weights(nullptr, fk::row_major(4, 7));
constexpr auto layer = fk::Plan<fk::Gemm>::bind({.weights = weights});
static_assert(layer.output_shape(fk::packed<4>({{2, 3, 5, 7}}, {{0, 1, 2, 3}}).shape) == fk::Index<4>{{2, 3, 5, 4}} &&
              layer.output_shape(fk::row_major(3, 5, 7).shape) == fk::Index<3>{{3, 5, 4}});
static_assert(layer.output_shape(fk::Index<2>{{5, 7}}) == fk::Index<2>{{5, 4}} &&
              layer.output_shape(fk::Index<4>{{2, 3, 5, 7}}) == fk::Index<4>{{2, 3, 5, 4}});

}  // namespace
