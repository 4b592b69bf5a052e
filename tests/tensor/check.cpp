// SPDX-License-Identifier: MIT
#include "fusekit/tensor/check.hpp"

#include <catch2/catch_test_macros.hpp>
#include <string>

#include "fusekit/tensor/collapse.hpp"
#include "support/refusal.hpp"

namespace fk = fusekit;
using test::refusal;

namespace {

fk::Check check_of(fk::CollapsedShape<4> const& y) {
    fk::Check check{};
    check.x = check.y = y;
    check.type = fk::DataType::float32;
    check.plan = [] { return fk::Text("Layer"); };
    check.operator_name = [] { return fk::Text("Op"); };
    return check;
}

}  // namespace

TEST_CASE("extents are printed as the user gave them") {
    CHECK(fk::to_string(fk::Index<4>{{8, 64, 14, 14}}) == "8 x 64 x 14 x 14");
    CHECK(fk::to_string(fk::detail::collapse<4>(fk::ncw(2, 3, 5)).shape) == "2 x 3 x 5");
    CHECK(fk::to_string(fk::detail::collapse<4>(fk::ncdhw(2, 3, 4, 5, 6)).shape) == "2 x 3 x 4 x 5 x 6");
}

TEST_CASE("extents are those of a layout, which may be collapsed") {
    fk::Check const check = check_of(fk::detail::collapse<4>(fk::ncw(2, 3, 5)).shape);
    auto const given = [&](auto const& layout) {
        return refusal([&] { check.extents("z", layout, check.y, "N x K x P x Q"); });
    };
    CHECK(given(fk::detail::collapse<4>(fk::nwc(2, 5, 3))) == "accepted");
    CHECK(given(fk::detail::collapse<4>(fk::ncw(2, 3, 4))) ==
          "Layer: Op.z: expected 2 x 3 x 5 (N x K x Q), got 2 x 3 x 4");
    CHECK(given(fk::nchw(2, 3, 1, 5)) == "Layer: Op.z: expected 2 x 3 x 5 (N x K x Q), got 2 x 3 x 1 x 5");
}

TEST_CASE("an input is checked for shape, null and overlap") {
    float memory[24] = {};
    auto const shape = fk::nchw(1, 2, 3, 4).shape;
    fk::Check check = check_of(shape);
    double bytes = 0;
    check.bytes = &bytes;
    auto const read = [&](fk::Layout<4> const& layout, float const* data) {
        return refusal([&] { check.readable("z", fk::TensorView<float const>(data, layout), shape, "N x K x P x Q"); });
    };
    CHECK(read(fk::nchw(1, 2, 3, 4), memory) == "accepted");
    CHECK(bytes == 96);
    CHECK(read(fk::nchw(1, 2, 4, 3), memory) ==
          "Layer: Op.z: expected 1 x 2 x 3 x 4 (N x K x P x Q), got 1 x 2 x 4 x 3");
    CHECK(read(fk::nchw(1, 2, 3, 4), nullptr) ==
          "Layer: Op.z: expected a pointer to 1 x 2 x 3 x 4 elements, got a null pointer");
    fk::TensorView<float const> const empty(nullptr, fk::nchw(1, 2, 0, 4));
    CHECK(refusal([&] { check.readable("z", empty, empty.layout.shape, "N x K x P x Q"); }) == "accepted");
    CHECK(refusal([&] { check.readable("z", empty, shape, "N x K x P x Q"); }) ==
          "Layer: Op.z: expected 1 x 2 x 3 x 4 (N x K x P x Q), got 1 x 2 x 0 x 4");
    fk::TensorView<float const, 5> const volume(memory, fk::ncdhw(1, 2, 3, 1, 4));
    CHECK(refusal([&] { check.readable("z", fk::detail::collapse<4>(volume), shape, "N x K x P x Q"); }) ==
          "Layer: Op.z: expected 1 x 2 x 3 x 4 (N x K x P x Q), got 1 x 2 x 3 x 1 x 4");
    std::int64_t const far = std::int64_t{1} << 60;
    CHECK(read(fk::Layout<4>{{{1, 2, 3, 4}}, {{0, far, 4, 1}}}, memory) ==
          "Layer: Op.z: expected strides within the address space, got 0 x 1152921504606846976 x 4 x 1");
    fk::detail::Region output =
        check.region("y", memory + 23, fk::DataType::float32, fk::nchw(1, 1, 1, 1), fk::Access::written);
    check.output = &output;
    CHECK(read(fk::nchw(1, 2, 3, 4), memory) ==
          "Layer: Op.z: expected memory apart from the output's, got memory that overlaps it");
    output.begin += 4, output.end += 4;
    CHECK(read(fk::nchw(1, 2, 3, 4), memory) == "accepted");
}

