// SPDX-License-Identifier: MIT
#pragma once

#include <cctype>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace bench {

/// Writes `content` to `path`, creates its directory, and prints the path. Throws std::runtime_error.
inline void write_file(std::filesystem::path const& path, std::string const& content) {
    std::error_code ignored;  // a missing directory fails when the file is opened
    if (path.has_parent_path()) std::filesystem::create_directories(path.parent_path(), ignored);
    std::ofstream file(path);
    if (!(file << content << std::flush)) throw std::runtime_error("cannot write '" + path.string() + "'");
    std::printf("wrote %s\n", path.c_str());
}

/// A value as a cell of CSV: in quotes if it has commas, quotes or line ends.
inline std::string in_csv(std::string const& value) {
    if (value.find_first_of(",\"\n") == value.npos) return value;
    std::string result = "\"";
    for (char c : value) result += c == '"' ? std::string("\"\"") : std::string(1, c);
    return result + "\"";
}

/// Names and values, in order.
using Fields = std::vector<std::pair<std::string, std::string>>;

/// Results of a program: rows with equal names, and facts about the whole run. In CSV the facts end every row; in JSON
/// they are written once.
class Records {
public:
    explicit Records(Fields facts) : facts(std::move(facts)) {}

    void add(Fields row) { rows.push_back(std::move(row)); }

    /// Writes DIRECTORY/NAME.csv and DIRECTORY/NAME.json.
    void write(std::filesystem::path const& directory, std::string const& name) const {
        write_file(directory / (name + ".csv"), csv());
        write_file(directory / (name + ".json"), json());
    }

private:
    Fields facts;
    std::vector<Fields> rows;

    std::string csv() const {
        std::string names, all;
        for (Fields const& row : rows) {
            std::string line;
            names.clear();
            for (Fields const* part : {&row, &facts})
                for (auto const& [name, value] : *part) {
                    names += (names.empty() ? "" : ",") + name;
                    line += (line.empty() ? "" : ",") + in_csv(value);
                }
            all += line + "\n";
        }
        return names + "\n" + all;
    }

    std::string json() const {
        std::string all = "{\n";
        for (auto const& [name, value] : facts) all += "  \"" + name + "\": " + in_json(value) + ",\n";
        all += "  \"rows\": [";
        for (Fields const& row : rows) {
            all += &row == &rows.front() ? "\n    {" : ",\n    {";
            for (auto const& [name, value] : row)
                all += (&name == &row.front().first ? "\"" : ", \"") + name + "\": " + in_json(value);
            all += "}";
        }
        return all + "\n  ]\n}\n";
    }

    static std::string in_json(std::string const& value) {
        if (value == "yes") return "true";
        if (value == "no") return "false";
        std::size_t const digit = value.starts_with('-');
        if (digit < value.size() && std::isdigit(static_cast<unsigned char>(value[digit]))) {
            char* end = nullptr;
            std::strtod(value.c_str(), &end);
            if (!*end) return value;
        }
        std::string result = "\"";
        for (char c : value) result += c == '"' || c == '\\' ? std::string{'\\', c} : std::string(1, c);
        return result + "\"";
    }
};

}  // namespace bench
