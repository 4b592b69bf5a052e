// SPDX-License-Identifier: MIT
#pragma once

#include <catch2/catch_test_macros.hpp>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "fusekit/fusekit.hpp"
#include "support/difference.hpp"
#include "support/filled.hpp"
#include "support/finite_differences.hpp"
#include "support/oracle_training.hpp"

/// Synchronised batch norm: a batch whose images are divided among ranks, here in one process, against batch norm in
/// training over the whole batch, in double.
namespace test {

/// A batch and its division: rank r has images[r] of x's images, perhaps none.
struct SynchronizedBatch {
    oracle::Shape shape;  ///< of the whole batch
    std::vector<std::int64_t> images;
    std::vector<double> x, dy;
    std::vector<double> scale, shift;
    double epsilon = 0.25;

    std::size_t ranks() const { return images.size(); }
    double count() const { return static_cast<double>(shape.size() / shape.c); }
    oracle::Shape shape_of(std::size_t rank) const {
        oracle::Shape own = shape;
        own.n = images[rank];
        return own;
    }
    /// A rank's elements of a tensor of the whole batch.
    std::vector<double> part(std::vector<double> const& whole, std::size_t rank) const {
        std::int64_t first = 0;
        for (std::size_t r = 0; r < rank; ++r) first += shape_of(r).size();
        return {whole.begin() + first, whole.begin() + first + shape_of(rank).size()};
    }
};

/// Numbers with the given mean and a deviation near 1, of T.
template <class T>
SynchronizedBatch synchronized_batch(std::vector<std::int64_t> const& images, oracle::Shape shape, double mean) {
    SynchronizedBatch batch{shape, images, {}, {}, {}, {}};
    auto const elements = [&](std::int64_t size, double offset, std::uint64_t seed) {
        std::vector<double> values = integers(size, -224, 224, seed);
        for (double& value : values) value = static_cast<double>(T(static_cast<float>(offset + value / 128)));
        return values;
    };
    batch.x = elements(shape.size(), mean, 1), batch.dy = elements(shape.size(), 0, 2);
    batch.scale = integers(shape.c, 1, 5, 3), batch.shift = integers(shape.c, -2, 2, 4);
    return batch;
}

/// Statistics of the whole batch, with the error of ranks' statistics and of their merge: each has that of
/// oracle::batch_statistics.
inline oracle::BatchStatistics merged_statistics(SynchronizedBatch const& batch) {
    auto all = oracle::batch_statistics({batch.shape, batch.x}, false, false);
    auto const twice = [](Bounded value, std::size_t) { return Bounded{value.value, 2 * value.error}; };
    all.mean = all.mean.each(twice), all.variance = all.variance.each(twice);
    return all;
}

/// dx and the sums over the whole batch: oracle::training_gradients, from the variance instead of the inverse
/// deviation.
inline oracle::TrainingGradients synchronized_gradients(SynchronizedBatch const& batch, oracle::Mode const& mode,
                                                        std::vector<double> const& mean,
                                                        std::vector<double> const& variance) {
    oracle::Tensor const x(batch.shape, batch.x);
    oracle::TrainingGradients all{x, oracle::shared(x.shape, false), oracle::shared(x.shape, false)};
    auto const groups = oracle::sharing(x, false);
    for (std::size_t k = 0; k < groups.size(); ++k) {
        Bounded const inverse = Bounded{1} / sqrt(Bounded{variance[k]} + Bounded{batch.epsilon}),
                      factor = Bounded{batch.scale[k]} / sqrt(Bounded{variance[k]} + Bounded{batch.epsilon});
        std::vector<Bounded> g, along;
        for (std::size_t i : groups[k]) {
            Bounded const apart = x.at[i] - Bounded{mean[k]};
            g.push_back(Bounded{batch.dy[i]} * oracle::slope(mode, apart * factor + Bounded{batch.shift[k]}));
            along.push_back(g.back() * apart);
        }
        Bounded const count{batch.count()};
        all.shift.at[k] = oracle::sum(g), all.scale.at[k] = oracle::sum(along) * inverse;
        for (std::size_t j = 0; j < g.size(); ++j) {
            std::size_t const i = groups[k][j];
            all.dx.at[i] = factor * (g[j] - all.shift.at[k] / count -
                                     (x.at[i] - Bounded{mean[k]}) * (all.scale.at[k] * inverse / count));
        }
    }
    return all;
}

template <class T, class Device>
class SynchronizedRun {
public:
    using Mode = fk::Tanh;
    using Statistics = fk::Plan<fk::ChannelStatistics>;
    using Merge = fk::Plan<fk::MergedStatistics>;
    using Sums = fk::Backward<fk::Plan<fk::BatchNormInference<fk::Spatial>, fk::Activation<Mode>>>;
    using Layer = fk::Plan<fk::BatchNormSynchronized, fk::Activation<Mode>>;
    using Gradient = fk::Backward<Layer>;

