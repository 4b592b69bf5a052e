// SPDX-License-Identifier: MIT
#include "support/oracle_training.hpp"

namespace test::oracle {

Bounded sum(std::vector<Bounded> const& terms) {
    double value = 0, magnitude = 0, error = 0;
    bool exact = true;
    for (Bounded const& term : terms) {
        value += term.value, magnitude += std::fabs(term.value), error += term.error;
        exact = exact && term.error == 0 && term.value * 256 == std::trunc(term.value * 256);
    }
    if (exact && magnitude <= 0x1p16) return {value, 0};
    return {value, error + sum_share * (magnitude + error) + Bounded::smallest};
}

std::vector<std::vector<std::size_t>> sharing(Tensor const& x, bool per_pixel) {
    std::vector<std::vector<std::size_t>> groups(
        static_cast<std::size_t>(per_pixel ? x.shape.size() / x.shape.n : x.shape.c));
    for (std::size_t i = 0; i < x.at.size(); ++i) groups[per_pixel ? x.element(i) : x.channel(i)].push_back(i);
    return groups;
}

Tensor shared(Shape const& x, bool per_pixel) {
    return Tensor(per_pixel ? Shape{1, x.c, x.h, x.w, x.d} : Shape{1, x.c, 1, 1});
}

BatchStatistics batch_statistics(Tensor const& x, bool per_pixel, bool exact) {
    BatchStatistics all{shared(x.shape, per_pixel), shared(x.shape, per_pixel), 0};
    auto const groups = sharing(x, per_pixel);
    for (std::size_t g = 0; g < groups.size(); ++g) {
        double const count = static_cast<double>(groups[g].size());
        long double sum = 0, squares = 0;
        double farthest = 0;
        for (std::size_t i : groups[g]) sum += x.at[i].value;
        long double const mean = sum / count;
        for (std::size_t i : groups[g]) {
            long double const apart = x.at[i].value - mean;
            squares += apart * apart;
            farthest = std::fmax(farthest, static_cast<double>(std::fabs(apart)));
        }
        double const m = static_cast<double>(mean), variance = static_cast<double>(squares / count);
        double const off = 32 * Bounded::unit * std::fabs(m) + sum_share * farthest;
        all.mean.at[g] = {m, exact ? 0 : off};
        all.variance.at[g] = {
            variance,
            exact ? 0 : 2 * sum_share * (variance + farthest * farthest) + off * (2 * std::sqrt(variance) + off)};
        all.count = count;
    }
    return all;
}

Bounded inverse_deviation(Bounded variance, double epsilon) { return Bounded{1} / sqrt(variance + Bounded{epsilon}); }

Tensor inverse_deviations(BatchStatistics const& batch, double epsilon) {
    return batch.variance.each([&](Bounded v, std::size_t) { return inverse_deviation(v, epsilon); });
}

Tensor batch_norm_training(Tensor const& x, Statistics const& s, bool per_pixel, bool exact) {
    BatchStatistics const batch = batch_statistics(x, per_pixel, exact);
    return x.each([&](Bounded v, std::size_t i) {
        std::size_t const g = per_pixel ? x.element(i) : x.channel(i);
        return (v - batch.mean.at[g]) * (Bounded{s.scale[g]} / sqrt(batch.variance.at[g] + Bounded{s.epsilon})) +
               Bounded{s.shift[g]};
    });
}

Bounded moved(double running, Bounded to, double momentum) {
    return Bounded{running} + Bounded{momentum} * (to - Bounded{running});
}

Bounded slope(Mode const& mode, Bounded x) {
    double const y = mode.slope(x.value);
    double const spread =
        std::fmax(std::fabs(mode.slope(x.value + x.error) - y), std::fabs(mode.slope(x.value - x.error) - y));
    if (mode.kind().exact) return {y, x.error == 0 ? 0 : spread};
    return {y, 2 * spread + 64 * Bounded::unit * (1 + std::fabs(y))};
}

TrainingGradients training_gradients(Tensor const& x, std::vector<double> const& dy, Mode const& mode,
                                     Statistics const& s, Saved const& saved, bool per_pixel) {
    TrainingGradients all{x, shared(x.shape, per_pixel), shared(x.shape, per_pixel)};
    auto const groups = sharing(x, per_pixel);
    for (std::size_t g = 0; g < groups.size(); ++g) {
        Bounded const mean{saved.mean[g]}, inverse{saved.inverse_deviation[g]}, scale{s.scale[g]}, shift{s.shift[g]};
        Bounded const factor = scale * inverse, count{static_cast<double>(groups[g].size())};
        std::vector<Bounded> back, along;
        for (std::size_t i : groups[g]) {
            Bounded const apart = x.at[i] - mean;
            back.push_back(Bounded{dy[i]} * slope(mode, apart * factor + shift));
            along.push_back(back.back() * apart);
        }
        Bounded const sum_back = sum(back), sum_along = sum(along);
        all.shift.at[g] = sum_back;
        all.scale.at[g] = sum_along * inverse;
        for (std::size_t j = 0; j < groups[g].size(); ++j) {
            std::size_t const i = groups[g][j];
            Bounded const share = sum_along / count * inverse * inverse;
            all.dx.at[i] = factor * (back[j] - sum_back / count - (x.at[i] - mean) * share);
        }
    }
    return all;
}

}  // namespace test::oracle
