// SPDX-License-Identifier: MIT
#include "fusekit/tensor/check.hpp"

#include <catch2/catch_test_macros.hpp>
#include <string>

#include "fusekit/tensor/collapse.hpp"

namespace fk = fusekit;

namespace {

fk::Check check_of(fk::Index<4> const& y) {
    fk::Check check{};
    check.x = check.y = y;
    check.type = fk::DataType::float32;
    check.plan = [] { return fk::Text("Layer"); };
    check.operator_name = [] { return fk::Text("Op"); };
    return check;
}

/// What the call is refused with; empty where it is not.
template <class F>
std::string refusal(F const& call) {
    try {
        call();
    } catch (fk::Error const& error) {
        return error.what();
    }
    return "";
}

}  // namespace

TEST_CASE("elements are distinct where each mode steps over all that the ones before reach") {
    CHECK(fk::distinct(fk::nchw(2, 3, 4, 5)));
    CHECK(fk::distinct(fk::nhwc(2, 4, 5, 3)));
    CHECK(fk::distinct(fk::Layout<4>{{{2, 3, 4, 5}}, {{1000, 100, 10, 2}}}));
    CHECK(fk::distinct(fk::Layout<2>{{{1, 5}}, {{0, 1}}}));  // one element need not step
    CHECK(fk::distinct(fk::Layout<2>{{{1, 1}}, {{0, 0}}}));
    CHECK_FALSE(fk::distinct(fk::Layout<2>{{{2, 5}}, {{4, 1}}}));
    CHECK_FALSE(fk::distinct(fk::Layout<2>{{{2, 5}}, {{0, 1}}}));
    CHECK_FALSE(fk::distinct(fk::Layout<2>{{{2, 5}}, {{5, -1}}}));
    CHECK(fk::distinct(fk::Layout<2>{{{2, 5}}, {{5, 1}}}));
}

TEST_CASE("extents are printed as the user gave them") {
    CHECK(fk::to_string(fk::Index<4>{{8, 64, 14, 14}}) == "8 x 64 x 14 x 14");
    CHECK(fk::to_string(fk::collapse<4>(fk::ncw(2, 3, 5)).shape) == "2 x 3 x 5");
    CHECK(fk::to_string(fk::collapse<4>(fk::ncdhw(2, 3, 4, 5, 6)).shape) == "2 x 3 x 4 x 5 x 6");
}

TEST_CASE("what can be read has the shape, a pointer and memory of its own") {
    float memory[24] = {};
    auto const shape = fk::nchw(1, 2, 3, 4).shape;
    fk::Check check = check_of(shape);
    double bytes = 0;
    check.bytes = &bytes;
    auto const read = [&](fk::Layout<4> const& layout, float const* data) {
        return refusal([&] { check.readable("z", fk::TensorView<float const>(data, layout), shape, "N x K x P x Q"); });
    };
    CHECK(read(fk::nchw(1, 2, 3, 4), memory) == "");
    CHECK(bytes == 96);
    CHECK(read(fk::nchw(1, 2, 4, 3), memory) ==
          "Layer: Op.z: expected 1 x 2 x 3 x 4 (N x K x P x Q), got 1 x 2 x 4 x 3");
    CHECK(read(fk::nchw(1, 2, 3, 4), nullptr) ==
          "Layer: Op.z: expected a pointer to 1 x 2 x 3 x 4 elements, got a null pointer");
    fk::TensorView<float const, 5> const volume(memory, fk::ncdhw(1, 2, 3, 1, 4));
    CHECK(refusal([&] { check.readable("z", fk::collapse<4>(volume), shape, "N x K x P x Q"); }) ==
          "Layer: Op.z: expected 1 x 2 x 3 x 4 (N x K x P x Q), got 1 x 2 x 3 x 1 x 4");
    std::int64_t const far = std::int64_t{1} << 60;
    CHECK(read(fk::Layout<4>{{{1, 2, 3, 4}}, {{0, far, 4, 1}}}, memory) ==
          "Layer: Op.z: expected strides within the address space, got 0 x 1152921504606846976 x 4 x 1");
    check.begin = reinterpret_cast<std::uintptr_t>(memory + 23),
    check.end = reinterpret_cast<std::uintptr_t>(memory + 24);
    CHECK(read(fk::nchw(1, 2, 3, 4), memory) ==
          "Layer: Op.z: expected memory apart from the output's, got memory that overlaps it");
    check.begin += 4, check.end += 4;
    CHECK(read(fk::nchw(1, 2, 3, 4), memory) == "");
}

TEST_CASE("what is written is apart from itself and from all other arguments") {
    float memory[48] = {};
    auto const shape = fk::nchw(1, 2, 3, 4).shape;
    fk::Check check = check_of(shape);
    struct Arguments {
        char views[3 * 24];
    };
    fk::AliasCheckerOf<Arguments> aliases;
    check.aliases = &aliases;
    auto const write = [&](char const* name, fk::Layout<4> const& layout, float* data) {
        return refusal([&] { check.writable(name, fk::TensorView<float>(data, layout), shape, "N x K x P x Q"); });
    };
    CHECK(write("a", fk::Layout<4>{{{1, 2, 3, 4}}, {{0, 0, 4, 1}}}, memory) ==
          "Layer: Op.a: expected strides under which no two elements share memory, got 0 x 0 x 4 x 1");
    fk::AliasCheckerOf<Arguments> fresh;
    check.aliases = &fresh;
    CHECK(write("a", fk::nchw(1, 2, 3, 4), memory) == "");
    CHECK(write("b", fk::nchw(1, 2, 3, 4), memory + 23) ==
          "Layer: Op.b: expected memory apart from that of Op.a, got memory that overlaps it");
    CHECK(write("b", fk::nchw(1, 2, 3, 4), memory + 24) == "");
}

TEST_CASE("addresses reach from the lowest element to past the highest, whatever the signs of strides") {
    float memory[24] = {};
    fk::Check const check = check_of(fk::nchw(1, 2, 3, 4).shape);
    std::uintptr_t first = 0, last = 0;
    fk::Layout<4> const flipped{{{1, 2, 3, 4}}, {{0, 12, -4, 1}}};
    check.address_range("z", memory + 8, 4, flipped, first, last);
    CHECK(first == reinterpret_cast<std::uintptr_t>(memory));
    CHECK(last == reinterpret_cast<std::uintptr_t>(memory + 24));
}
