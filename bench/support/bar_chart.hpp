// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "support/text.hpp"

namespace bench {

/// Horizontal bars, one measured and, unless `published` is empty, one lighter published bar per row, with a reference
/// line at 1.
class BarChart {
public:
    std::string title, axis, measured, published;  ///< the last two are the legend
    std::vector<std::string> caption;  ///< lines below the chart
    std::string warning;  ///< a red line below the caption

    struct Row {
        std::string name;
        double measured, published;
    };
    std::vector<Row> rows;
    Row summary{};  ///< separate row below the others

    std::string svg() const {
        double largest = std::max({1.0, summary.measured, summary.published});
        for (Row const& row : rows) largest = std::max({largest, row.measured, row.published});
        double const step = largest > 8 ? 2 : largest > 4 ? 1 : 0.5;
        double const end = std::ceil(largest * 1.04 / step) * step;
        auto const x = [&](double value) { return left + value / end * plot; };
        bool const both = !published.empty();
        int const top = both ? 94 : 76, row_height = both ? 35 : 22;
        int const bottom = top + row_height * static_cast<int>(rows.size()) + row_height + 14;
        int const height = bottom + 58 + 16 * static_cast<int>(caption.size() + !warning.empty());

        std::string out = text(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" viewBox=\"0 0 %d %d\" "
            "font-family=\"Helvetica, Arial, sans-serif\" font-size=\"12\" fill=\"#24292f\" role=\"img\">\n"
            "<title>%s</title>\n<desc>%s</desc>\n"
            "<rect width=\"100%%\" height=\"100%%\" fill=\"#ffffff\"/>\n"
            "<text x=\"%d\" y=\"28\" font-size=\"17\" font-weight=\"bold\">%s</text>\n",
            width, height, width, height, escaped(title).c_str(), escaped(description()).c_str(), margin,
            escaped(title).c_str());
        out += swatch(44, dark, measured);
        if (both) out += swatch(62, light, published);

        for (double tick = 0; tick <= end + 1e-9; tick += step)
            out += text(
                "<line x1=\"%.1f\" y1=\"%d\" x2=\"%.1f\" y2=\"%d\" stroke=\"#e6e8eb\"/>\n"
                "<text x=\"%.1f\" y=\"%d\" text-anchor=\"middle\" fill=\"#57606a\">%.1f</text>\n",
                x(tick), top - 6, x(tick), bottom, x(tick), bottom + 16, tick);
        std::string values;  // above the reference line
        auto const add = [&](Row const& row, int at) {
            out += text("<text x=\"%d\" y=\"%d\" text-anchor=\"end\">%s</text>\n", left - 8, at + (both ? 17 : 11),
                        escaped(row.name).c_str()) +
                   bar(at, 14, x(row.measured), dark);
            values += value(at + 11, x(row.measured), x(1), "#24292f", row.measured);
            if (!both) return;
            out += bar(at + 16, 9, x(row.published), light);
            values += value(at + 25, x(row.published), x(1), "#6e7781", row.published);
        };
        int y = top;
        for (Row const& row : rows) add(row, y), y += row_height;
        out += text("<line x1=\"%d\" y1=\"%d\" x2=\"%d\" y2=\"%d\" stroke=\"#8c959f\"/>\n", margin, y + 1, left + plot,
                    y + 1);
        add(summary, y + 10);
        out += text(
            "<line x1=\"%.1f\" y1=\"%d\" x2=\"%.1f\" y2=\"%d\" stroke=\"#cf222e\" "
            "stroke-width=\"1.5\" stroke-dasharray=\"5 3\"/>\n",
            x(1), top - 6, x(1), bottom);
        out += values;
        out += text("<text x=\"%.1f\" y=\"%d\" text-anchor=\"middle\">%s</text>\n", left + plot / 2.0, bottom + 36,
                    escaped(axis).c_str());
        y = bottom + 58;
        auto const note = [&](std::string const& line, char const* colour) {
            out += text("<text x=\"%d\" y=\"%d\" font-size=\"11\" fill=\"%s\">%s</text>\n", margin, y, colour,
                        escaped(line).c_str());
            y += 16;
        };
        for (std::string const& line : caption) note(line, "#57606a");
        if (!warning.empty()) note(warning, "#cf222e");
        return out + "</svg>\n";
    }

private:
    static constexpr int width = 860, margin = 20, left = 210, plot = 600, label_width = 26;
    static constexpr auto dark = "#0b6e99", light = "#b5d4e0";

    /// Description of the bars, for screen readers.
    std::string description() const {
        std::string all = axis + ", " + measured + ":";
        for (Row const& row : rows) all += text(" %s %.2f,", row.name.c_str(), row.measured);
        return all + text(" %s %.2f", summary.name.c_str(), summary.measured);
    }

    static std::string escaped(std::string const& text) {
        std::string out;
        for (char c : text)
            out += c == '&' ? "&amp;" : c == '<' ? "&lt;" : c == '>' ? "&gt;" : c == '"' ? "&quot;" : std::string(1, c);
        return out;
    }

    static std::string swatch(int y, char const* colour, std::string const& label) {
        return text(
            "<rect x=\"%d\" y=\"%d\" width=\"12\" height=\"12\" fill=\"%s\"/>\n"
            "<text x=\"%d\" y=\"%d\">%s</text>\n",
            margin, y, colour, margin + 17, y + 10, escaped(label).c_str());
    }

    static std::string bar(int y, int thickness, double end, char const* colour) {
        return text("<rect x=\"%d\" y=\"%d\" width=\"%.1f\" height=\"%d\" fill=\"%s\"/>\n", left, y, end - left,
                    thickness, colour);
    }

    /// Number at the end of a bar, past the reference `line` if it would cross it, with an outline for contrast.
    static std::string value(int baseline, double x, double line, char const* colour, double number) {
        if (x < line && x + 4 + label_width > line - 2) x = line;
        return text(
            "<text x=\"%.1f\" y=\"%d\" font-size=\"11\" fill=\"%s\" stroke=\"#ffffff\" "
            "stroke-width=\"3\" paint-order=\"stroke\">%.2f</text>\n",
            x + 4, baseline, colour, number);
    }
};

}  // namespace bench
