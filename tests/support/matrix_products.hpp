// SPDX-License-Identifier: MIT
#pragma once

#include <catch2/catch_test_macros.hpp>
#include <stdexcept>
#include <string>
#include <vector>

#include "fusekit/fusekit.hpp"
#include "support/difference.hpp"
#include "support/element_types.hpp"
#include "support/filled.hpp"
#include "support/oracle.hpp"

/// Plans with a Gemm. The oracle sees B x M x K as B M images of one pixel and K channels: the same numbers in the same
/// order.
namespace test {

/// Layout of matrices from a word: modes, slowest first, of B x M x K or M x K, whose last is always k; then as in
/// Case: "+a" is a gap after each extent, "*b" the fastest stride, "-mk" modes with negative strides.
template <int Rank>
fk::Layout<Rank> matrix_layout(std::string const& word, fk::Index<Rank> const& shape) {
    std::string const modes = Rank == 2 ? "mk" : "bmk";
    std::size_t const plus = word.find('+'), star = word.find('*'), minus = word.find('-');
    std::int64_t const gap = plus == word.npos ? 0 : std::stoll(word.substr(plus + 1));
    std::int64_t stride = star == word.npos ? 1 : std::stoll(word.substr(star + 1));
    std::string const backwards = minus == word.npos ? "" : word.substr(minus);
    fk::Layout<Rank> layout{shape, {}};
    for (int i = Rank - 1; i >= 0; --i) {
        std::size_t const mode = modes.find(word[static_cast<std::size_t>(i)]);
        if (mode == modes.npos) throw std::invalid_argument("not a layout: " + word);
        bool const back = backwards.find(word[static_cast<std::size_t>(i)]) != word.npos;
        layout.stride[static_cast<int>(mode)] = back ? -stride : stride;
        stride *= shape[static_cast<int>(mode)] + gap;
    }
    return layout;
}

/// A matrix product, of B x M x K or, if b is 0, of M x K, and the layouts of its tensors.
struct Product {
    std::int64_t b, m, n, k;
    char const *x, *weights, *y, *z;

    template <int Rank>
    static fk::Index<Rank> shape(std::int64_t b, std::int64_t m, std::int64_t k) {
        if constexpr (Rank == 2) return {{m, k}};
        else return {{b, m, k}};
    }
    std::int64_t rows() const { return b ? b * m : m; }
    std::string print() const {
        return std::to_string(b) + ' ' + std::to_string(m) + ' ' + std::to_string(n) + ' ' + std::to_string(k) + ' ' +
               x + ' ' + weights + ' ' + y + ' ' + z;
    }
};

/// x and weights of a product in device memory, integers with exact sums, and the sums. A BatchedGemm has weights per
/// matrix.
template <class T, int Rank, class Device, class TheGemm = GemmOf<T>>
struct Factors {
    using Gemm = TheGemm;
    static constexpr bool batched = fk::BatchedOp<Gemm>;
    static constexpr int weights_rank = batched ? Rank : 2;
    Device& device;
    Product of;
    std::vector<double> x, weights;
    Placed<Device, Rank> placed_x;
    Placed<Device, weights_rank> placed_weights;

    Factors(Device& the_device, Product const& product)
        : device(the_device),
          of(product),
          x(integers(product.rows() * product.k, -3, 4, 11)),
          weights(integers((batched && product.b ? product.b : 1) * product.n * product.k, -2, 2, 12)),
          placed_x(device, fk::data_type<XOf<T>>,
                   matrix_layout<Rank>(product.x, Product::shape<Rank>(product.b, product.m, product.k)), x),
          placed_weights(device, fk::data_type<WOf<T>>,
                         matrix_layout<weights_rank>(product.weights,
                                                     Product::shape<weights_rank>(product.b, product.n, product.k)),
                         weights) {}

    fk::TensorView<XOf<T> const, Rank> input() { return placed_x.template view<XOf<T> const>(); }
    typename Gemm::Args gemm() { return {.weights = placed_weights.any()}; }
    fk::Layout<Rank> layout(char const* word) const {
        return matrix_layout<Rank>(word, Product::shape<Rank>(of.b, of.m, of.n));
    }