    SynchronizedRun(Device& the_device, SynchronizedBatch const& the_batch, std::string const& the_layout)
        : device(the_device), batch(the_batch), layout(the_layout), k(the_batch.shape.c) {
        for (std::size_t r = 0; r < batch.ranks(); ++r) {
            oracle::Shape const own = batch.shape_of(r);
            x.push_back(std::make_unique<Placed<Device, 4>>(device, fk::data_type<T>, layout_of<4>(layout, own),
                                                            batch.part(batch.x, r)));
            dy.push_back(std::make_unique<Placed<Device, 4>>(device, fk::data_type<T>, layout_of<4>(layout, own),
                                                             batch.part(batch.dy, r)));
        }
    }

    /// Writes every rank's statistics to its row of a tensor of R x (2 K + 1) floats, as an all-gather would, and
    /// merges them.
    void merge() {
        gathered = std::make_unique<Placed<Device, 1>>(device, fk::DataType::float32, fk::channels(ranks() * row()),
                                                       counts_alone());
        fk::TensorView<float, 1> const all = gathered->template view<float>();
        for (std::int64_t r = 0; r < ranks(); ++r)
            if (float* const own = all.data + r * row(); images(r) > 0)
                Statistics::bind({.mean = channels(own), .variance = channels(own + k)})(device, view<T const>(x, r),
                                                                                         fk::no_output);
        fk::Layout<4> const of_parts{{{ranks(), k, 1, 1}}, {{row(), 1, 1, 1}}};
        fk::TensorView<float const> const means(all.data, of_parts), variances(all.data + k, of_parts);
        fk::TensorView<float const, 1> const counts(all.data + 2 * k, {{{ranks()}}, {{row()}}});
        Merge::bind({.variances = variances,
                     .count = counts,
                     .mean = mean.template view<float>(),
                     .variance = variance.template view<float>(),
                     .total_count = total_count.template view<float>(),
                     .saved_inverse_deviation = inverse.template view<float>(),
                     .running_mean = running_mean.template view<float>(),
                     .running_variance = running_variance.template view<float>(),
                     .momentum = 0.25f,
                     .epsilon = static_cast<float>(batch.epsilon)})(device, means, fk::no_output);
    }

    void check_merged() {
        auto const expected = merged_statistics(batch);
        bool const moves = batch.count() > 1;
        CHECK(difference(expected.mean, mean.fetch()) == "");
        CHECK(difference(expected.variance, variance.fetch()) == "");
        CHECK(difference(oracle::inverse_deviations(expected, batch.epsilon), inverse.fetch()) == "");
        CHECK(difference(oracle::Tensor({1, 1, 1, 1}, {batch.count()}), total_count.fetch()) == "");
        auto const moved = [&](oracle::Tensor const& to, double factor) {
            return to.each([&](Bounded v, std::size_t) {
                return moves ? oracle::moved(2, v * Bounded{factor}, 0.25) : Bounded{2};
            });
        };
        CHECK(difference(moved(expected.mean, 1), running_mean.fetch()) == "");
        CHECK(difference(moved(expected.variance, moves ? batch.count() / (batch.count() - 1) : 1),
                         running_variance.fetch()) == "");
    }

