// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "support/text.hpp"

namespace bench {

/// Horizontal bars, a measured one and a lighter published one a row, with a reference line at 1.
class BarChart {
public:
    std::string title, axis, measured, published;  ///< the last two are the legend
    std::vector<std::string> caption;              ///< lines under the chart

    struct Row {
        std::string name;
        double measured, published;
    };
    std::vector<Row> rows;
    Row summary{};  ///< set apart under the rows

    std::string svg() const {
        double largest = std::max({1.0, summary.measured, summary.published});
        for (Row const& row : rows) largest = std::max({largest, row.measured, row.published});
        double const step = largest > 8 ? 2 : largest > 4 ? 1 : 0.5;
        double const end = std::ceil(largest * 1.04 / step) * step;
        auto const x = [&](double value) { return left + value / end * plot; };
        int const bottom = top + row_height * static_cast<int>(rows.size()) + row_height + 14;
        int const height = bottom + 58 + 16 * static_cast<int>(caption.size());

        std::string out = text(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" viewBox=\"0 0 %d %d\" "
            "font-family=\"Helvetica, Arial, sans-serif\" font-size=\"12\" fill=\"#24292f\">\n"
            "<rect width=\"100%%\" height=\"100%%\" fill=\"#ffffff\"/>\n"
            "<text x=\"%d\" y=\"28\" font-size=\"17\" font-weight=\"bold\">%s</text>\n",
            width, height, width, height, margin, escaped(title).c_str());
        out += swatch(margin, dark, measured) +
               swatch(margin + 24 + 7 * static_cast<int>(measured.size()), light, published);

        for (double tick = 0; tick <= end + 1e-9; tick += step)
            out += text(
                "<line x1=\"%.1f\" y1=\"%d\" x2=\"%.1f\" y2=\"%d\" stroke=\"#e6e8eb\"/>\n"
                "<text x=\"%.1f\" y=\"%d\" text-anchor=\"middle\" fill=\"#57606a\">%.1f</text>\n",
                x(tick), top - 6, x(tick), bottom, x(tick), bottom + 16, tick);
        std::string values;  // above the reference line
        auto const add = [&](Row const& row, int at) {
            out += text("<text x=\"%d\" y=\"%d\" text-anchor=\"end\">%s</text>\n", left - 8, at + 17,
                        escaped(row.name).c_str()) +
                   bar(at, 14, x(row.measured), dark) + bar(at + 16, 9, x(row.published), light);
            values += value(at + 11, x(row.measured), "#24292f", row.measured) +
                      value(at + 25, x(row.published), "#6e7781", row.published);
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
        for (std::string const& line : caption) {
            out += text("<text x=\"%d\" y=\"%d\" font-size=\"11\" fill=\"#57606a\">%s</text>\n", margin, y,
                        escaped(line).c_str());
            y += 16;
        }
        return out + "</svg>\n";
    }

private:
    static constexpr int width = 860, margin = 20, left = 210, plot = 600, top = 76, row_height = 35;
    static constexpr auto dark = "#0b6e99", light = "#b5d4e0";

    static std::string escaped(std::string const& text) {
        std::string out;
        for (char c : text)
            out += c == '&' ? "&amp;" : c == '<' ? "&lt;" : c == '>' ? "&gt;" : c == '"' ? "&quot;" : std::string(1, c);
        return out;
    }

    static std::string swatch(int x, char const* colour, std::string const& label) {
        return text(
            "<rect x=\"%d\" y=\"44\" width=\"12\" height=\"12\" fill=\"%s\"/>\n"
            "<text x=\"%d\" y=\"54\">%s</text>\n",
            x, colour, x + 17, escaped(label).c_str());
    }

    static std::string bar(int y, int thickness, double end, char const* colour) {
        return text("<rect x=\"%d\" y=\"%d\" width=\"%.1f\" height=\"%d\" fill=\"%s\"/>\n", left, y, end - left,
                    thickness, colour);
    }

    /// At the end of a bar, with a rim that keeps it apart from what it lies on.
    static std::string value(int baseline, double x, char const* colour, double number) {
        return text(
            "<text x=\"%.1f\" y=\"%d\" font-size=\"11\" fill=\"%s\" stroke=\"#ffffff\" "
            "stroke-width=\"3\" paint-order=\"stroke\">%.2f</text>\n",
            x + 4, baseline, colour, number);
    }
};

}  // namespace bench
