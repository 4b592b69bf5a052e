// SPDX-License-Identifier: MIT
#include "fusekit/tensor/any_output.hpp"

#include <catch2/catch_test_macros.hpp>
#include <type_traits>

#include "fusekit/fusekit.hpp"

namespace fk = fusekit;
using Host = fk::Tensor<float, fk::host::Device>;

static_assert(std::is_trivially_copyable_v<fk::AnyOutput>);
static_assert(std::is_convertible_v<Host&, fk::AnyOutput>);
static_assert(std::is_trivially_copyable_v<fk::OptionalOutput>);
static_assert(std::is_convertible_v<Host&, fk::OptionalOutput>);
static_assert(std::is_convertible_v<fk::AnyOutput, fk::OptionalOutput>);

namespace {

template <class T>
bool rounds_and_writes_one() {
    T values[6] = {T(9), T(9), T(9), T(9), T(9), T(9)};
    fk::AnyOutput const view = fk::TensorView<T>(values, fk::nhwc(1, 1, 2, 3));
    view.store(view.layout.offset({{0, 2, 0, 1}}), 0.1f);
    bool right = view.type == fk::data_type<T> && view.data() == values && float(values[5]) == float(T(0.1f));
    for (int i = 0; i < 5; ++i) right = right && float(values[i]) == 9;
    return right;
}

}  // namespace

TEST_CASE("AnyOutput stores rounded elements of any type at its layout's offsets") {
    CHECK(rounds_and_writes_one<float>());
    CHECK(rounds_and_writes_one<fk::half>());
    CHECK(rounds_and_writes_one<fk::bfloat16>());
    CHECK(rounds_and_writes_one<fk::int8>());
    double value = 0;
    fk::AnyOutput(fk::TensorView<double>(&value, fk::nchw(1, 1, 1, 1))).store(0, 0.1);
    CHECK(value == 0.1);
}

TEST_CASE("an output of signals or volumes is collapsed") {
    float values[24];
    fk::AnyOutput const signal = fk::TensorView<float, 3>(values, fk::ncw(2, 3, 4));
    CHECK(signal.layout.shape == fk::Index<4>{{2, 3, 1, 4}});
    CHECK(signal.from.kind == fk::CollapsedFrom::signal);
    fk::AnyOutput const volume = fk::TensorView<float, 5>(values, fk::ndhwc(1, 2, 2, 3, 2));
    CHECK(volume.from == fk::CollapsedFrom{fk::CollapsedFrom::volumes, false, 2});
    CHECK(volume.layout.shape[2] == 4);
}

TEST_CASE("OptionalOutput is empty by default, and given from a view") {
    CHECK_FALSE(fk::OptionalOutput().given());
    fk::half value{};
    fk::OptionalOutput const output = fk::TensorView<fk::half>(&value, fk::nchw(1, 1, 1, 1));
    CHECK(output.given());
    CHECK(output.type == fk::DataType::float16);
    output.store(0, 2.0f);
    CHECK(float(value) == 2);
}
