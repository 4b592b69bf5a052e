// SPDX-License-Identifier: MIT
#include "fusekit/backend/hip/schedule/stream_k_tail.hpp"

#include <catch2/catch_template_test_macros.hpp>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "backend/hip/sm90a_device.hpp"
#include "support/check_case.hpp"
#include "support/run_case.hpp"
#include "support/transposed_convolutions.hpp"

using namespace test;
using fusekit::hip::WarpSpecialized;

namespace {

using Relu = fk::Activation<fk::Relu>;
using Norm = fk::BatchNormInference<fk::Spatial>;
using PerActivation = fk::BatchNormInference<fk::PerActivation>;
using Wide = WarpSpecialized<192, 128, 4>;

/// Device whose calls run with a WarpSpecialized schedule and, in the last round, `splits` CTAs per tile.
template <class Schedule>
class WithTail : public fk::hip::Directed<WithTail<Schedule>, Schedule> {
public:
    WithTail(fk::hip::Stream const& stream, int the_splits)
        : fk::hip::Directed<WithTail, Schedule>(stream), splits(the_splits) {}

    template <class BoundPlan, class X, class Y>
    auto prepare(BoundPlan const& bound, X const& x, Y const& y) const {
        return fk::hip::prepare_conv_with<Schedule>(this->stream->gpu(), bound, x, y, splits);
    }

private:
    int splits;
};

/// CTAs per tile in the last round of a launch of a 1x1 convolution of `pixels` x `channels` to `pixels` x `filters`,
/// with Wide; and those that the library predicts. `splits`: argument of the launch.
struct Launched {
    unsigned splits, predicted;
};
Launched launched(fk::hip::Device& device, int splits, std::int64_t pixels, std::int64_t channels,
                  std::int64_t filters) {
    fk::Tensor<fk::half, fk::hip::Device> const x(device, fk::nhwc(1, pixels, 1, channels)),
        w(device, fk::krsc(filters, 1, 1, channels));
    fk::Tensor<fk::half, fk::hip::Device> y(device, fk::nhwc(1, pixels, 1, filters));
    using Plan = fk::Plan<fk::Conv<fk::filter(1, 1)>>;
    auto const layer = Plan::bind({.weights = w});
    Launched found{WithTail<Wide>(device, splits)
                       .prepare(layer, Plan::collapse(x.const_view()), Plan::collapse(y.view()))
                       .value()
                       .params.split_k.count,
                   0};
    for (fk::hip::Prediction const& each : predict_all(device, layer, x.const_view(), y.view()))
        if (each.schedule == fk::hip::facts_of<Wide>()) found.predicted = static_cast<unsigned>(each.split_k);
    return found;
}

/// Numbers of tiles of 192 x 128, on 4 SMs, after `#`: all whole rounds, whole rounds and some tiles, no whole round.
constexpr char const* problems[] = {
    "n5c136h19w10k128r1s1pt0l0b0r0u1v1d1e1g1",   // 5: 3 k-tiles, partial pixels
    "n5c72h10w10k200r3s3pt1l1b1r1u1v1d1e1g1",    // 6: 18 k-tiles, of two lengths; partial pixels and channels
    "n1c320h12w13k40r1s1pt0l0b0r0u1v1d1e1g1",    // 1: one warpgroup has no channels in y
    "n1c72h12w13k104r3s3pt1l1b1r1u1v1d1e1g1",    // 1: 18 k-tiles; partial pixels and channels
    "n2c128h9w19k136r1s1pt0l0b0r0u1v1d1e1g1",    // 4
    "n1c128h25w50k136r1s1pt0l0b0r0u1v1d1e1g1",   // 14
    "n1c256h42w40k72r1s1pt0l0b0r0u1v1d1e1g1",    // 9
    "n2c64h9w10k130r1s1pt0l0b0r0u1v1d1e1g1",     // 2: one k-tile
    "n2c192h9w10k131r1s2pt0l0b0r0u1v1d1e1g1",    // 2: 6 k-tiles; threads store y
    "n5c40h10w10k130r3s3pt2l1b0r2u1v1d1e2g1",    // 6: 9 k-tiles of 40 channels; threads store y
};

template <class T, class Schedule>
void check_tails(std::string const& type, int splits) {
    fk::hip::Device device = sm90a_device();
    WithTail<Schedule> tail(device, splits);
    using Device = WithTail<Schedule>;
    for (char const* sizes : problems) {
        std::string const text = std::string(sizes) + " nhwc krsc " + type;
        check_case(Case::parse(text + " CBA relu #3"), run_conv<Device, T, fk::dynamic, fk::Bias, Relu>, tail);
    }
}

/// 6 tiles of 192 x 128, of 18 k-tiles; with 4 SMs the last two are divided in two.
constexpr char const* six_tiles = "n5c72h10w10k200r3s3pt1l1b1r1u1v1d1e1g1";

}  // namespace

