// SPDX-License-Identifier: MIT
#include "fusekit/backend/hip/mainloop/cluster_reduction.hpp"

#include <cmath>
#include <vector>

#include "backend/hip/sm90a_device.hpp"
#include "fusekit/backend/hip/dispatch/reduction.hpp"
#include "support/half_types.hpp"
#include "support/random.hpp"
#include "support/training_cases.hpp"

using namespace test;

namespace {

/// Launch of a reduction.
struct Launched {
    unsigned width, cluster;
    bool in_registers;  ///< true if ClusterReducing ran: its launches alone have 0 loop iterations
    std::size_t workspace_bytes;
};

/// Stream that records the launches of reductions with sums per channel.
class Recording : public fk::hip::Directed<Recording> {
public:
    explicit Recording(fk::hip::Stream const& stream) : Directed(stream) {}
    mutable std::vector<Launched> launches;

    int processors() const { return stream->gpu().processors(); }

    template <class BoundPlan, fk::Element T, fk::detail::OutputElement U>
    auto prepare(BoundPlan const& bound, fk::detail::ImageView<T const> const& x,
                 fk::detail::ImageView<U> const& y) const {
        if constexpr (BoundPlan::Plan::head_kind == fk::detail::HeadKind::reduction) {
            auto launch = fk::hip::prepare_reduction(stream->gpu(), bound, x, y);
            if (!fk::detail::ReductionSteps<typename BoundPlan::Plan::Head>::per_pixel)
                launches.push_back(
                    {launch->params.width, launch->cluster, launch->params.groups == 0, launch->workspace_bytes});
            return launch;
        } else {
            return stream->prepare(bound, x, y);
        }
    }
};

/// SMs of the emulated H200. A GPU with more divides a tensor into larger clusters.
constexpr int emulated_processors = 4;

/// Checks batch norm per channel, the only one that clusters compute, and its gradients by the oracle and, on the
/// emulated GPU, how the forward run is divided into clusters.
template <class T>
void check(Recording& device, oracle::Shape const& shape, char const* layouts, unsigned width, unsigned cluster) {
    INFO(shape.n << " x " << shape.c << " x " << shape.h << " x " << shape.w << ", " << layouts);
    device.launches.clear();
    Case about = test::detail::training_case(shape, layouts, true);
    about.seed = 64;  // tensors aligned to packets
    test::detail::check_training_of<T, false>(about, device);
    REQUIRE(device.launches.size() == 2);
    if (device.processors() == emulated_processors) {
        CHECK(device.launches[0].width == width);
        CHECK(device.launches[0].cluster == cluster);
    }
    for (Launched const& launched : device.launches) {
        INFO("width " << launched.width << ", clusters of " << launched.cluster);
        CHECK((launched.in_registers && launched.workspace_bytes == 0));
    }
}

}  // namespace

TEST_CASE("clusters that store a reduction have registers for it, and work for every CTA") {
    using Schedule = fk::hip::ClusterReduction<1>;
    Random random(20261130);
    for (int i = 0; i < 2000; ++i) {
        bool const by_columns = random.chance(0.5);
        std::int64_t const segments = random.range(1, 2000), columns = by_columns ? random.range(1, 300) : 0,
                           steps = random.range(1, 100000), processors = random.range(1, 200);
        unsigned const most = random.chance(0.5) ? 8 : 16;
        auto const cut = fk::hip::detail::cut_into_clusters<Schedule>(segments, columns, steps, most, processors);
        INFO(segments << " segments, " << columns << " columns, " << steps << " steps, " << processors << " SMs");
        std::int64_t const thread_rows = Schedule::threads * Schedule::many * std::int64_t{most};
        if (cut.width == 0) {
            bool const is_large = steps * 2 > thread_rows, has_waves = (columns + segments) * most > processors * 4;
            CHECK((is_large || has_waves));
            continue;
        }
        std::int64_t const rows = Schedule::threads / cut.width * cut.cluster;
        CHECK((cut.cluster >= 1 && cut.cluster <= most && (cut.cluster & (cut.cluster - 1)) == 0));
        CHECK((cut.width == 1 || (cut.width == 2 && columns > 1)));
        CHECK((cut.packets <= Schedule::many && rows * cut.packets >= steps && rows * (cut.packets - 1) < steps));
        CHECK((cut.cluster == 1 || steps > rows / 2));
    }
}

TEST_CASE("batch norm of small tensors is reduced in the registers of a cluster") {
    fk::hip::Device const gpu = sm90a_device();
    Recording device(gpu);
    check<fk::half>(device, {2, 24, 9, 11}, "nhwc", 2, 2);  // the last segment is narrower
    check<fk::half>(device, {1, 8, 37, 41}, "nhwc", 1, 4);
    check<LastHalf>(device, {3, 16, 5, 7}, "nhwc", 2, 1);
    check<float>(device, {5, 20, 13, 17}, "nhwc", 2, 4);
    check<float>(device, {5, 1, 33, 36}, "nchw", 1, 4);
    check<fk::half>(device, {7, 8, 7, 7}, "nchw", 1, 1);  // planes that are no whole number of vectors
    check<fk::half>(device, {3, 8, 65, 25}, "nchw", 1, 1);
    check<fk::half>(device, {3, 58, 9, 11}, "nhwc", 8, 1);  // channels that are no multiple of a vector
    check<LastHalf>(device, {2, 6, 23, 19}, "nhwc", 4, 4);
    check<float>(device, {2, 5, 9, 7}, "nhwc", 8, 4);
    check<fk::half>(device, {1, 8, 97, 89}, "nhwc", 1, 16);
    check<fk::half>(device, {2, 8, 83, 101}, "nhwc", 1, 8);  // many packets per thread
    check_training_of_integers<float, false>(device);
    check_training_of_hard_numbers<false>(device);
}

TEST_CASE("clusters add a residual as the kernel with two passes does") {
    using Norm = fk::BatchNormTraining<fk::Spatial>;
    fk::hip::Device device = sm90a_device();
    auto two_passes = device.with<fk::hip::Reduction<>>();
    for (fk::Layout<4> const& layout : {fk::nhwc(2, 9, 11, 24), fk::nchw(3, 8, 5, 12)}) {
        INFO(to_string(layout.shape));
        Floats x(device, layout), z(device, layout), y(device, layout), expected(device, layout);
        std::vector<float> values(static_cast<std::size_t>(x.size()));
        for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i * 7 % 16);
        z.copy_from(values.data());
        for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i * i % 8);
        x.copy_from(values.data());
        std::vector<float> const poison(values.size(), NAN), ones(static_cast<std::size_t>(layout.shape[1]), 1);
        y.copy_from(poison.data()), expected.copy_from(poison.data());
        fk::Tensor<float, fk::hip::Device, 1> parameters(device, fk::channels(layout.shape[1]));
        parameters.copy_from(ones.data());
        auto const layer = fk::Plan<Norm, fk::Residual>::bind({.scale = parameters, .shift = parameters}, {z});
        layer(device, x, y);
        layer(two_passes, x, expected);
        std::vector<float> const given = numbers(y), wanted = numbers(expected);
        bool agree = true;
        for (std::size_t i = 0; i < given.size(); ++i) agree &= std::abs(given[i] - wanted[i]) <= 19 * 0x1p-20f;
        CHECK(agree);  // y is at most 19, and statistics of up to 200 integers below 8 differ by a few roundings
    }
}
