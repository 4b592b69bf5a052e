// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string>

#include "fusekit/tensor/dtype.hpp"
#include "fusekit/tensor/filter.hpp"
#include "fusekit/tensor/layout.hpp"
#include "support/oracle.hpp"

namespace test {

namespace fk = fusekit;

/// Converts a window to the library's filter.
fk::Filter<2> filter_of(oracle::Window const& window);

/// One test in one line, e.g. "n2c3h7w5k4r3s2pt1l0b2r1u2v1d1e2g1 nhwc krsc half CBNA relu t2 #17":
///
/// sizes, padding (pt, l, b, r), stride u v, dilation d e, groups g; layout of x (and of y, after a '>', if different);
/// layout of the weights; element type (and that of bias and residual, after a '/', if different); operators: C Conv, B
/// Bias, N BatchNormInference<Spatial>, M BatchNormInference<PerActivation>, T and U BatchNormTraining of the same two,
/// A Activation, R Residual, S Scale, Q Requantize; the activation's mode, if there is one; t threads; the fill: # and
/// a seed for integers, ~ and a seed for reals.
///
/// Operators before the C are a prologue.
///
/// A layout is its modes, slowest first ("krsc" is "nhwc" of a filter), then "+a": a unused elements after every
/// extent; then "*b": the fastest mode has stride b; then "-hw": rows and columns have negative strides; then "!s":
/// modes of one element have stride s.
///
/// Layouts of 3 or 5 letters, "ncw" and "kcs" or "ncdhw" and "kctrs", are those of signals and volumes. For volumes,
/// the sizes after the groups are D, the slices; T of the filter, padding F in front and B behind, stride U and
/// dilation E; and "+a" does not apply to rows, because slices must be contiguous.
struct Case {
    oracle::Shape x{1, 1, 1, 1};
    std::int64_t k = 1;
    oracle::Window window;
    std::string x_layout = "nchw", y_layout = "nchw", w_layout = "kcrs";
    fk::DataType type = fk::DataType::float32, parameters = fk::DataType::float32;
    std::string form = "C", mode;
    int threads = 1;
    bool real = false;
    std::uint64_t seed = 1;

    /// Throws std::invalid_argument if the text is not a case.
    static Case parse(std::string const& text);
    std::string print() const;

    int space() const { return static_cast<int>(x_layout.substr(0, x_layout.find_first_of("+*-!/")).size()) - 2; }
    bool has_conv() const { return form.find('C') != form.npos; }
    fk::Filter<2> filter() const { return filter_of(window); }
    oracle::Shape y() const;
    std::int64_t gemm_k() const { return has_conv() ? x.c / window.groups * window.t * window.r * window.s : 1; }
    double multiplications() const { return static_cast<double>(y().size()) * static_cast<double>(gemm_k()); }
};

/// Layout that a word such as "nhwc+1*2" names, for a shape in canonical mode order. "nhwc/8": a channel slice of a
/// tensor with 8 more channels.
template <int Rank = 4>
fk::Layout<Rank> layout_of(std::string const& word, oracle::Shape shape);

}  // namespace test