    /// Input of the epilogue for these elements of x.
    oracle::Tensor sums(oracle::Tensor const& elements) const {
        if constexpr (!batched) return oracle::conv(elements, weights, of.n, {});
        oracle::Tensor all({of.rows(), of.n, 1, 1});
        auto to = all.at.begin();
        for (std::int64_t matrix = 0; matrix < std::max<std::int64_t>(of.b, 1); ++matrix) {
            auto const part = [](auto const& values, std::int64_t number, std::int64_t size) {
                return std::vector(values.begin() + number * size, values.begin() + (number + 1) * size);
            };
            oracle::Tensor rows({of.m, of.k, 1, 1});
            rows.at = part(elements.at, matrix, of.m * of.k);
            auto const sums = oracle::conv(rows, part(weights, matrix, of.n * of.k), of.n, {});
            to = std::copy(sums.at.begin(), sums.at.end(), to);
        }
        return all;
    }
    oracle::Tensor sums() const { return sums(elements()); }
    oracle::Tensor elements() const { return {{of.rows(), of.k, 1, 1}, x}; }

    template <class Bound>
    void check(Bound const& bound, oracle::Tensor const& expected) {
        INFO(fk::type_name<typename Bound::Plan>() << ' ' << of.print() << ' ' << name_of_types<T>());
        Placed<Device, Rank> y(device, fk::data_type<YOf<T>>, layout(of.y), 64);
        bound(device, input(), y.template view<YOf<T>>());
        CHECK(difference(expected, y.fetch()) == "");

        if constexpr (requires { device.own_workspace_bytes(); }) {  // not for a device with a fixed schedule
            Placed<Device, Rank> again(device, fk::data_type<YOf<T>>, layout(of.y), 64);
            bound.prepare(device, input(), again.template view<YOf<T>>())(device, input(),
                                                                          again.template view<YOf<T>>());
            CHECK(difference(expected, again.fetch()) == "");
        }
    }
};

/// Checks the product alone; followed by operators of all kinds; with a prologue.
template <class T, int Rank, class Device, class Gemm = GemmOf<T>>
void check_product(Device& device, Product const& product) {
    Factors<T, Rank, Device, Gemm> factors(device, product);
    oracle::Tensor const sums = factors.sums();
    factors.check(fk::Plan<Gemm>::bind(factors.gemm()), sums);

    auto const bias = integers(product.n, -3, 3, 13), z = integers(product.rows() * product.n, -5, 5, 14);
    Placed<Device, 1> b(device, fk::DataType::float32, fk::channels(product.n), bias);
    Placed<Device, Rank> placed_z(device, fk::data_type<XOf<T>>, factors.layout(product.z), z),
        values(device, fk::data_type<XOf<T>>, factors.layout(product.y), 64);
    oracle::Tensor const before = oracle::residual(oracle::bias(sums, bias), z, 2);
    using All = fk::Plan<Gemm, fk::Bias, fk::Residual, fk::Store, fk::Activation<fk::Relu>, fk::Scale>;
    factors.check(All::bind(factors.gemm(), {.bias = b.any()}, {.z = placed_z.any(), .alpha2 = 2},
                            {.values = values.template view<XOf<T>>()}, {}, {.factor = 0.5f}),
                  oracle::scale(oracle::activation(before, {"relu"}), 0.5));
    CHECK(difference(before, values.fetch()) == "");

    if constexpr (!std::is_same_v<XOf<T>, fk::int8>) {
        auto const in_bias = integers(product.k, -1, 2, 15);
        Placed<Device, 1> a(device, fk::DataType::float32, fk::channels(product.k), in_bias);
        auto const read = oracle::activation(oracle::bias(factors.elements(), in_bias), {"relu"});
        using Before = fk::Plan<fk::Bias, fk::Activation<fk::Relu>, Gemm, fk::Bias>;
        factors.check(Before::bind({.bias = a.any()}, {}, factors.gemm(), {.bias = b.any()}),
                      oracle::bias(factors.sums(read), bias));
    }
}

/// True if a plan with a Gemm is bitwise identical to one with a 1x1 Conv on the same memory.
template <class T, class Device>
bool same_bits_as_conv(Device& device, std::int64_t b, std::int64_t m, std::int64_t n, std::int64_t k, bool rows) {
    auto const of = [&](std::int64_t columns) {
        return rows ? fk::row_major(b, m, columns) : fk::column_major(b, m, columns);
    };
    auto const as_images = [](auto view) {
        fk::Index<3> const &e = view.layout.shape, &s = view.layout.stride;
        return fk::TensorView(view.data, fk::Layout<4>{{{e[0], e[2], 1, e[1]}}, {{s[0], s[2], s[1], s[1]}}});
    };
    auto const x = fk::random<T>(device, of(k), 1), z = fk::random<T>(device, of(n), 2);
    auto const w = fk::random<T>(device, fk::row_major(n, k), 3);
    auto const bias = fk::random<float>(device, fk::channels(n), 4);
    fk::Tensor<T, Device, 3> y(device, of(n)), expected(device, of(n));
    using Silu = fk::Activation<fk::Silu>;
    fk::Plan<fk::Gemm, fk::Bias, fk::Residual, Silu>::bind({.weights = w}, {.bias = bias}, {.z = z}, {})(device, x, y);
    fk::TensorView<T const> const filters(w.data(), fk::kcrs(n, k, 1, 1));
    fk::Plan<fk::Conv<fk::filter(1, 1)>, fk::Bias, fk::Residual, Silu>::bind(
        {.weights = filters}, {.bias = bias}, {.z = as_images(z.const_view())}, {})(device, as_images(x.const_view()),
                                                                                    as_images(expected.view()));
    std::vector<T> one(static_cast<std::size_t>(y.size())), other(one.size());
    y.copy_to(one.data()), expected.copy_to(other.data());
    return std::memcmp(one.data(), other.data(), one.size() * sizeof(T)) == 0;
}

/// Mean and variance of each column, which are exact.
template <class Device>
void check_column_statistics(Device& device) {
    for (char const* layout : {"mk", "km"}) {
        Factors<float, 2, Device> factors(device, {0, 128, 5, 9, layout, "mk", layout, layout});
        Placed<Device, 2> y(device, fk::DataType::float32, factors.layout(layout), 64);
        Placed<Device, 1> mean(device, fk::DataType::float32, fk::channels(5), 64),
            variance(device, fk::DataType::float32, fk::channels(5), 64),
            scratch(device, fk::DataType::float32, fk::channels(fk::ChannelStatistics::scratch(fk::Index<2>{{128, 5}})),
                    64);
        fk::Plan<fk::Gemm, fk::ChannelStatistics>::bind(
            factors.gemm(), {mean.template view<float>(), variance.template view<float>(),
                             scratch.template view<float>()})(device, factors.input(), y.template view<float>());
        oracle::Tensor const sums = factors.sums();
        CHECK(difference(sums, y.fetch()) == "");
        for (std::size_t column = 0; column < 5; ++column) {
            double total = 0, squares = 0;
            for (std::size_t row = 0; row < 128; ++row) total += sums.at[row * 5 + column].value;
            for (std::size_t row = 0; row < 128; ++row)
                squares += std::pow(sums.at[row * 5 + column].value - total / 128, 2);
            auto const at = static_cast<std::int64_t>(column);
            CHECK(std::fabs(mean.fetch().get(at) - total / 128) <= 1e-5 * std::fabs(total / 128) + 1e-5);
            CHECK(std::fabs(variance.fetch().get(at) - squares / 128) <= 1e-5 * squares / 128);
        }
    }
}

/// Products of random sizes, in random layouts.
template <class T, class Device>
void check_random_products(Device& device, int count, std::uint64_t seed) {
    Random random(seed);
    std::string const gaps[] = {"", "", "", "+1", "+4", "*2", "+3*3"}, of_two[] = {"mk", "km"},
                      of_three[] = {"bmk", "bkm", "mbk", "kbm", "mkb", "kmb"};
    auto const pick = [&](auto const& words) {
        return words[static_cast<std::size_t>(random.range(0, static_cast<std::int64_t>(std::size(words)) - 1))];
    };
    for (int i = 0; i < count; ++i) {
        bool const batch = random.range(0, 1) == 1;
        auto const word = [&](char const* backwards) {
            return (batch ? pick(of_three) : pick(of_two)) + pick(gaps) + (random.range(0, 3) ? "" : backwards);
        };
        std::string const x = word("-mk"), y = word(""), z = word("-k"),
                          weights = pick(of_two) + pick(gaps) + (random.range(0, 3) ? "" : "-m");
        std::int64_t const b = batch ? random.range(1, 4) : 0, m = random.range(1, batch ? 20 : 80),
                           n = random.range(1, 80), k = random.range(1, 60);
        Product const product{b, m, n, k, x.c_str(), weights.c_str(), y.c_str(), z.c_str()};
        if (batch) check_product<T, 3>(device, product);
        else check_product<T, 2>(device, product);
    }
}

/// Batched products with weights per matrix: odd sizes, every layout; contiguous vectors of pixels or channels, and
/// matrices that end within one; two batch modes, along one of which the weights are broadcast.
template <class T, class Device>
void check_batched_products(Device& device) {
    using Gemm = BatchedGemmOf<T>;
    check_product<T, 2, Device, Gemm>(device, {0, 13, 9, 6, "mk", "km", "km", "mk"});
    for (Product const& product : {Product{1, 1, 1, 1, "bmk", "bmk", "bmk", "bmk"},
                                   {3, 5, 7, 9, "bmk", "bmk", "bmk", "bmk"},
                                   {4, 1, 20, 16, "mbk", "kbm", "bkm", "kbm"},
                                   {3, 8, 33, 16, "bmk", "bmk", "bmk", "bmk-bm"},
                                   {2, 70, 65, 32, "bmk+8", "mbk", "mbk*2", "bmk"},
                                   {3, 68, 66, 24, "bkm", "bkm", "bkm", "bkm"},
                                   {3, 6, 24, 8, "kbm", "bmk+4", "kbm", "kbm"},
                                   {5, 12, 3, 40, "bkm+4", "bmk-b", "bkm", "kmb"},
                                   {70, 2, 2, 3, "bmk", "bmk", "bmk", "bmk"}})
        check_product<T, 3, Device, Gemm>(device, product);

    auto const x = integers(2 * 3 * 4 * 5, -3, 4, 21), weights = integers(3 * 6 * 5, -2, 2, 22);
    Placed<Device, 4> placed_x(device, fk::data_type<XOf<T>>, fk::packed<4>({{2, 3, 4, 5}}, {{1, 0, 3, 2}}), x),
        y(device, fk::data_type<YOf<T>>, fk::packed<4>({{2, 3, 4, 6}}, {{0, 1, 2, 3}}), 64);
    Placed<Device, 3> placed_weights(device, fk::data_type<WOf<T>>, fk::row_major(3, 6, 5), weights);
    auto const of_b = placed_weights.template view<WOf<T> const>();
    fk::TensorView<WOf<T> const, 4> const of_all(of_b.data, {{{2, 3, 6, 5}}, {{0, 30, 5, 1}}});
    fk::Plan<Gemm>::bind({.weights = of_all})(device, placed_x.template view<XOf<T> const>(),
                                              y.template view<YOf<T>>());
    oracle::Tensor expected({2 * 3 * 4, 6, 1, 1});
    for (std::size_t row = 0; row < 2 * 3 * 4; ++row)
        for (std::size_t n = 0; n < 6; ++n)
            for (std::size_t k = 0; k < 5; ++k)
                expected.at[row * 6 + n].value += x[row * 5 + k] * weights[(row / 4 % 3 * 6 + n) * 5 + k];
    CHECK(difference(expected, y.fetch()) == "");
}

/// Gemm and a 1x1 convolution of rows or columns on tiles that are whole, partial, and of one element.
template <class T, class Device>
void check_same_bits_as_conv(Device& device) {
    for (bool const rows : {true, false}) {
        CHECK(same_bits_as_conv<T>(device, 1, 1, 1, 1, rows));
        CHECK(same_bits_as_conv<T>(device, 3, 17, 29, 23, rows));
        CHECK(same_bits_as_conv<T>(device, 2, 64, 72, 64, rows));
    }
}

/// Odd sizes, matrices of one row or column, strides of every kind; and random ones.
template <class T, class Device>
void check_products(Device& device, int random = 12) {
    for (Product const& product : {Product{0, 1, 1, 1, "mk", "mk", "mk", "mk"},
                                   {0, 5, 7, 3, "mk", "mk", "mk", "mk"},
                                   {0, 17, 33, 19, "km", "mk", "km", "mk"},
                                   {0, 70, 65, 34, "mk+3", "km", "km*2", "mk"},
                                   {0, 1, 70, 40, "mk", "mk+8", "mk", "km"},
                                   {0, 66, 1, 16, "mk-m", "mk-k", "km", "mk-mk"},
                                   {0, 13, 24, 8, "km+2", "km*3", "mk+1", "km-k"},
                                   {0, 72, 40, 48, "mk", "mk", "mk", "mk"}})
        check_product<T, 2>(device, product);
    for (Product const& product : {Product{1, 1, 1, 1, "bmk", "mk", "bmk", "bmk"},
                                   {3, 5, 7, 9, "bmk", "mk", "bmk", "bmk"},
                                   {2, 37, 20, 16, "mbk", "km", "bkm", "kbm"},
                                   {3, 8, 33, 12, "bkm+1", "mk", "mbk*2", "bmk-bm"},
                                   {5, 3, 3, 3, "kmb", "mk", "kbm", "mkb"}})
        check_product<T, 3>(device, product);
    check_random_products<T>(device, random, sizeof(T));
    if constexpr (fk::Device<Device>) check_same_bits_as_conv<T>(device);  // not with a fixed schedule
}

}  // namespace test
