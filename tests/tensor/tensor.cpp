// SPDX-License-Identifier: MIT
#include "fusekit/tensor/tensor.hpp"

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <string>
#include <type_traits>
#include <vector>

#include "fusekit/backend/device.hpp"
#include "fusekit/backend/host/device.hpp"
#include "support/refusal.hpp"

namespace fk = fusekit;
using test::refusal;

namespace {

/// Counts allocations and releases.
struct Counts {
    int live = 0, given = 0;
    std::size_t bytes = 0;
};
struct CountedMemory {
    using Memory = CountedMemory;
    Counts* counts;

    void* allocate(std::size_t size) const {
        ++counts->live, ++counts->given;
        counts->bytes = size;
        return std::malloc(size);
    }
    void release(void* memory) const {
        --counts->live;
        std::free(memory);
    }
    void copy_in(void* to, void const* from, std::size_t size) const {
        if (to && from) std::memcpy(to, from, size);
    }
    void copy_out(void* to, void const* from, std::size_t size) const {
        if (to && from) std::memcpy(to, from, size);
    }
};
struct Counter : Counts, CountedMemory {
    Counter() : CountedMemory{this} {}
    Counter(Counter const&) = delete;
    void synchronize() {}
};
static_assert(fk::Device<Counter> && fk::Device<fk::host::Device> && !fk::Device<int>);

using Tensor = fk::Tensor<float, Counter>;
static_assert(!std::is_copy_constructible_v<Tensor> && !std::is_copy_assignable_v<Tensor>);
static_assert(std::is_nothrow_move_constructible_v<Tensor> && std::is_nothrow_move_assignable_v<Tensor>);

}  // namespace

TEST_CASE("a tensor frees its memory once") {
    Counter device;
    {
        Tensor a(device, fk::nchw(2, 3, 4, 5));
        CHECK(device.bytes == 480);
        float const* const memory = a.data();
        Tensor b(std::move(a));
        CHECK(b.data() == memory);
        CHECK(a.data() == nullptr);
        Tensor c(device, fk::nhwc(1, 2, 2, 1));
        c = std::move(b);
        CHECK(c.data() == memory);
        CHECK(c.layout() == fk::nchw(2, 3, 4, 5));
        CHECK(device.live == 2);
        std::vector<Tensor> many;
        for (int i = 0; i < 9; ++i) many.emplace_back(device, fk::nchw(1, 1, 1, i + 1));
        CHECK(device.live == 11);
    }
    CHECK(device.live == 0);
    CHECK(device.given == 11);
}

TEST_CASE("a tensor copies in memory order, gaps included") {
    Counter device;
    fk::Tensor<float, Counter, 1> a(device, {{{3}}, {{2}}});
    float const in[] = {1, 2, 3, 4, 5};
    float out[5] = {};
    a.copy_from(in);
    a.copy_to(out);
    CHECK(device.bytes == 20);
    CHECK(std::equal(in, in + 5, out));
    CHECK(a.view()(1) == 3);
    a.view()(2) = 9;
    CHECK(a.const_view()(2) == 9);
    CHECK(a.size() == 3);
}

TEST_CASE("tensor() requires the layout's number of elements") {
    Counter device;
    auto const a = fk::tensor<fk::half>(device, fk::nchw(1, 1, 2, 2), {1, 2, 3, 4});
    CHECK(float(a.const_view()(0, 0, 1, 0)) == 3);
    CHECK(refusal([&] { fk::tensor<float>(device, fk::nchw(1, 1, 2, 2), {1, 2, 3}); }) ==
          "Tensor: tensor.values: expected 4 elements, got 3");
    CHECK(device.live == 1);
}

TEST_CASE("a tensor of no elements has no memory") {
    Counter device;
    Tensor empty(device, fk::nchw(2, 0, 3, 4));
    CHECK(empty.size() == 0);
    CHECK(empty.data() == nullptr);
    CHECK(empty.layout().stride == fk::Index<4>{{12, 12, 4, 1}});
    empty.copy_from(nullptr);
    empty.copy_to(nullptr);
    Tensor moved = std::move(empty);
    CHECK(fk::tensor<float>(device, fk::nchw(0, 1, 2, 2), {}).size() == 0);
    CHECK(fk::random<float>(device, fk::nchw(0, 1, 2, 2)).size() == 0);
    CHECK(device.given == 0);
}

TEST_CASE("a tensor refuses extents that are below 0 or overflow") {
    Counter device;
    std::int64_t const big = std::int64_t{1} << 40;
    for (auto const& shape : {fk::Index<4>{{0, -1, 1, 1}}, fk::Index<4>{{1, -2, 3, 4}}, fk::Index<4>{{big, 0, big, 1}},
                              fk::Index<4>{{big, big, 1, 1}}, fk::Index<4>{{1, 1, big, 1 << 22}}}) {
        std::string const text = refusal([&] { Tensor(device, {shape, {{1, 1, 1, 1}}}); });
        CHECK(text.starts_with("Tensor: layout.shape["));
        CHECK(text.find(": expected extents of 0 or more") != text.npos);
        CHECK_THROWS_AS(Tensor(device, fk::packed(shape, {{0, 1, 2, 3}})), fk::Error);
    }
    for (std::int64_t const stride : {std::int64_t{1} << 62, std::int64_t{-8}}) {
        fk::Layout<4> const layout{{{2, 2, 2, 2}}, {{stride, 4, 2, 1}}};
        CHECK(refusal([&] { Tensor(device, layout); }).starts_with("Tensor: layout.stride[0]: "));
    }
    CHECK(device.given == 0);
}

TEST_CASE("random tensors are uniform from -1 to 1, and the same for the same seed") {
    Counter device;
    auto const values = [&](auto const& tensor) {
        std::vector<float> all(static_cast<std::size_t>(tensor.size()));
        tensor.copy_to(all.data());
        return all;
    };
    auto const a = values(fk::random<float>(device, fk::nchw(4, 16, 32, 32)));
    CHECK(a == values(fk::random<float>(device, fk::nchw(4, 16, 32, 32), 1)));
    CHECK(a != values(fk::random<float>(device, fk::nchw(4, 16, 32, 32), 2)));
    double sum = 0, squares = 0;
    for (float v : a) sum += v, squares += static_cast<double>(v) * v;
    double const count = static_cast<double>(a.size());
    CHECK(*std::min_element(a.begin(), a.end()) >= -1);
    CHECK(*std::max_element(a.begin(), a.end()) < 1);
    CHECK(std::fabs(sum / count) < 0.01);
    CHECK(std::fabs(squares / count - 1.0 / 3) < 0.01);
    float const first[] = {a[0], a[1]};
    std::vector<fk::int8> bytes(4 * 16 * 32 * 32);
    fk::random<fk::int8>(device, fk::nchw(4, 16, 32, 32)).copy_to(bytes.data());
    int lowest = 0, highest = 0;
    for (fk::int8 const value : bytes)
        lowest = std::min<int>(lowest, value.value), highest = std::max<int>(highest, value.value);
    CHECK((lowest == -128 && highest == 127));
    fk::Tensor<fk::half, Counter> const h = fk::random<fk::half>(device, fk::nchw(1, 1, 1, 2));
    CHECK(float(h.const_view()(0, 0, 0, 1)) == float(fk::half(first[1])));
    CHECK(device.live == 1);
}
