// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include "../support.hpp"

namespace fk = fusekit;
using Extent = fk::Extent;

/// Rank-4 tensor on the host, in double, in canonical order: the reference result of a recipe.
struct Array {
    Extent n, c, h, w;
    std::vector<double> at;

    template <class Tensor>
        requires requires(Tensor const& tensor) { tensor.layout(); }
    explicit Array(Tensor const& tensor) : Array(static_cast<fk::Index<4> const&>(tensor.layout().shape)) {
        auto const memory = values(tensor);
        fill([&](Extent i, Extent j, Extent p, Extent q) {
            return double(memory[std::size_t(tensor.layout().offset({{i, j, p, q}}))]);
        });
    }
    Array like() const { return Array(fk::Index<4>{{n, c, h, w}}); }
    void fill(auto const& value) {
        for (Extent i = 0; i < n; ++i)
            for (Extent j = 0; j < c; ++j)
                for (Extent p = 0; p < h; ++p)
                    for (Extent q = 0; q < w; ++q) (*this)(i, j, p, q) = value(i, j, p, q);
    }
    double& operator()(Extent i, Extent j, Extent p, Extent q) { return at[place(i, j, p, q)]; }
    double operator()(Extent i, Extent j, Extent p, Extent q) const { return at[place(i, j, p, q)]; }

private:
    explicit Array(fk::Index<4> const& shape)
        : n(shape[0]), c(shape[1]), h(shape[2]), w(shape[3]), at(std::size_t(n * c * h * w)) {}
    std::size_t place(Extent i, Extent j, Extent p, Extent q) const {
        return std::size_t(((i * c + j) * h + p) * w + q);
    }
};

/// One output of a convolution with stride 1.
inline double convolved(Array const& x, Array const& weights, Extent n, Extent k, Extent p, Extent q, Extent pad) {
    double sum = 0;
    for (Extent c = 0; c < x.c; ++c)
        for (Extent r = 0; r < weights.h; ++r)
            for (Extent s = 0; s < weights.w; ++s) {
                Extent const row = p + r - pad, column = q + s - pad;
                if (row >= 0 && row < x.h && column >= 0 && column < x.w)
                    sum += x(n, c, row, column) * weights(k, c, r, s);
            }
    return sum;
}

inline bool agrees(char const* what, Array const& given, Array const& expected) {
    return agrees(what, std::vector<float>(given.at.begin(), given.at.end()), expected.at);
}
inline bool report(char const* what, bool good) {
    std::printf("%-58s %s\n", what, good ? "ok" : "WRONG");
    return good;
}

/// `count` floats of one value.
template <class Device>
fk::Tensor<float, Device, 1> filled(Device& device, int count, float value) {
    fk::Tensor<float, Device, 1> result(device, fk::channels(count));
    result.copy_from(std::vector<float>(std::size_t(count), value).data());
    return result;
}
