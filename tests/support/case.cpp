// SPDX-License-Identifier: MIT
#include "support/case.hpp"

#include <sstream>
#include <stdexcept>

namespace test {

namespace {

/// Sizes of a case, "n2c3...", as names and values, in printing order.
struct Sizes {
    char const* name;
    std::int64_t& value;
};
auto sizes(Case& c) {
    struct {
        Sizes list[16];
    } all = {{{"n", c.x.n},
              {"c", c.x.c},
              {"h", c.x.h},
              {"w", c.x.w},
              {"k", c.k},
              {"r", c.window.r},
              {"s", c.window.s},
              {"pt", c.window.top},
              {"l", c.window.left},
              {"b", c.window.bottom},
              {"r", c.window.right},
              {"u", c.window.u},
              {"v", c.window.v},
              {"d", c.window.d},
              {"e", c.window.e},
              {"g", c.window.groups}}};
    return all;
}

/// Sizes that volumes add.
auto slices(Case& c) {
    struct {
        Sizes list[6];
    } all = {{{"D", c.x.d},
              {"T", c.window.t},
              {"F", c.window.front},
              {"B", c.window.back},
              {"U", c.window.slice_stride},
              {"E", c.window.slice_dilation}}};
    return all;
}

void read(std::string const& head, std::size_t& at, Sizes const& size) {
    std::string const expected = size.name;
    if (head.compare(at, expected.size(), expected) != 0)
        throw std::invalid_argument("expected " + expected + " at " + head.substr(at));
    std::size_t used = 0;
    size.value = std::stoll(head.substr(at += expected.size()), &used);
    at += used;
}

fk::DataType type_of(std::string const& word) {
#define TEST_IF_NAMED(Type, data_type, number) \
    if (word == fk::name(fk::DataType::data_type)) return fk::DataType::data_type;
    FUSEKIT_ELEMENTS(TEST_IF_NAMED)
#undef TEST_IF_NAMED
    throw std::invalid_argument("no element type: " + word);
}

/// Splits "a>b" into a and b; "a" gives a twice.
void split(std::string const& word, char at, std::string& first, std::string& second) {
    std::size_t const found = word.find(at);
    first = word.substr(0, found);
    second = found == std::string::npos ? first : word.substr(found + 1);
}

}  // namespace

Case Case::parse(std::string const& text) {
    Case c;
    std::istringstream words(text);
    std::string head, layouts, types, word;
    if (!(words >> head >> layouts >> c.w_layout >> types >> c.form))
        throw std::invalid_argument("not a case: " + text);
    std::size_t at = 0;
    for (Sizes const& size : sizes(c).list) read(head, at, size);
    if (at < head.size())
        for (Sizes const& size : slices(c).list) read(head, at, size);
    split(layouts, '>', c.x_layout, c.y_layout);
    std::string first, second;
    split(types, '/', first, second);
    c.type = type_of(first), c.parameters = type_of(second);
    while (words >> word) {
        if (word[0] == '#' || word[0] == '~') c.real = word[0] == '~', c.seed = std::stoull(word.substr(1));
        else if (word[0] == 't' && word.size() > 1 && word[1] <= '9') c.threads = std::stoi(word.substr(1));
        else c.mode = word;
    }
    return c;
}

std::string Case::print() const {
    std::ostringstream text;
    Case copy = *this;
    for (auto const& [name, value] : sizes(copy).list) text << name << value;
    if (space() == 3)
        for (auto const& [name, value] : slices(copy).list) text << name << value;
    text << ' ' << x_layout << (y_layout == x_layout ? "" : ">" + y_layout) << ' ' << w_layout << ' ' << fk::name(type);
    if (parameters != type) text << '/' << fk::name(parameters);
    text << ' ' << form << (mode.empty() ? "" : " " + mode) << " t" << threads << (real ? " ~" : " #") << seed;
    return text.str();
}

fk::Filter<2> filter_of(oracle::Window const& f) {
    auto const i = [](std::int64_t value) { return static_cast<int>(value); };
    return fk::filter(i(f.r), i(f.s))
        .pad(i(f.top), i(f.left), i(f.bottom), i(f.right))
        .stride(i(f.u), i(f.v))
        .dilation(i(f.d), i(f.e))
        .groups(i(f.groups));
}

oracle::Shape Case::y() const {
    return has_conv()
               ? oracle::Shape{x.n, k, window.output_height(x.h), window.output_width(x.w), window.output_depth(x.d)}
               : x;
}

template <int Rank>
fk::Layout<Rank> layout_of(std::string const& word, oracle::Shape shape) {
    std::string const activations[] = {"ncw", "nchw", "ncdhw"}, filters[] = {"kcs", "kcrs", "kctrs"};
    std::size_t const plus = word.find('+'), star = word.find('*'), mark = word.find('!'), slash = word.find('/');
    std::string const backwards = word.find('-') < mark ? word.substr(word.find('-'), mark - word.find('-')) : "";
    std::int64_t const gap = plus == std::string::npos ? 0 : std::stoll(word.substr(plus + 1));
    std::int64_t const others = slash == std::string::npos ? 0 : std::stoll(word.substr(slash + 1));
    std::int64_t stride = star == std::string::npos ? 1 : std::stoll(word.substr(star + 1));
    fk::Layout<Rank> layout{};
    for (int i = Rank - 1; i >= 0; --i) {
        std::size_t const activation = activations[Rank - 3].find(word[i]), filter = filters[Rank - 3].find(word[i]);
        std::size_t const found = activation != std::string::npos ? activation : filter;
        if (found >= Rank) throw std::invalid_argument("not a layout: " + word);
        std::int64_t const extents[] = {shape.n, shape.c, shape.d, shape.h, shape.w};
        int const mode = static_cast<int>(found), skipped = mode < 2 ? 0 : 5 - Rank;
        layout.shape[mode] = extents[mode + skipped];
        layout.stride[mode] = stride;
        if (backwards.find(word[static_cast<std::size_t>(i)]) != std::string::npos) layout.stride[mode] = -stride;
        bool const rows_of_slices = Rank == 5 && mode == 3;
        stride *= layout.shape[mode] + (rows_of_slices ? 0 : gap) + (mode == 1 ? others : 0);
    }
    if (mark != std::string::npos)
        for (int mode = 0; mode < Rank; ++mode)
            if (layout.shape[mode] == 1) layout.stride[mode] = std::stoll(word.substr(mark + 1));
    return layout;
}
template fk::Layout<3> layout_of<3>(std::string const&, oracle::Shape);
template fk::Layout<4> layout_of<4>(std::string const&, oracle::Shape);
template fk::Layout<5> layout_of<5>(std::string const&, oracle::Shape);

}  // namespace test