TEST_CASE("HIP: a stream-K tail divides the tiles of the last round if there are CTAs and k-tiles for each part") {
    fk::hip::Device device = sm90a_device();
    if (device.gpu().processors() != 4) SKIP("expects the emulated GPU's 4 SMs");
    for (unsigned const splits : {2U, 4U}) {
        auto const splits_for = [&](std::int64_t pixels, std::int64_t channels, std::int64_t filters) {
            return launched(device, static_cast<int>(splits), pixels, channels, filters).splits;
        };
        CHECK(splits_for(5 * 192, 256, 128) == (splits == 2 ? 2 : 1));  // four divide the tiles of a single round
        CHECK(splits_for(5 * 192 - 190, 256, 128) == (splits == 2 ? 2 : 1));
        CHECK(splits_for(9 * 192, 256, 128) == (splits == 2 ? 2 : 1));
        CHECK(splits_for(1, 256, 128) == splits);
        CHECK(splits_for(192, 136, 128) == (splits == 2 ? 2 : 1));  // 3 k-tiles
        CHECK(splits_for(5 * 192, 64, 128) == 1);
        CHECK(splits_for(3 * 192, 256, 256) == (splits == 2 ? 2 : 1));  // two tiles in the last round
        CHECK(splits_for(4 * 192, 256, 128) == 1);
        CHECK(splits_for(7 * 192, 256, 128) == 1);
    }
}

TEST_CASE("HIP: a launch has the stream-K tail that the library predicts") {
    fk::hip::Device device = sm90a_device();
    if (device.gpu().processors() != 4) SKIP("expects the emulated GPU's 4 SMs");
    auto const tail = [&](std::int64_t pixels, std::int64_t channels) {
        auto const [splits, predicted] = launched(device, 0, pixels, channels, 128);
        CHECK(splits == predicted);
        return splits;
    };
    CHECK(tail(192, 4096) == 4);
    CHECK(tail(6 * 192, 4096) == 2);
    CHECK(tail(7 * 192, 4096) == 1);
    CHECK(tail(6 * 192, 128) == 1);
}

TEMPLATE_TEST_CASE("HIP: convolutions with a stream-K tail are exact", "", Wide, (WarpSpecialized<128, 128, 5>)) {
    check_tails<fk::half, TestType>("half", 2);
    check_tails<fk::half, TestType>("half", 4);
}

TEST_CASE("HIP: convolutions of bfloat16 with a stream-K tail are exact") {
    check_tails<fk::bfloat16, WarpSpecialized<96, 128, 6>>("bfloat16", 2);
    check_tails<fk::bfloat16, WarpSpecialized<256, 128, 3>>("bfloat16", 4);
}

