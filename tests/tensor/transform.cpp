// SPDX-License-Identifier: MIT
#include "fusekit/tensor/transform.hpp"

#include <catch2/catch_test_macros.hpp>
#include <string>
#include <type_traits>
#include <vector>

#include "fusekit/fusekit.hpp"
#include "support/refusal.hpp"

namespace fk = fusekit;
using test::refusal;

namespace {

/// Elements 0, 1, 2, ... in memory order.
struct Counted {
    std::vector<float> memory;
    explicit Counted(fk::Extent size) : memory(static_cast<std::size_t>(size)) {
        for (std::size_t i = 0; i < memory.size(); ++i) memory[i] = static_cast<float>(i);
    }
    fk::TensorView<float> view(fk::Layout<4> const& layout) { return {memory.data(), layout}; }
};

/// Elements of a view in canonical order.
template <class T, int Rank>
std::vector<float> listed(fk::TensorView<T, Rank> const& view) {
    std::vector<float> all;
    for (fk::Extent i = 0; i < view.layout.size(); ++i) {
        fk::Index<Rank> at{};
        fk::Extent rest = i;
        for (int mode = Rank - 1; mode >= 0; --mode) {
            at[mode] = rest % view.layout.shape[mode];
            rest /= view.layout.shape[mode];
        }
        all.push_back(view.data[view.layout.offset(at)]);
    }
    return all;
}

}  // namespace

TEST_CASE("a slice is every step-th element of a mode") {
    Counted tensor(24);
    CHECK(listed(fk::sliced(tensor.view(fk::nchw(1, 2, 3, 4)), 3, 1, 2, 2)) ==
          std::vector<float>{1, 3, 5, 7, 9, 11, 13, 15, 17, 19, 21, 23});
    CHECK(listed(fk::sliced(tensor.view(fk::nhwc(1, 3, 4, 2)), 1, 1, 1)) ==
          std::vector<float>{1, 3, 5, 7, 9, 11, 13, 15, 17, 19, 21, 23});
    CHECK(listed(fk::sliced(fk::sliced(tensor.view(fk::nchw(2, 3, 2, 2)), 0, 1, 1), 1, 2, 1)) ==
          std::vector<float>{20, 21, 22, 23});

    auto const view = tensor.view(fk::nchw(1, 2, 3, 4));
    CHECK(refusal([&] { fk::sliced(view, 4, 0, 1); }) == "view: sliced.mode: expected 0 to 3, got 4");
    CHECK(refusal([&] { fk::sliced(view, 3, 4, 1); }) == "view: sliced.first: expected 0 to 3, got 4");
    CHECK(refusal([&] { fk::sliced(view, 3, -1, 1); }) == "view: sliced.first: expected 0 to 3, got -1");
    CHECK(refusal([&] { fk::sliced(view, 3, 1, 3, 2); }) == "view: sliced.count: expected 0 to 2, got 3");
    CHECK(refusal([&] { fk::sliced(view, 3, 1, 1, 0); }) == "view: sliced.step: expected 1 or more, got 0");
}

TEST_CASE("views of no elements keep their pointer, which may be null") {
    Counted tensor(24);
    auto const view = tensor.view(fk::nchw(1, 2, 3, 4));
    for (fk::Extent const first : {0, 1, 2}) {  // as the last part of a split
        auto const none = fk::sliced(view, 1, first, 0);
        CHECK(none.layout.shape == fk::Index<4>{{1, 0, 3, 4}});
        CHECK(none.data == view.data);
    }
    CHECK(refusal([&] { fk::sliced(view, 1, 3, 0); }) == "view: sliced.first: expected 0 to 2, got 3");
    CHECK(refusal([&] { fk::sliced(view, 1, 0, -1); }) == "view: sliced.count: expected 0 to 2, got -1");
    fk::TensorView<float> const empty(nullptr, fk::nchw(0, 2, 3, 4));
    CHECK(fk::sliced(empty, 0, 0, 0).data == nullptr);
    CHECK(refusal([&] { fk::sliced(empty, 0, 0, 1); }) == "view: sliced.count: expected 0 to 0, got 1");
    CHECK(fk::sliced(empty, 1, 1, 1).layout.shape == fk::Index<4>{{0, 1, 3, 4}});
    CHECK(fk::sliced(empty, 1, 1, 1).data == nullptr);
    CHECK(fk::flipped(empty, 3).data == nullptr);
    CHECK(fk::transposed(empty, 0, 1).layout.shape == fk::Index<4>{{2, 0, 3, 4}});
    CHECK(fk::broadcast(fk::sliced(empty, 1, 0, 1), 0, 7, 3, 4).layout.shape == fk::Index<4>{{0, 7, 3, 4}});
    CHECK(fk::reshaped(empty, 6, 0, 4).layout == fk::ncw(6, 0, 4));
    CHECK(refusal([&] { fk::reshaped(empty, 6, 4); }) == "view: reshaped.extents: expected a product of 0, got 24");
}

