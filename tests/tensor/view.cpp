// SPDX-License-Identifier: MIT
#include "fusekit/tensor/view.hpp"

#include <catch2/catch_test_macros.hpp>
#include <type_traits>

#include "fusekit/backend/host/device.hpp"
#include "fusekit/tensor/any_output.hpp"
#include "fusekit/tensor/optional_view.hpp"
#include "fusekit/tensor/tensor.hpp"

namespace fk = fusekit;

namespace {

template <class T>
constexpr bool plain =
    std::is_trivially_copyable_v<T> && std::is_copy_constructible_v<T> && std::is_copy_assignable_v<T>;
static_assert(plain<fk::TensorView<float>> && plain<fk::TensorView<float const>> && plain<fk::TensorView<fk::half, 1>>);
static_assert(plain<fk::AnyView<4>> && plain<fk::AnyView<1>>);

static_assert(std::is_convertible_v<fk::TensorView<float>, fk::TensorView<float const>>);
static_assert(!std::is_convertible_v<fk::TensorView<float const>, fk::TensorView<float>>);
static_assert(!std::is_convertible_v<fk::TensorView<float>, fk::TensorView<fk::half const>>);
static_assert(!std::is_default_constructible_v<fk::TensorView<float>> &&
              !std::is_default_constructible_v<fk::AnyView<4>>);

/// AnyView converts from views and tensors of every Element, and from no temporary tensor.
using Tensor = fk::Tensor<fk::half, fk::host::Device>;
static_assert(std::is_convertible_v<fk::TensorView<float>, fk::AnyView<4>>);
static_assert(std::is_convertible_v<fk::TensorView<float>&, fk::AnyView<4>>);
static_assert(std::is_convertible_v<fk::TensorView<fk::bfloat16 const>, fk::AnyView<4>>);
static_assert(std::is_convertible_v<Tensor&, fk::AnyView<4>> && std::is_convertible_v<Tensor const&, fk::AnyView<4>>);
static_assert(!std::is_convertible_v<Tensor, fk::AnyView<4>> && !std::is_convertible_v<Tensor&, fk::AnyView<1>>);
static_assert(std::is_convertible_v<Tensor&, fk::TensorView<fk::half>> &&
              std::is_convertible_v<Tensor&, fk::TensorView<fk::half const>>);
static_assert(!std::is_convertible_v<Tensor, fk::TensorView<fk::half const>> &&
              !std::is_convertible_v<Tensor, fk::TensorView<fk::half>>);
static_assert(!std::is_convertible_v<Tensor const&, fk::TensorView<fk::half>>);

/// A Tensor const has a const_view() alone. compile_fail/bind/view_of_temporary.cpp has the refusal of a temporary,
/// which is an assertion in the function that no concept sees.
template <class Source>
concept Views = requires(Source&& source) { static_cast<Source&&>(source).view(); };
template <class Source>
concept ConstViews = requires(Source&& source) { static_cast<Source&&>(source).const_view(); };
static_assert(Views<Tensor&> && !Views<Tensor const&> && !Views<Tensor const>);
static_assert(ConstViews<Tensor&> && ConstViews<Tensor const&>);
static_assert(Views<fk::TensorView<float>> && ConstViews<fk::TensorView<float>> &&
              ConstViews<fk::TensorView<float const>>);

constexpr float numbers[] = {1, 2, 3, 4, 5, 6};
static_assert(fk::TensorView<float const, 2>(numbers, {{{2, 3}}, {{3, 1}}})(1, 2) == 6);
static_assert(fk::TensorView<float const, 2>(numbers, {{{3, 2}}, {{1, 3}}})(2, 0) == 3);
static_assert(fk::AnyView<1>(fk::TensorView<float const, 1>(numbers, fk::channels(6))).load(4) == 5);

}  // namespace

