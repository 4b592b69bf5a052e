// SPDX-License-Identifier: MIT
#include "support/problem.hpp"

#include <algorithm>
#include <cmath>
#include <map>

#include "support/format.hpp"
#include "support/oracle_training.hpp"
#include "support/random.hpp"

namespace test {

namespace {

/// Fills for which every intermediate result is a float: small integers, variances with a power-of-two root,
/// power-of-two factors. Most values are positive, so that a Relu keeps most outputs nonzero.
class Fill {
public:
    explicit Fill(Case const& about) : about(about), random(about.seed) {}

    std::vector<double> input(std::int64_t size) { return numbers(size, about.type, -1, largest(), 1); }

    /// Integers such that each of four consecutive values is equally frequent in every mean: the variance is 1.25, and
    /// a square with 2.75 added. Partial means are floats if all counts are powers of 2.
    std::vector<double> batch() {
        oracle::Tensor const activations(about.x);
        std::vector<double> values(static_cast<std::size_t>(about.x.size()));
        for (auto const& group : oracle::sharing(activations, about.form[0] == 'U')) {
            std::int64_t const lowest = random.range(-4, 1);
            for (std::size_t i = 0; i < group.size(); ++i)
                values[group[i]] = static_cast<double>(lowest + static_cast<std::int64_t>(i + i / 4) % 4);
        }
        return values;
    }
    std::vector<double> gradient(std::int64_t size) { return numbers(size, about.type, -3, 4, 1); }

    /// Even seed: enough weights are zero that an output needs few bits, in most cases no more than its type has. Odd
    /// seed: no weight is zero, and the exact sum is rounded once.
    std::vector<double> weights(std::int64_t size) {
        double const room = about.type == fk::DataType::bfloat16  ? 0x1p8
                            : about.type == fk::DataType::float16 ? 0x1p11
                                                                  : 0x1p24;
        double const dense = static_cast<double>(about.gemm_k()) * mean() * mean();
        return numbers(size, about.type, -1, largest(), about.seed % 2 || dense < room ? 1 : room / dense);
    }

    /// Step of an operator that is applied to values of this shape.
    Step step(char letter, oracle::Shape const& shape) {
        Step step{letter, {}};
        std::int64_t const activations = shape.size() / shape.n;
        switch (letter) {
            case 'B': step.values = numbers(shape.c, about.parameters, -2, 5, 1); break;
            case 'N': step.statistics = statistics(shape.c); break;
            case 'M': step.statistics = statistics(activations); break;
            case 'T': step.statistics = statistics(shape.c, 2.75); break;
            case 'U': step.statistics = statistics(activations, 2.75); break;
            case 'R':
                step.values = numbers(shape.size(), about.parameters, -2, 5, 1);
                step.factor = about.real ? real(-2, 2) : random.pick({0.5, 1.0, 2.0});
                break;
            case 'Q':
                step.values = scales(shape.c);
                step.factor = about.real ? real(-9, 9) : static_cast<double>(random.range(-9, 9));
                break;
            case 'S': step.factor = about.real ? real(-2, 2) : random.pick({0.5, 2.0}); break;
            case 'A': step.mode = mode(); break;
        }
        return step;
    }

private:
    Case const& about;
    Random random;

    double real(double low, double high) { return static_cast<float>(low + (high - low) * random.uniform()); }

    /// For double, a multiple of 2^-9: a float that finite differences shift without rounding.
    double parameter(double low, double high) {
        double const value = real(low, high);
        return about.type == fk::DataType::float64 ? std::nearbyint(value * 0x1p9) * 0x1p-9 : value;
    }

    /// Largest input or weight: its square times GemmK is within the type's range.
    std::int64_t largest() const {
        return std::clamp<std::int64_t>(30000 / about.gemm_k(), 1, 16) >= 16 ? 4 : about.gemm_k() < 7500 ? 2 : 1;
    }
    double mean() const { return (static_cast<double>(largest()) + 1) / 2; }

    /// Nonzero integers, of which a random share 1 - `density` is set to zero; or reals in [-1, 1).
    std::vector<double> numbers(std::int64_t size, fk::DataType type, std::int64_t low, std::int64_t high,
                                double density) {
        std::vector<double> values(static_cast<std::size_t>(size));
        for (double& value : values) {
            if (type == fk::DataType::int8) value = static_cast<double>(random.range(-128, 127));
            else if (about.real) value = format_of(type).round(2 * random.uniform() - 1);
            else if (density < 1 && !random.chance(density)) value = 0;
            else {
                std::int64_t const integer = random.range(low, high - 1);
                value = static_cast<double>(integer < 0 ? integer : integer + 1);
            }
        }
        return values;
    }