    void check_forward() {
        auto const expected = merged_statistics(batch);
        oracle::Tensor const x_of_batch(batch.shape, batch.x);
        auto const y_of_batch = oracle::activation(x_of_batch.each([&](Bounded v, std::size_t i) {
            std::size_t const c = x_of_batch.channel(i);
            Bounded const deviation = sqrt(expected.variance.at[c] + Bounded{batch.epsilon});
            return (v - expected.mean.at[c]) * (Bounded{batch.scale[c]} / deviation) + Bounded{batch.shift[c]};
        }),
                                                   {"tanh", 1, 1});
        std::size_t first = 0;
        for (std::int64_t r = 0; r < ranks(); ++r) {
            Placed<Device, 4> y(device, fk::data_type<T>, layout_of<4>(layout, shape_of_rank(r)), 16);
            Layer::bind(arguments(), {})(device, view<T const>(x, r), y.template view<T>());
            CHECK(difference(rank_of(y_of_batch, first, r), y.fetch()) == "");
        }
    }

    /// Sums of every rank, their sum, and dx of every rank.
    void check_backward() {
        std::vector<double> sums[2];
        for (auto& each : sums) each.assign(static_cast<std::size_t>(k), 0);
        for (std::int64_t r = 0; r < ranks(); ++r) {
            Placed<Device, 1> own[2] = {floats(), floats()};
            auto const layer = fk::Plan<fk::BatchNormInference<fk::Spatial>, fk::Activation<Mode>>::bind(
                {mean.template view<float const>(), variance.template view<float const>(),
                 scale.template view<float const>(), shift.template view<float const>(),
                 static_cast<float>(batch.epsilon)},
                {});
            Sums::bind(layer, view<T const>(x, r),
                       {.scale = own[0].template view<float>(), .shift = own[1].template view<float>()},
                       {})(device, view<T const>(dy, r), fk::no_output);
            for (int i = 0; i < 2; ++i)
                for (std::int64_t c = 0; c < k; ++c) {
                    double const value = own[i].fetch().get(c);
                    if (images(r) == 0) CHECK(value == 0);
                    auto& sum = sums[i][static_cast<std::size_t>(c)];
                    sum = static_cast<double>(static_cast<float>(sum + value));
                }
        }
        auto const expected = synchronized_gradients(batch, {"tanh", 1, 1}, values_of(mean), values_of(variance));
        Placed<Device, 1> scale_gradient(device, fk::DataType::float32, fk::channels(k), sums[0]),
            shift_gradient(device, fk::DataType::float32, fk::channels(k), sums[1]);
        CHECK(difference(expected.scale, scale_gradient.fetch()) == "");
        CHECK(difference(expected.shift, shift_gradient.fetch()) == "");
        auto args = arguments();
        args.scale_gradient = scale_gradient.template view<float const>();
        args.shift_gradient = shift_gradient.template view<float const>();
        args.total_count = total_count.template view<float const>();
        std::size_t first = 0;
        for (std::int64_t r = 0; r < ranks(); ++r) {
            Placed<Device, 4> dx(device, fk::data_type<T>, layout_of<4>(layout, shape_of_rank(r)), 16);
            Gradient::bind(Layer::bind(args, {}), view<T const>(x, r))(device, view<T const>(dy, r),
                                                                       dx.template view<T>());
            CHECK(difference(rank_of(expected.dx, first, r), dx.fetch()) == "");
            dx.fetch().for_each([&](std::int64_t offset) { gradient.push_back(dx.fetch().get(offset)); });
        }
    }

    void check() { merge(), check_merged(), check_forward(), check_backward(); }

