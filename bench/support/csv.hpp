// SPDX-License-Identifier: MIT
#pragma once

#include <fmt/format.h>

#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>
#include <vector>

namespace bench {

/// Creates `path`, its directory included, with `text` in it. Throws std::runtime_error.
inline void write_file(std::filesystem::path const& path, std::string const& text) {
    std::error_code ignored;  // a directory that cannot be made shows as a file that cannot be written
    if (path.has_parent_path()) std::filesystem::create_directories(path.parent_path(), ignored);
    std::ofstream file(path);
    if (!(file << text << std::flush)) throw std::runtime_error(fmt::format("cannot write '{}'", path.string()));
}

/// Rows of comma-separated values under a header. No value holds a comma, a quote or a line break but in quotes.
class Csv {
public:
    explicit Csv(std::vector<std::string> const& header) { row(header); }

    void row(std::vector<std::string> const& values) {
        std::string line;
        for (std::string const& value : values) line += (line.empty() ? "" : ",") + quoted(value);
        text += line + "\n";
    }
    void write(std::filesystem::path const& path) const { write_file(path, text); }

private:
    std::string text;

    static std::string quoted(std::string const& value) {
        if (value.find_first_of(",\"\n") == value.npos) return value;
        std::string result = "\"";
        for (char c : value) result += c == '"' ? std::string("\"\"") : std::string(1, c);
        return result + "\"";
    }
};

}  // namespace bench