TEST_CASE("HIP: operators after a stream-K tail are exact") {
    fk::hip::Device device = sm90a_device();
    using Tail = WithTail<Wide>;
    Tail tail(device, 2);
    std::string const text = std::string(six_tiles) + " nhwc krsc half ";
    check_case(Case::parse(text + "CN #1"), run_conv<Tail, fk::half, fk::dynamic, Norm>, tail);
    check_case(Case::parse(text + "CRA relu #1"), run_conv<Tail, fk::half, fk::dynamic, fk::Residual, Relu>, tail);
    check_case(Case::parse(text + "CM #2"), run_conv<Tail, fk::half, fk::dynamic, PerActivation>, tail);
    check_case(Case::parse("n5c72h10w10k200r1s1pt0l0b0r0u1v1d1e1g1 nhwc+8>nhwc krsc+8 half C #3"),
               run_conv<Tail, fk::half, fk::dynamic>, tail);  // gaps after every row, plane and image
    check_transposed<fk::half, fk::filter(3, 3).pad(1), false, ChannelsLastLayouts>(tail, {5, 136, 10, 10}, 200);
}

TEST_CASE("HIP: convolutions of 8-bit floats with a stream-K tail are exact") {
    fk::hip::Device device = sm90a_device();
    using Tail = WithTail<Wide>;
    Tail tail(device, 2), quarter(device, 4);
    for (char const* sizes : {"n5c144h10w10k208r3s3pt1l1b1r1u1v1d1e1g1",    // 6 tiles, 18 k-tiles
                              "n5c400h19w10k112r1s1pt0l0b0r0u1v1d1e1g1"})  // 5 tiles, 4 k-tiles
        for (Tail* each : {&tail, &quarter}) {
            std::string const text = std::string(sizes) + " nhwc krsc ";
            check_case(Case::parse(text + "e4m3/float CBAS relu #2"),
                       run_conv<Tail, fk::e4m3, fk::dynamic, fk::Bias, Relu, fk::Scale>, *each);
            check_case(Case::parse(text + "e4m3/half CRB #3"),
                       run_conv<Tail, Types<fk::e4m3, fk::half>, fk::dynamic, fk::Residual, fk::Bias>, *each);
        }
}

TEST_CASE("HIP: operands that threads copy, and statistics, have no stream-K tail") {
    fk::hip::Device device = sm90a_device();
    using Tail = WithTail<WarpSpecialized<192, 128, 3>>;
    Tail tail(device, 2);
    check_case(Case::parse("n5c68h10w10k200r3s3pt1l1b1r1u1v1d1e1g1 nhwc krsc half CBA relu #3"),
               run_conv<Tail, fk::half, fk::dynamic, fk::Bias, Relu>, tail);
    check_case(Case::parse("n5c8h10w10k200r3s3pt1l1b1r1u1v1d1e1g1 nhwc krsc half CBA relu #3"),
               run_conv<Tail, fk::half, fk::dynamic, fk::Bias, Relu>, tail);
}

TEST_CASE("HIP: a stream-K tail computes bitwise identical results in every run") {
    fk::hip::Device device = sm90a_device();
    auto const x = fk::random<fk::half>(device, fk::nhwc(1, 1, 5 * 192 - 5, 320), 1),
               w = fk::random<fk::half>(device, fk::krsc(128, 1, 1, 320), 2);
    auto const layer = fk::Plan<fk::Conv<fk::filter(1, 1)>>::bind({.weights = w});
    auto const layout = fk::nhwc(1, 1, 5 * 192 - 5, 128);
    std::vector<fk::half> first(static_cast<std::size_t>(layout.span())), next = first;
    for (int const splits : {2, 4}) {
        WithTail<Wide> tail(device, splits);
        for (int run = 0; run < 3; ++run) {
            auto y = fk::random<fk::half>(device, layout, 3);
            layer(tail, x, y);
            device.synchronize();
            y.copy_to((run == 0 ? first : next).data());
            if (run > 0) CHECK(std::memcmp(first.data(), next.data(), first.size() * sizeof(fk::half)) == 0);
        }
    }
}
