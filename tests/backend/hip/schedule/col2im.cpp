// SPDX-License-Identifier: MIT
#include "fusekit/backend/hip/schedule/col2im.hpp"

#include <catch2/catch_test_macros.hpp>
#include <string>

#include "backend/hip/schedule/problems.hpp"
#include "fusekit/backend/hip/schedule/phased_halo.hpp"

namespace fk = fusekit;
using namespace fk::hip;

namespace {

using Three = fk::TransposedConv<fk::filter(3, 3).pad(1)>;
using Relu = fk::Activation<fk::Relu>;

static_assert(Col2imEntry::describes<Col2im<1>> && !Col2imEntry::describes<PhasedHalo<>>);
static_assert(!PhasedHaloEntry::describes<Col2im<>>);
static_assert(test::compiles<Col2imEntry, Col2im<>, fk::half, Three, fk::Bias, Relu, fk::Residual, fk::Amax>());

template <class T, class... Ops>
constexpr bool has_kernel = Col2imEntry::has_kernel<fk::Plan<Ops...>, T, T>;
static_assert(has_kernel<fk::half, Three> && has_kernel<fk::bfloat16, fk::TransposedConv<fk::filter(3).dilation(2)>>);
static_assert(!has_kernel<float, Three> && !has_kernel<fk::half, fk::Conv<fk::filter(3, 3)>>);
static_assert(!has_kernel<fk::half, fk::TransposedConv<fk::filter(3, 3).stride(2)>>);
static_assert(!has_kernel<fk::half, fk::TransposedConv<fk::filter(3, 3).groups(2)>>);
static_assert(!has_kernel<fk::half, fk::TransposedConv<fk::filter(1, 1)>>);
static_assert(!has_kernel<fk::half, fk::TransposedConv<fk::filter(3, 3, 3)>>);
static_assert(!has_kernel<fk::half, Relu, Three> && !has_kernel<fk::half, Three, fk::ChannelStatistics>);

/// The gradient of a 3x3 convolution to c channels by an image of k channels.
ConvCase gradient(std::int64_t n, std::int64_t c, std::int64_t hw, std::int64_t k) {
    ConvCase of = test::problem(n, c, hw, k, 3);
    of.transposed = true;
    of.product.bytes = 2.0 * static_cast<double>(n * hw * hw * (k + c));
    return of;
}

}  // namespace

TEST_CASE("Col2im implements few channels of y, in tiles that fit shared memory") {
    auto const sentence = [](auto const& change) {
        ConvCase of = gradient(4, 64, 56, 3);
        change(of);
        bool const finite = test::time_of<Col2imEntry, Col2im<>>(of).is_finite();
        std::string const text = test::sentence(Col2imEntry::can_implement<Col2im<>, fk::half, fk::half>(of));
        CHECK(finite == text.empty());
        return text;
    };
    CHECK(sentence([](ConvCase&) {}) == "");
    CHECK(sentence([](ConvCase& of) { of.y[1] = 9; }) == "K = 9 exceeds 8: use WarpSpecialized");
    CHECK(sentence([](ConvCase& of) { of.product.groups = 2; }) == "groups = 2 is not 1: use MatrixGemm");
    CHECK(sentence([](ConvCase& of) { of.transposed = false; }) ==
          "the plan has no TransposedConv: use WarpSpecialized");
    CHECK(sentence([](ConvCase& of) { of.x_channel_stride = 9; }) == "x's channel stride = 9 is not 1: use MatrixGemm");
    CHECK(sentence([](ConvCase& of) { of.filter = fk::filter(16, 16); }) ==
          "rows of y in a tile that fits shared memory = 0 is below 1: use WarpSpecialized");
}

TEST_CASE("Col2im's tiles fit shared memory, and their boxes have the pixels that the windows read") {
    for (std::int64_t const channels : {1, 8, 64, 72, 256, 1024})
        for (std::int64_t const k : {1, 3, 8})
            for (fk::Filter<2> const& filter :
                 {fk::filter(3, 3), fk::filter(1, 2), fk::filter(5, 3).dilation(2, 3), fk::filter(7, 7)}) {
                Col2imShape const shape = Col2imShape::of(channels, {{2, k, 100, 57}}, filter);
                INFO(channels << ' ' << k << ' ' << filter.to_string().c_str());
                if (channels <= 64 && filter.size[0] <= 3) CHECK(shape.rows > 0);
                if (shape.rows == 0) continue;
                CHECK(shape.bytes() <= Col2imShape::shared_bytes);
                CHECK(shape.box_rows == shape.rows + (filter.size[0] - 1) * filter.dilations[0]);
                CHECK(shape.box_columns == shape.columns() + (filter.size[1] - 1) * filter.dilations[1]);
                CHECK((shape.box_rows <= 256 && shape.box_columns <= 256));
                CHECK((shape.k_steps * 16 >= channels && shape.k_blocks * 64 >= channels));
                CHECK(shape.pairs * 16 >= k * filter.size[0] * filter.size[1]);
                CHECK((shape.pitch() >= shape.box() && shape.pitch() % 16 == 4 && shape.block_bytes() % 1024 == 0));
            }
}

TEST_CASE("Col2im's time grows with the batch and is within twice that of its bytes") {
    double before = 0;
    for (std::int64_t n = 1; n <= 256; n *= 4) {
        double const time = test::time_of<Col2imEntry, Col2im<>>(gradient(n, 64, 224, 3)).seconds;
        CHECK(time > before);
        before = time;
    }
    double const memory = gradient(256, 64, 224, 3).product.bytes / (NvidiaTuning::costs.memory_share * 4800e9);
    CHECK((before > memory && before < 2 * memory));
}
