// SPDX-License-Identifier: MIT
#include "fusekit/backend/hip/statistics/cluster_totals.hpp"

#include "backend/hip/sm90a_device.hpp"
#include "fusekit/backend/hip/dispatch/reduction.hpp"
#include "support/random.hpp"
#include "support/training_cases.hpp"

using namespace test;

TEST_CASE("clusters of a reduction have work for every CTA, and 4 iterations of a thread's loop at most") {
    Random random(20261129);
    for (int i = 0; i < 2000; ++i) {
        std::int64_t const segments = random.range(1, 500), packets = random.range(1, 100000),
                           rows = std::int64_t{1} << random.range(0, 8), unroll = std::int64_t{1} << random.range(0, 3),
                           processors = random.range(1, 200);
        unsigned const cluster = fk::hip::detail::choose_cluster(segments, packets, rows, unroll, processors);
        INFO(segments << " segments of " << packets << " packets, " << rows << " rows, unroll " << unroll << ", "
                      << processors << " SMs");
        CHECK((cluster & (cluster - 1)) == 0);
        CHECK(cluster <= fk::hip::max_cluster_blocks);
        if (cluster == 0) {
            CHECK(packets > rows * unroll * 8 * 4);
            continue;
        }
        CHECK(packets <= rows * unroll * cluster * 4);
        CHECK((cluster == 1 || packets > rows * (cluster / 2)));
        bool const in_one_iteration = packets <= rows * unroll * cluster, occupied = segments * cluster >= processors;
        CHECK((cluster == 8 || packets <= rows * cluster || (in_one_iteration && occupied)));
    }
}

namespace {

/// Stream that counts the reductions that are launched in clusters.
class CountingClusters : public fk::hip::Directed<CountingClusters> {
public:
    explicit CountingClusters(fk::hip::Stream const& stream) : Directed(stream) {}
    mutable int clusters = 0;

    template <class BoundPlan, fk::Element T, fk::detail::OutputElement U>
    auto prepare(BoundPlan const& bound, fk::detail::ImageView<T const> const& x,
                 fk::detail::ImageView<U> const& y) const {
        if constexpr (BoundPlan::Plan::head_kind == fk::detail::HeadKind::reduction) {
            using Schedule = fk::hip::DefaultReduction<fk::hip::NvidiaTuning, T>;  // the default is ClusterReducing
            auto launch = fk::hip::prepare_reduction_with<Schedule>(stream->gpu(), bound, x, y);
            if (launch->cluster > 1) ++clusters;
            return launch;
        } else {
            return stream->prepare(bound, x, y);
        }
    }
};

/// Checks batch norm, with means per channel and per pixel, and its gradients by the oracle.
template <class T>
void check(CountingClusters& device, oracle::Shape const& shape, char const* layouts) {
    INFO(shape.n << " x " << shape.c << " x " << shape.h << " x " << shape.w << ", " << layouts);
    int const before = device.clusters;
    test::detail::check_training_of<T>(test::detail::training_case(shape, layouts, true), device);
    CHECK(device.clusters > before);
}

}  // namespace

TEST_CASE("batch norm of small tensors merges totals within clusters") {
    fk::hip::Device const gpu = sm90a_device();
    CountingClusters device(gpu);
    check<fk::half>(device, {4, 96, 14, 14}, "nhwc");
    check<fk::half>(device, {3, 58, 9, 11}, "nhwc");  // channels that are no multiple of a vector
    check<fk::half>(device, {1, 8, 56, 56}, "nhwc");
    check<float>(device, {5, 20, 13, 17}, "nhwc");
    check<float>(device, {5, 1, 33, 36}, "nchw");
    check<float>(device, {2, 3, 65, 24}, "nchw");
    check_training_of_integers<fk::half>(device);
    check_training_of_integers<float>(device);
}
