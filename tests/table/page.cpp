// SPDX-License-Identifier: MIT
#include "table/page.hpp"

#include <algorithm>
#include <map>
#include <sstream>

#include "support/catalogue.hpp"
#include "table/rows.hpp"

namespace test::table {

namespace {

char const* const introduction = R"(# What is supported

Every fusion of MIOpen's tables, in its limits and beyond them. Each row below is run against an oracle that computes it
in double from its definition, at small odd sizes: on the host (`ctest -R table`), as HIP kernels on the CPU at wave widths
32 and 64 (`tools/test --exhaustive`), and on a GPU where there is one (`tools/test --gpu`). None is skipped.

This page is printed by the program that runs them (`fusekit_table_host --markdown`), from the one list that it runs,
`tests/table/rows.cpp`; a test compares.

In sequences C is `Conv`, B `Bias`, N batch norm (`BatchNormInference`, in training `BatchNormTraining`), A `Activation`,
R `Residual`, S `Scale`. A line stands for all combinations of what it lists.
)";

char const* const beyond = R"(
## Beyond them

An extent of 0 is supported in every row: a y without elements is not written, sums of no products are 0, and batch
statistics of no values are refused (`tests/plan/empty.cpp`, `tests/backend/hip/empty.cpp`).

A sequence that is not here but keeps the [rules of a plan](grammar.md) is supported too: tests run every
sequence of up to three operators on both backends, and of four with `tools/test --exhaustive`.

On gfx90a (MI200) the matrix units take halves below 2^-14 in magnitude, which are subnormal, as 0, and bfloat16 below 2^-126.
`Conv`, `Gemm` and `BatchedGemm` of half do so there unless they have `Products<float>`, which multiplies in SIMT arithmetic.
`TransposedConv` and `ConvWeightGradient`, the gradients, round halves to bfloat16, as MIOpen does: 8 bits of mantissa, and no
value is lost.
)";

/// Distinct words in order of first occurrence.
class List {
public:
    void add(std::string const& word) {
        if (std::find(words.begin(), words.end(), word) == words.end()) words.push_back(word);
    }
    std::string text() const {
        std::string all;
        for (std::string const& word : words) all += (all.empty() ? "" : ", ") + word;
        return all;
    }

private:
    std::vector<std::string> words;
};

template <class Values, class Name>
std::string list(Values const& values, Name const& name) {
    List all;
    for (auto const& value : values) all.add(name(value));
    return all.text();
}

std::string pair(std::int64_t a, std::int64_t b, char const* between) {
    return std::to_string(a) + between + std::to_string(b);
}
/// "2", or "1 x 2" if the two differ.
std::string one_or_two(std::int64_t a, std::int64_t b) { return a == b ? std::to_string(a) : pair(a, b, " x "); }

std::string pads(oracle::Window const& w) {
    if (w.top == w.bottom && w.left == w.right) return one_or_two(w.top, w.left);
    return pair(w.top, w.left, " ") + " " + pair(w.bottom, w.right, " ");
}

/// Letters of a form, with either batch norm as N.
std::string sequence(std::string form) {
    for (char& letter : form)
        if (letter == 'M' || letter == 'T' || letter == 'U') letter = 'N';
    return form;
}
std::string norm(Group const& group) {
    List all;
    for (std::string const& form : group.forms) {
        if (form.find_first_of("NT") != form.npos) all.add("spatial");
        if (form.find_first_of("MU") != form.npos) all.add("per activation");
    }
    return all.text();
}
std::string activations(Group const& group) {
    std::size_t const count = group.modes.size();
    if (count < 7) return list(group.modes, [](std::string const& mode) { return mode; });
    return count == 11 ? "MIOpen's 11" : count == 7 ? "our 7" : "all 18";
}
char const* name(Direction direction) {
    return direction == Direction::inference  ? "inference"
           : direction == Direction::training ? "training, forward"
                                              : "training, backward";
}

struct Line {
    Group const& group;
    std::size_t rows;

    bool conv() const { return group.forms[0][0] == 'C'; }
    template <class Name>
    std::string windows(Name const& name) const {
        return conv() ? list(group.windows, name) : "";
    }
    std::string filters() const {
        return windows([](oracle::Window const& w) { return pair(w.r, w.s, "x"); });
    }
    std::string strides() const {
        return windows([](oracle::Window const& w) { return one_or_two(w.u, w.v); });
    }
};

void print(std::ostream& out, std::vector<std::string> const& cells) {
    out << '|';
    for (std::string const& cell : cells) out << ' ' << cell << (cell.empty() ? "|" : " |");
    out << '\n';
}
void head(std::ostream& out, std::vector<std::string> const& cells) {
    print(out, cells);
    print(out, std::vector<std::string>(cells.size(), "---"));
}

std::size_t print_miopen(std::ostream& out, std::vector<Line> const& lines, fk::DataType type) {
    std::size_t rows = 0;
    head(out, {"sequence", "direction", "algorithm", "stride", "filter", "pad", "batch norm", "activations",
               "its demands", "rows"});
    for (Line const& line : lines) {
        Group const& g = line.group;
        if (!g.miopen || g.types[0] != type) continue;
        print(out, {list(g.forms, sequence), name(g.direction), g.words, line.strides(), line.filters(),
                    line.windows(pads), norm(g), activations(g), g.rule, std::to_string(line.rows)});
        rows += line.rows;
    }
    return rows;
}

}  // namespace

std::string page() {
    std::map<Group const*, std::size_t> count;
    for (Row const& row : rows()) ++count[row.group];
    std::vector<Line> lines;
    for (Group const& group : groups()) lines.push_back({group, count[&group]});

    std::ostringstream out, tables;
    std::size_t miopen = 0, ours = 0;
    tables << "\n## MIOpen's table for FP32\n\n";
    miopen += print_miopen(tables, lines, fk::DataType::float32);
    tables << "\n## MIOpen's table for FP16\n\n";
    miopen += print_miopen(tables, lines, fk::DataType::float16);
    tables << beyond << '\n';
    head(tables, {"what", "direction", "sequences", "types", "layouts", "filter", "stride", "pad", "dilation", "groups",
                  "channels", "batch norm", "activations", "rows"});
    for (Line const& line : lines) {
        Group const& g = line.group;
        if (g.miopen) continue;
        ours += line.rows;
        auto const layout = [](std::string const& word) { return '`' + word + '`'; };
        print(tables, {g.words + (g.rule.empty() ? "" : ", " + g.rule), name(g.direction), list(g.forms, sequence),
                       list(g.types, [](fk::DataType type) { return std::string(fk::name(type)); }),
                       list(g.layouts, layout), line.filters(), line.strides(), line.windows(pads),
                       line.windows([](oracle::Window const& w) { return one_or_two(w.d, w.e); }),
                       line.windows([](oracle::Window const& w) { return std::to_string(w.groups); }),
                       list(g.channels, [](std::int64_t c) { return std::to_string(c); }), norm(g), activations(g),
                       std::to_string(line.rows)});
    }
    auto const code = [](std::string const& mode) { return '`' + mode + '`'; };
    std::vector<std::string> miopens, more;
    catalogue::for_each_activation([&](auto const& line) { (line.is_miopens ? miopens : more).push_back(line.type); });
    out << introduction << "\nThe modes of `Activation` are MIOpen's " << miopens.size() << ", " << list(miopens, code)
        << ", and our " << more.size() << ", " << list(more, code) << ".\n\n"
        << miopen + ours << " rows: " << miopen << " of MIOpen's tables, " << ours << " beyond them.\n"
        << tables.str();
    return out.str();
}

}  // namespace test::table