TEST_CASE("an input read in place is the output or disjoint from it") {
    float memory[48] = {};
    auto const layout = fk::nchw(1, 2, 3, 4);
    fk::Check check = check_of(layout.shape);
    fk::detail::Region const output = check.region("y", memory, fk::DataType::float32, layout, fk::Access::written);
    check.output = &output;
    auto const read = [&](fk::Access access, auto const* data, fk::Layout<4> const& of) {
        return refusal([&] { check.readable("z", fk::TensorView(data, of), layout.shape, "N x K x P x Q", access); });
    };
    std::string const apart = "Layer: Op.z: expected memory apart from the output's",
                      or_itself = apart + ", or the output itself", got = ", got memory that overlaps it";
    CHECK(read(fk::Access::read_in_place, memory, layout) == "accepted");
    CHECK(read(fk::Access::read_in_place, memory + 24, layout) == "accepted");
    CHECK(read(fk::Access::read, memory, layout) == apart + got);
    CHECK(read(fk::Access::read_in_place, memory + 1, layout) == or_itself + got);
    CHECK(read(fk::Access::read_in_place, memory, fk::nhwc(1, 3, 4, 2)) == or_itself + got);
    CHECK(read(fk::Access::read_in_place, reinterpret_cast<fk::half const*>(memory), layout) == or_itself + got);
}

TEST_CASE("an output must not overlap itself or other arguments") {
    float memory[48] = {};
    auto const shape = fk::nchw(1, 2, 3, 4).shape;
    fk::Check check = check_of(shape);
    struct Arguments {
        char views[3 * 24];
    };
    fk::detail::AliasCheckerOf<Arguments> aliases;
    check.aliases = &aliases;
    auto const write = [&](char const* name, fk::Layout<4> const& layout, float* data) {
        return refusal([&] { check.writable(name, fk::TensorView<float>(data, layout), shape, "N x K x P x Q"); });
    };
    CHECK(write("a", fk::Layout<4>{{{1, 2, 3, 4}}, {{0, 0, 4, 1}}}, memory) ==
          "Layer: Op.a: expected strides that each exceed the reach of all smaller ones, in either direction, got 0 x "
          "0 x 4 x 1");
    fk::detail::AliasCheckerOf<Arguments> fresh;
    check.aliases = &fresh;
    CHECK(write("a", fk::nchw(1, 2, 3, 4), memory) == "accepted");
    CHECK(write("b", fk::nchw(1, 2, 3, 4), memory + 23) ==
          "Layer: Op.b: expected memory apart from that of Op.a, got memory that overlaps it");
    CHECK(write("b", fk::nchw(1, 2, 3, 4), memory + 24) == "accepted");
}

TEST_CASE("addresses reach from the lowest element to past the highest, whatever the signs of strides") {
    float memory[24] = {};
    fk::Check const check = check_of(fk::nchw(1, 2, 3, 4).shape);
    fk::Layout<4> const flipped{{{1, 2, 3, 4}}, {{0, 12, -4, 1}}};
    fk::detail::Region const region = check.region("z", memory + 8, fk::DataType::float32, flipped);
    CHECK(region.begin == reinterpret_cast<std::uintptr_t>(memory));
    CHECK(region.end == reinterpret_cast<std::uintptr_t>(memory + 24));
}