TEST_CASE("a flip reverses a mode, a transposition exchanges two") {
    Counted tensor(6);
    auto const view = tensor.view(fk::nchw(1, 1, 2, 3));
    CHECK(listed(fk::flipped(view, 3)) == std::vector<float>{2, 1, 0, 5, 4, 3});
    CHECK(listed(fk::flipped(fk::flipped(view, 3), 2)) == std::vector<float>{5, 4, 3, 2, 1, 0});
    CHECK(listed(fk::flipped(fk::flipped(view, 3), 3)) == std::vector<float>{0, 1, 2, 3, 4, 5});
    CHECK(listed(fk::transposed(view, 2, 3)) == std::vector<float>{0, 3, 1, 4, 2, 5});
    CHECK(refusal([&] { fk::flipped(view, -1); }) == "view: flipped.mode: expected 0 to 3, got -1");
    CHECK(refusal([&] { fk::transposed(view, 0, 9); }) == "view: transposed.mode: expected 0 to 3, got 9");
}

TEST_CASE("a broadcast repeats extents of 1") {
    Counted tensor(2);
    auto const view = fk::broadcast(tensor.view(fk::nchw(1, 2, 1, 1)), 2, 2, 1, 3);
    CHECK(listed(view) == std::vector<float>{0, 0, 0, 1, 1, 1, 0, 0, 0, 1, 1, 1});
    static_assert(std::is_same_v<decltype(view), fk::TensorView<float const> const>);
    CHECK(refusal([&] { fk::broadcast(tensor.view(fk::nchw(1, 2, 1, 1)), 2, 3, 1, 1); }) ==
          "view: broadcast.extents: expected 2 in mode 1, got 3");
}

TEST_CASE("a reshape keeps the order of elements, or is refused") {
    Counted tensor(48);
    auto const in_order = [](auto const& view) {
        auto const all = listed(view);
        for (std::size_t i = 0; i < all.size(); ++i)
            if (all[i] != static_cast<float>(i)) return false;
        return true;
    };
    auto const image = tensor.view(fk::nchw(2, 4, 2, 3));
    CHECK(in_order(fk::reshaped(image, 1, 4, 4, 3)));
    CHECK(in_order(fk::reshaped(image, 48)));
    CHECK(in_order(fk::reshaped(image, 2, 1, 2, 2, 6)));
    CHECK(in_order(fk::reshaped(fk::reshaped(image, 1, 1, 48, 1), 2, 4, 2, 3)));

    auto const halves = fk::sliced(image, 1, 0, 2);  // of each image: elements 0 to 11 of 24
    CHECK(listed(fk::reshaped(halves, 2, 3, 4)) == listed(halves));
    CHECK(refusal([&] { fk::reshaped(halves, 24); }) ==
          "view: reshaped.extents: expected modes of elements that are evenly spaced in memory, here 12, got 24");
    CHECK(refusal([&] { fk::reshaped(image, 2, 4, 5); }) == "view: reshaped.extents: expected a product of 48, got 40");

    auto const last = tensor.view(fk::nhwc(2, 2, 3, 4));
    CHECK(listed(fk::reshaped(last, 2, 2, 2, 6)) == listed(last));
    CHECK(refusal([&] { fk::reshaped(last, 2, 24); }).starts_with("view: reshaped.extents: expected modes"));
    CHECK(listed(fk::reshaped(fk::broadcast(tensor.view(fk::nchw(1, 1, 1, 48)), 3, 1, 1, 48), 3, 48)).size() == 144);
}

TEST_CASE("transforms take tensors, and keep them const") {
    fk::host::Device device;
    auto tensor = fk::tensor<float>(device, fk::nchw(1, 2, 1, 2), {1, 2, 3, 4});
    auto const& constant = tensor;
    static_assert(std::is_same_v<decltype(fk::sliced(tensor, 1, 0, 1)), fk::TensorView<float>>);
    static_assert(std::is_same_v<decltype(fk::sliced(constant, 1, 0, 1)), fk::TensorView<float const>>);
    CHECK(listed(fk::sliced(constant, 1, 1, 1)) == std::vector<float>{3, 4});

    constexpr static auto literal = fk::literal<fk::nchw(1, 1, 1, 3)>(1, 2, 3);
    static_assert(fk::flipped(literal, 3)(0, 0, 0, 0) == 3);
    static_assert(fk::reshaped(literal, 3, 1)(2, 0) == 3);
}
