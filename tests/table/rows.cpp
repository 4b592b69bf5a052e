// SPDX-License-Identifier: MIT
#include "table/rows.hpp"

#include "support/catalogue.hpp"

namespace test::table {

namespace {

using Windows = std::vector<oracle::Window>;
using Words = std::vector<std::string>;
using enum Direction;

Words const nchw = {"nchw kcrs"}, both = {"nchw kcrs", "nhwc krsc"},
            mixed = {"nchw kcrs", "nhwc krsc", "nchw>nhwc krsc", "nhwc+1>nchw kcrs*2"},
            signals = {"ncw kcs", "nwc ksc"}, volumes = {"ncdhw kctrs", "ndhwc ktrsc"},
            signals_and_volumes = {"ncw kcs", "ndhwc ktrsc"};

/// Names of MIOpen's activations, of the library's own, or of both.
Words modes_of(bool miopens, bool ours) {
    Words names;
    catalogue::for_each_activation([&](auto const& line) {
        if (line.is_miopens ? miopens : ours) names.push_back(line.name);
    });
    return names;
}
Words const miopen_modes = modes_of(true, false), our_modes = modes_of(false, true), all_modes = modes_of(true, true);
Words const relu = {"relu"}, relus = {"relu", "leakyrelu"}, none = {""};

std::vector<fk::DataType> const f32 = {fk::DataType::float32}, f16 = {fk::DataType::float16},
                                bf16 = {fk::DataType::bfloat16}, f64 = {fk::DataType::float64},
                                f32_and_f16 = {fk::DataType::float32, fk::DataType::float16},
                                every = {fk::DataType::float32, fk::DataType::float16, fk::DataType::bfloat16};

/// A filter r x s with its geometry.
struct Filter : oracle::Window {
    Filter(int r, int s) { this->r = r, this->s = s; }
    Filter pad(int top, int left, int bottom, int right) && {
        this->top = top, this->left = left, this->bottom = bottom, this->right = right;
        return *this;
    }
    Filter stride(int down, int right) && {
        u = down, v = right;
        return *this;
    }
    Filter dilation(int down, int right) && {
        d = down, e = right;
        return *this;
    }
    Filter in_groups(int count) && {
        groups = count;
        return *this;
    }
};

/// Square filters, with equal strides and pads in both modes.
Windows squares(std::vector<int> const& sizes, std::vector<int> const& strides, std::vector<int> const& pads) {
    Windows all;
    for (int size : sizes)
        for (int stride : strides)
            for (int pad : pads) all.push_back(Filter(size, size).pad(pad, pad, pad, pad).stride(stride, stride));
    return all;
}

Windows const pointwise = {{}}, one = {Filter(1, 1)}, three = {Filter(3, 3).pad(1, 1, 1, 1)},
              direct = squares({3, 5, 7, 9, 11}, {1, 2}, {1, 2});

/// A row that is in both of MIOpen's tables; for Winograd, in that of FP32.
Group line(Words forms, Direction direction, std::vector<fk::DataType> types, Windows windows, std::int64_t channels,
           char const* algorithm = "", char const* rule = "") {
    bool const winograd = std::string(algorithm) == "Winograd";
    return {true, algorithm, rule, direction, forms, types, nchw, windows, {channels}, winograd ? relus : miopen_modes};
}

std::vector<Group> lines(std::vector<fk::DataType> const& type) {
    return {line({"CBNA", "CBMA"}, inference, type, direct, 3, "Direct", "stride and pad 1 or 2"),
            line({"CBA"}, inference, type, one, 6, "Direct", "no stride, no pad"),
            line({"NA", "MA"}, inference, type, pointwise, 5), line({"TA", "UA"}, training, type, pointwise, 5),
            line({"TA", "UA"}, backward, type, pointwise, 5)};
}

Group winograd(int stride, std::vector<int> const& sizes, std::int64_t channels, char const* rule) {
    return line({"CBA"}, inference, f32, squares(sizes, {stride}, {0, 1}), channels, "Winograd", rule);
}

/// Rows beyond MIOpen's tables.
Group more(char const* words, Direction direction, Words forms, std::vector<fk::DataType> types, Words layouts,
           Windows windows, std::vector<std::int64_t> channels, Words modes, char const* rule = "") {
    return {false, words, rule, direction, forms, types, layouts, windows, channels, modes};
}

std::vector<Group> all_groups() {
    std::vector<Group> all = lines(f32), halves = lines(f16);
    std::vector<Group> const winograds = {winograd(1, {1, 2}, 19, "c >= 18"),
                                          winograd(1, {3}, 18, "c >= 18, and even"),
                                          winograd(1, {4, 5, 6}, 5, "4 c >= 18"),
                                          winograd(1, {7, 8, 9}, 2, "12 c >= 18"),
                                          winograd(1, {10, 11, 12}, 2, "16 c >= 18"),
                                          winograd(1, {13, 14}, 1, "none"),
                                          winograd(2, {1}, 9, "2 c >= 18"),
                                          winograd(2, {2, 3, 4, 5, 6}, 5, "4 c >= 18"),
                                          winograd(2, {7}, 2, "12 c >= 18"),
                                          winograd(2, {8, 9, 10, 11, 12}, 2, "16 c >= 18"),
                                          winograd(2, {13, 14}, 1, "none")};
    all.insert(all.begin() + 2, winograds.begin(), winograds.end());
    all.insert(all.end(), halves.begin(), halves.end());

    Words const convs = {"CBNA", "CBMA", "CBA"}, cba = {"CBA"}, two = {"CBNA", "CBA"}, na = {"NA", "MA"},
                ta = {"TA", "UA"};
    std::vector<Group> const ours = {
        more("all in bfloat16", inference, convs, bf16, nchw, direct, {3}, relus),
        more("all in bfloat16", inference, convs, bf16, nchw, three, {3}, all_modes),
        more("more activations", inference, convs, f32_and_f16, nchw, three, {3}, our_modes),
        more("layouts and strides, and others for y than for x", inference, convs, every, mixed,
             {Filter(1, 1), Filter(3, 3).pad(1, 1, 1, 1), Filter(7, 7).pad(3, 3, 3, 3).stride(2, 2)}, {7}, relu),
        more("fewer channels than MIOpen's rules want", inference, cba, every, both,
             squares({1, 2, 3, 4, 7, 12}, {1, 2}, {0}), {1, 3}, relu),
        more("filters that are not square", inference, two, every, both,
             {Filter(1, 7).pad(0, 3, 0, 3), Filter(5, 2), Filter(12, 1).stride(3, 1), Filter(2, 13)}, {3}, relu),
        more("a stride for each direction", inference, cba, every, both,
             {Filter(3, 3).stride(1, 2), Filter(5, 5).stride(3, 2), Filter(1, 1).stride(2, 1)}, {3}, relu),
        more("a pad for each edge", inference, cba, every, both,
             {Filter(3, 3).pad(2, 0, 1, 3), Filter(4, 2).pad(0, 1, 2, 0)}, {3}, relu),
        more("dilation", inference, two, every, both,
             {Filter(3, 3).dilation(2, 2).pad(2, 2, 2, 2), Filter(2, 4).dilation(3, 1),
              Filter(5, 3).dilation(2, 3).stride(2, 2)},
             {3}, relu),
        more("groups", inference, two, every, both,
             {Filter(3, 3).pad(1, 1, 1, 1).in_groups(2), Filter(1, 1).in_groups(3),
              Filter(5, 5).stride(2, 2).in_groups(3)},
             {6}, relu),
        more("depthwise", inference, two, every, both,
             {Filter(3, 3).pad(1, 1, 1, 1).in_groups(12), Filter(5, 5).stride(2, 2).in_groups(12)}, {12}, relu),
        more("parts of the chain", inference, {"C", "CB", "CN", "CM", "CBN"}, every, both, three, {5}, none),
        more("parts of the chain", inference, {"CA", "CNA"}, every, both, three, {5}, relu),
        more("residual", inference, {"CBRA", "CBNRA"}, every, both, three, {5}, relu),
        more("scale, and a residual at the end", inference, {"CSBAR"}, every, both, three, {5}, {"abs"}),
        more("convolution of signals", inference, cba, every, signals, {Filter(1, 3).pad(0, 1, 0, 1)}, {5}, relu),
        more("convolution of volumes", inference, cba, every, volumes, three, {5}, relu),
        more("batch norm in bfloat16", inference, na, bf16, nchw, pointwise, {5}, all_modes),
        more("batch norm and more activations", inference, na, f32_and_f16, nchw, pointwise, {5}, our_modes),
        more("batch norm in layouts and strides", inference, na, every, mixed, pointwise, {5, 8}, relu),
        more("residual, bias, batch norm, activation, scale", inference, {"RBNAS"}, every, both, pointwise, {5},
             {"gelu"}),
        more("batch norm in bfloat16", training, ta, bf16, nchw, pointwise, {5}, all_modes),
        more("batch norm in bfloat16", backward, ta, bf16, nchw, pointwise, {5}, all_modes),
        more("batch norm and more activations", training, ta, f32_and_f16, nchw, pointwise, {5}, our_modes),
        more("batch norm and more activations", backward, ta, f32_and_f16, nchw, pointwise, {5}, our_modes),
        more("batch norm in layouts and strides", training, ta, every, mixed, pointwise, {5, 8}, relu),
        more("batch norm in layouts and strides", backward, ta, every, mixed, pointwise, {5, 8}, relu),
        more("batch norm alone", training, {"T", "U"}, every, both, pointwise, {5}, none),
        more("batch norm alone", backward, {"T", "U"}, every, both, pointwise, {5}, none),
        more("batch norm of signals and volumes", training, ta, f32, signals_and_volumes, pointwise, {5}, {"elu"}),
        more("batch norm of signals and volumes", backward, ta, f32, signals_and_volumes, pointwise, {5}, {"elu"}),
        more("in double", inference, {"CBNA", "CBMA", "CBA"}, f64, both, three, {3}, all_modes, host_alone),
        more("in double", inference, na, f64, both, pointwise, {5}, all_modes, host_alone),
        more("in double", training, ta, f64, both, pointwise, {5}, all_modes, host_alone),
        more("in double", backward, ta, f64, both, pointwise, {5}, all_modes, host_alone),
    };
    all.insert(all.end(), ours.begin(), ours.end());
    return all;
}

/// A case of small odd sizes: 3 images without a Conv, 2 with one, and extents such that windows cross every edge and
/// give odd numbers of outputs.
Case case_of(Group const& group, std::string const& form, fk::DataType type, std::string const& layouts,
             oracle::Window const& window, std::int64_t channels, std::string const& mode) {
    Case about;
    std::size_t const blank = layouts.find(' '), arrow = layouts.find('>');
    about.form = form, about.mode = mode;
    about.type = about.parameters = type;
    about.x_layout = layouts.substr(0, std::min(arrow, blank));
    about.y_layout = arrow < blank ? layouts.substr(arrow + 1, blank - arrow - 1) : about.x_layout;
    about.w_layout = layouts.substr(blank + 1);
    bool const conv = about.has_conv();
    about.x = {conv ? 2 : 3, channels, 7, 9};
    about.k = !conv ? channels : window.groups > 1 ? channels : 5;
    if (conv) {
        about.window = window;
        about.x.h = (window.r - 1) * window.d + 1 + 2 * window.u;
        about.x.w = (window.s - 1) * window.e + 1 + 4 * window.v;
    }
    if (about.space() == 1) about.x.h = 1;
    if (about.space() == 3) {
        about.x.d = 4;
        if (conv) about.window.t = 3, about.window.front = about.window.back = 1;
    }
    for (char letter : form + mode + layouts) about.seed = (about.seed * 31 + static_cast<std::uint64_t>(letter)) % 997;
    about.real = group.direction != inference || type == fk::DataType::float64;
    return about;
}

}  // namespace

std::vector<Group> const& groups() {
    static std::vector<Group> const all = all_groups();
    return all;
}

std::vector<Row> rows() {
    std::vector<Row> all;
    for (Group const& group : groups())
        for (auto const& form : group.forms)
            for (auto type : group.types)
                for (auto const& layouts : group.layouts)
                    for (auto const& window : group.windows)
                        for (auto channels : group.channels)
                            for (auto const& mode : group.modes)
                                all.push_back({&group, case_of(group, form, type, layouts, window, channels, mode)});
    return all;
}

}  // namespace test::table
