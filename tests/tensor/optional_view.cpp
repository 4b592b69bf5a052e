// SPDX-License-Identifier: MIT
#include "fusekit/tensor/optional_view.hpp"

#include <catch2/catch_test_macros.hpp>
#include <type_traits>

#include "fusekit/backend/host/device.hpp"
#include "fusekit/tensor/tensor.hpp"

namespace fk = fusekit;

namespace {

template <class From, class To>
constexpr bool converts = std::is_convertible_v<From, To>;
template <int Rank>
using Tensor = fk::Tensor<float, fk::host::Device, Rank>;
using Map = fk::OptionalView<float, 3>;
using ReadMap = fk::OptionalView<float const, 3>;
using Channels = fk::OptionalView<float, 1>;

/// Converts from views of a map with one to three spatial modes, in every form, and from tensors that outlive it.
template <int Rank>
constexpr bool every_expression =
    converts<fk::TensorView<float, Rank>, Map> && converts<fk::TensorView<float, Rank>&, Map> &&
    converts<fk::TensorView<float, Rank> const, Map> && converts<fk::TensorView<float, Rank> const&, Map> &&
    converts<Tensor<Rank>&, Map> && converts<decltype(std::declval<Tensor<Rank>&>().view()), Map> &&
    converts<fk::TensorView<float, Rank>, ReadMap> && converts<fk::TensorView<float const, Rank>, ReadMap> &&
    converts<fk::TensorView<float const, Rank> const&, ReadMap> && converts<Tensor<Rank>&, ReadMap> &&
    converts<Tensor<Rank> const&, ReadMap>;
static_assert(every_expression<2> && every_expression<3> && every_expression<4>);

/// Refuses read-only views for writing, temporary tensors, and other ranks and element types.
template <int Rank>
constexpr bool no_expression =
    !converts<fk::TensorView<float const, Rank>, Map> && !converts<Tensor<Rank> const&, Map> &&
    !converts<Tensor<Rank>, Map> && !converts<Tensor<Rank> const, Map> && !converts<Tensor<Rank>, ReadMap> &&
    !converts<Tensor<Rank> const, ReadMap> && !converts<fk::TensorView<fk::half, Rank>, Map>;
static_assert(no_expression<2> && no_expression<3> && no_expression<4>);
static_assert(!converts<fk::TensorView<float, 1>, Map> && !converts<fk::TensorView<float, 5>, Map>);
static_assert(!converts<Tensor<1>&, Map> && !converts<Tensor<5>&, Map>);
static_assert(converts<fk::TensorView<float, 1>, Channels> && converts<Tensor<1>&, Channels>);
static_assert(converts<fk::TensorView<float, 4>, Channels> && converts<Tensor<4>&, Channels> &&
              !converts<Tensor<1>, Channels>);
static_assert(std::is_trivially_copyable_v<Map> && !Map{}.given());

}  // namespace

TEST_CASE("optional views of 1 and 3 spatial modes are collapsed, from views and from tensors") {
    fk::host::Device device(1);
    float values[24];
    Map const line = fk::TensorView<float, 2>(values, fk::wc(4, 6));
    CHECK(line.data == values);
    CHECK(line.view().collapsed_layout() == fk::detail::collapse<3>(fk::wc(4, 6)));
    fk::TensorView<float, 4> const volume(values, fk::cdhw(1, 2, 3, 4));
    CHECK(Map(volume).view().collapsed_layout() == fk::detail::collapse<3>(fk::cdhw(1, 2, 3, 4)));
    CHECK(ReadMap(volume).layout == Map(volume).layout);
    Tensor<4> tensor(device, fk::dhwc(2, 3, 4, 1));
    Tensor<4> const& read_only = tensor;
    CHECK(Map(tensor).data == tensor.data());
    CHECK(Map(tensor.view()).view().collapsed_layout() == fk::detail::collapse<3>(fk::dhwc(2, 3, 4, 1)));
    CHECK(ReadMap(read_only).layout == Map(tensor).layout);
    CHECK(ReadMap(read_only).given());
}
