// SPDX-License-Identifier: MIT
#include "fusekit/backend/hip/offset_coord.hpp"

#include <catch2/catch_test_macros.hpp>
#include <numeric>
#include <vector>

namespace fk = fusekit;
using fk::OutputCoord;

namespace {

std::vector<float> counted(std::int64_t size) {
    std::vector<float> all(static_cast<std::size_t>(size));
    std::iota(all.begin(), all.end(), 1.0f);
    return all;
}

}  // namespace

TEST_CASE("HIP: OffsetCoord loads from views with y's strides and with others") {
    fk::Layout<4> const y = fk::nhwc(2, 3, 4, 5), other = fk::nchw(2, 5, 3, 4);
    auto const memory = counted(y.size());
    OutputCoord const at{1, 2, 1, 3};
    std::int64_t const in_image = y.offset({{0, at.k, at.p, at.q}});
    fk::hip::OffsetCoord const coord(at, in_image, y.stride);
    for (fk::Layout<4> const& layout : {y, other}) {
        CHECK(coord.load(fk::AnyView<4>(fk::TensorView<float const>(memory.data(), layout))) ==
              static_cast<float>(layout.offset({{1, 2, 1, 3}}) + 1));
        fk::Layout<3> const each{{{5, 3, 4}}, {{layout.stride[1], layout.stride[2], layout.stride[3]}}};
        CHECK(coord.load(fk::TensorView<float const, 3>(memory.data(), each)) ==
              static_cast<float>(layout.offset({{0, 2, 1, 3}}) + 1));
        std::vector<float> written(memory.size());
        coord.store(fk::AnyOutput(fk::TensorView<float>(written.data(), layout)), 7);
        CHECK(written[static_cast<std::size_t>(layout.offset({{1, 2, 1, 3}}))] == 7);
        CHECK(std::accumulate(written.begin(), written.end(), 0.0f) == 7);
    }
}

TEST_CASE("HIP: OffsetCoords stores packets to views with y's strides and others, aligned or not") {
    fk::Layout<4> const y = fk::nhwc(2, 1, 3, 8), other = fk::nchw(2, 8, 1, 3);
    OutputCoord at[4];
    for (int i = 0; i < 4; ++i) at[i] = {1, 4 + i, 0, 2};
    fk::hip::OffsetCoords<4> const coords{at, y.offset({{0, 4, 0, 2}}), y.stride};
    alignas(16) float memory[52];
    for (int const shift : {0, 1})
        for (fk::Layout<4> const& layout : {y, other}) {
            for (float& value : memory) value = 0;
            coords.store(fk::AnyOutput(fk::TensorView<float>(memory + shift, layout)), {1, 2, 3, 4});
            for (int i = 0; i < 4; ++i)
                CHECK(memory[shift + layout.offset({{1, 4 + i, 0, 2}})] == static_cast<float>(i + 1));
            CHECK(std::accumulate(memory, memory + 52, 0.0f) == 10);
        }
    for (int i = 0; i < 4; ++i)
        CHECK(coords[i].load(fk::AnyView<4>(fk::TensorView<float const>(memory + 1, other))) ==
              static_cast<float>(i + 1));
}

TEST_CASE("HIP: PacketCoord reads parameters lane by lane, and PacketProbe tests that all of them fit") {
    alignas(16) float memory[24];
    std::iota(memory, memory + 24, 1.0f);
    fk::Layout<4> const y = fk::nhwc(2, 1, 3, 8);
    fk::TensorView<float const, 3> const alike(memory, fk::hwc(1, 3, 8)), shifted(memory + 1, fk::hwc(1, 3, 8)),
        transposed(memory, fk::chw(8, 1, 3));
    for (int lane = 0; lane < 4; ++lane)
        CHECK(fk::hip::PacketCoord<4>({0, 4 + lane, 0, 1}, 12 + lane, lane).load(alike) ==
              static_cast<float>(13 + lane));
    auto const fits = [&](auto const&... views) {
        bool fit = true;
        fk::hip::PacketProbe<4> const probe(y.stride, fit);
        ((void)probe.load(views), ...);
        return fit;
    };
    CHECK(fits(alike));
    CHECK(fits(fk::AnyView<1>(fk::TensorView<float const, 1>(memory + 1, fk::channels(8)))));
    CHECK_FALSE(fits(shifted));
    CHECK_FALSE(fits(alike, transposed));
    CHECK_FALSE(fits(fk::AnyView<4>(fk::TensorView<float const>(memory, y))));
}