    std::vector<double> gradient;  ///< dx of the whole batch, after check_backward()

private:
    Device& device;
    SynchronizedBatch const& batch;
    std::string const layout;
    std::int64_t const k;
    std::vector<std::unique_ptr<Placed<Device, 4>>> x, dy;
    std::unique_ptr<Placed<Device, 1>> gathered;
    Placed<Device, 1> mean = floats(), variance = floats(), inverse = floats(),
                      running_mean{device, fk::DataType::float32, fk::channels(k), twos()},
                      running_variance{device, fk::DataType::float32, fk::channels(k), twos()},
                      total_count{device, fk::DataType::float32, fk::channels(1), 16},
                      scale{device, fk::DataType::float32, fk::channels(k), batch.scale},
                      shift{device, fk::DataType::float32, fk::channels(k), batch.shift};

    std::int64_t ranks() const { return static_cast<std::int64_t>(batch.ranks()); }
    std::int64_t row() const { return 2 * k + 1; }
    std::int64_t images(std::int64_t rank) const { return batch.images[static_cast<std::size_t>(rank)]; }
    oracle::Shape shape_of_rank(std::int64_t rank) const { return batch.shape_of(static_cast<std::size_t>(rank)); }
    Placed<Device, 1> floats() { return Placed<Device, 1>(device, fk::DataType::float32, fk::channels(k), 16); }
    std::vector<double> twos() const { return std::vector<double>(static_cast<std::size_t>(k), 2); }
    fk::TensorView<float, 1> channels(float* data) const { return {data, fk::channels(k)}; }
    template <class U>
    static fk::TensorView<U> view(std::vector<std::unique_ptr<Placed<Device, 4>>>& of, std::int64_t rank) {
        return of[static_cast<std::size_t>(rank)]->template view<U>();
    }
    /// A rank's NaN statistics and its count.
    std::vector<double> counts_alone() const {
        std::vector<double> values(static_cast<std::size_t>(ranks() * row()), std::numeric_limits<double>::quiet_NaN());
        for (std::int64_t r = 0; r < ranks(); ++r)
            values[static_cast<std::size_t>((r + 1) * row() - 1)] =
                static_cast<double>(images(r) * batch.shape.h * batch.shape.w);
        return values;
    }
    std::vector<double> values_of(Placed<Device, 1>& of) const {
        std::vector<double> values;
        for (std::int64_t c = 0; c < k; ++c) values.push_back(of.fetch().get(c));
        return values;
    }
    fk::BatchNormSynchronized::Args arguments() {
        fk::BatchNormSynchronized::Args args{mean.template view<float const>(), variance.template view<float const>(),
                                             scale.template view<float const>(), shift.template view<float const>()};
        args.epsilon = static_cast<float>(batch.epsilon);
        return args;
    }
    /// The next rank's elements of a tensor of the whole batch, from `first` on.
    oracle::Tensor rank_of(oracle::Tensor const& whole, std::size_t& first, std::int64_t rank) const {
        oracle::Tensor part(shape_of_rank(rank));
        for (Bounded& each : part.at) each = whole.at[first++];
        return part;
    }
};

/// Ranks with different numbers of images, one with none; means of 1e4; one value per channel and rank; one rank.
template <class T>
void check_synchronized(auto& device) {
    using Device = std::remove_reference_t<decltype(device)>;
    auto const check = [&](std::vector<std::int64_t> const& images, oracle::Shape const& shape, double mean,
                           char const* layout) {
        INFO(images.size() << " ranks, " << shape.n << " images of " << shape.c << " x " << shape.h << " x " << shape.w
                           << " around " << mean << ", " << layout);
        auto const batch = synchronized_batch<T>(images, shape, mean);
        SynchronizedRun<T, Device>(device, batch, layout).check();
    };
    for (char const* layout : {"nchw", "nhwc"}) {
        check({2, 0, 3}, {5, 5, 3, 7}, 0, layout);
        check({1, 1, 1, 1}, {4, 9, 1, 1}, 3, layout);
        check({0, 1}, {1, 8, 1, 1}, 0, layout);  // one value per channel of the whole batch
        check({3}, {3, 16, 4, 4}, -1, layout);
        if (sizeof(T) == 4) check({1, 3, 2}, {6, 8, 5, 4}, 10000, layout);
    }
}

}  // namespace test