TEST_CASE("a view writes at its strides") {
    float memory[24] = {};
    fk::TensorView<float> const view(memory, fk::nhwc(1, 2, 3, 4));
    view(0, 3, 1, 2) = 7;
    CHECK(memory[23] == 7);
    view.view()(0, 1, 0, 0) = 8;
    CHECK(memory[1] == 8);
    CHECK(view.const_view()(0, 1, 0, 0) == 8);
}

TEST_CASE("AnyView reads every element type as float") {
    float const f[] = {1.5f, -2};
    fk::half const h[] = {1.5f, -2};
    fk::bfloat16 const b[] = {1.5f, -2};
    auto const check = [](fk::AnyView<1> const& view, fk::DataType type, void const* data) {
        CHECK(view.type == type);
        CHECK(view.data() == data);
        CHECK(view.load(0) == 1.5f);
        CHECK(view.load(1) == -2);
    };
    check(fk::TensorView<float const, 1>(f, fk::channels(2)), fk::DataType::float32, f);
    check(fk::TensorView<fk::half const, 1>(h, fk::channels(2)), fk::DataType::float16, h);
    check(fk::TensorView<fk::bfloat16 const, 1>(b, fk::channels(2)), fk::DataType::bfloat16, b);
    double const d[] = {1.5, -2};
    check(fk::TensorView<double const, 1>(d, fk::channels(2)), fk::DataType::float64, d);
}

struct __half {
    std::uint16_t bits;
};

TEST_CASE("views of an application's element types are views of the library's") {
    __half memory[] = {{0x3e00}, {0xc000}};  // 1.5, -2
    std::int8_t bytes[] = {7, -128};
    fk::TensorView<__half, 1> const view(memory, fk::channels(2));
    CHECK(view.const_view()(0) == 1.5f);
    fk::TensorView<fk::half const, 1> const halves = view;
    CHECK(halves(1) == -2);
    fk::AnyView<1> const any = view, small = fk::TensorView<std::int8_t const, 1>(bytes, fk::channels(2));
    CHECK((any.type == fk::DataType::float16 && any.data() == memory && any.load(1) == -2));
    CHECK((small.type == fk::DataType::int8 && small.data() == bytes && small.load(0) == 7 && small.load(1) == -128));
    fk::OptionalView<fk::half, 1> const optional = view;
    optional.view()(1) = 1.5f;
    CHECK(memory[1].bits == 0x3e00);
}

TEST_CASE("a tensor and its views have the same layout accessors") {
    fk::host::Device device(1);
    auto const layout = fk::nhwc(2, 3, 4, 5);
    Tensor tensor(device, layout);
    fk::OptionalView<fk::half, 1> const optional = fk::TensorView<fk::half, 1>(tensor.data(), fk::channels(5));
    CHECK(tensor.layout() == layout);
    CHECK(tensor.view().layout() == layout);
    CHECK(fk::AnyView<4>(tensor).layout() == layout);
    CHECK(fk::AnyActivations(tensor).layout() == layout);
    CHECK(fk::AnyOutput(tensor).layout() == layout);
    CHECK(optional.layout() == fk::channels(5));
    CHECK(&optional.layout() == &optional.layout);
}

TEST_CASE("AnyView reads every element type as double without rounding") {
    float const f[] = {0.1f};
    fk::half const h[] = {0.1f};
    double const d[] = {0.1};
    CHECK(fk::AnyView<1>(fk::TensorView<float const, 1>(f, fk::channels(1))).load<double>(0) == double{0.1f});
    CHECK(fk::AnyView<1>(fk::TensorView<fk::half const, 1>(h, fk::channels(1))).load<double>(0) == double{h[0]});
    fk::AnyView<1> const doubles = fk::TensorView<double const, 1>(d, fk::channels(1));
    CHECK(doubles.load<double>(0) == 0.1);
    CHECK(doubles.load(0) == 0.1f);
    CHECK(&fk::detail::typed<double>(doubles)(0) == d);
}