    /// Scales that keep most outputs, but not all, in int8's range; powers of two, so that products are exact and many
    /// are halfway between two integers.
    std::vector<double> scales(std::int64_t size) {
        double const usual = about.has_conv() ? 74.0 * 74.0 * std::sqrt(static_cast<double>(about.gemm_k())) : 74.0;
        std::vector<double> values;
        for (std::int64_t i = 0; i < size; ++i) {
            double const power =
                std::exp2(std::round(std::log2(74.0 / usual)) - static_cast<double>(random.range(0, 1)));
            values.push_back(about.real ? real(0.5 * power, 2 * power) : power);
        }
        return values;
    }

    oracle::Statistics statistics(std::int64_t size, double epsilon = 0.25) {
        oracle::Statistics s;
        s.epsilon = about.real ? 1e-5f : epsilon;
        for (std::int64_t i = 0; i < size; ++i) {
            double const root = static_cast<double>(random.pick({1, 2, 4}));
            s.mean.push_back(about.real ? real(-1, 1) : static_cast<double>(random.range(-3, 2)));
            s.variance.push_back(about.real ? real(0.1, 2) : root * root - s.epsilon);
            s.scale.push_back(about.real ? parameter(-2, 2) : random.pick({0.5, 1.0, 2.0, 3.0}));
            s.shift.push_back(about.real ? parameter(-1, 1) : static_cast<double>(random.range(-1, 4)));
        }
        return s;
    }

    oracle::Mode mode() const { return oracle::Mode{about.mode}.with_arguments(); }
};

}  // namespace

Problem::Problem(Case const& about) : about(about) {
    Fill fill(this->about);
    x = in_training() && !about.real ? fill.batch() : fill.input(about.x.size());
    if (about.has_conv()) weights = fill.weights(about.k * about.gemm_k());
    bool before_conv = about.has_conv();
    for (char letter : about.form)
        if (letter == 'C') before_conv = false;
        else steps.push_back(fill.step(letter, before_conv ? about.x : about.y()));
    if (in_training()) dy = fill.gradient(about.x.size());
}

oracle::Tensor Problem::expected() const {
    oracle::Tensor y(about.x, x);
    std::size_t next = 0;
    for (char letter : about.form) {
        if (letter == 'C') {
            if (next > 0) y = oracle::elements(y, format_of(about.type));
            y = oracle::conv(y, weights, about.k, about.window);
            if (about.type == fk::DataType::int8) y = oracle::exact_sums(y);
        } else {
            if (next == 0 && !about.has_conv() && about.type == fk::DataType::int8) y = oracle::exact_sums(y);
            y = applied(steps[next++], y);
        }
    }
    return y;
}

oracle::Tensor Problem::applied(Step const& step, oracle::Tensor y) const {
    switch (step.letter) {
        case 'B': return oracle::bias(y, step.values);
        case 'N': return oracle::batch_norm_spatial(y, step.statistics);
        case 'M': return oracle::batch_norm_per_activation(y, step.statistics);
        case 'T': return oracle::batch_norm_training(y, step.statistics, false, !about.real);
        case 'U': return oracle::batch_norm_training(y, step.statistics, true, !about.real);
        case 'R': return oracle::residual(y, step.values, step.factor);
        case 'S': return oracle::scale(y, step.factor);
        case 'Q': return oracle::requantize(y, step.values, step.factor);
        case 'A': return oracle::activation(y, step.mode);
        default: return y;
    }
}

std::string unfit(oracle::Tensor const& expected) {
    std::size_t zeros = 0;
    std::map<double, std::size_t> count;
    for (Bounded const& y : expected.at) zeros += y.value == 0, ++count[y.value];
    std::size_t const all = expected.at.size();
    if (all == 0) return "no outputs";
    if (2 * zeros > all) return "outputs are mostly zeros: " + std::to_string(zeros) + " of " + std::to_string(all);
    for (auto const& [value, times] : count)
        if (all >= 16 && 4 * times > 3 * all) return "outputs are mostly " + std::to_string(value);
    return "";
}

}  // namespace test
