// SPDX-License-Identifier: MIT
#pragma once

#include <filesystem>
#include <fstream>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

#include "support/options.hpp"
#include "support/records.hpp"

namespace bench::zoo {

/// A CSV that grows by a row for each measurement. Rows of an earlier run are found by their key: the first `key_size`
/// cells, which have no commas.
class Rows {
public:
    /// Columns of report.py, and the size of its key.
    static constexpr auto layer_columns =
        "pass,dtype,layout,batch,threads,layer,ours_us,peer_us,peer,copy_us,error,note,machine,versions,date,command";
    static constexpr int layer_key_size = 6;

    /// Throws UsageError for a file with other columns, which stays unchanged.
    Rows(std::filesystem::path given, std::string const& columns, int key_size)
        : path(std::move(given)), key_size(key_size) {
        std::ifstream file(path);
        std::string line;
        if (std::getline(file, line)) {
            if (line != columns) throw UsageError("'" + path.string() + "': expected the columns " + columns);
            while (std::getline(file, line)) note(line);
        } else {
            if (path.has_parent_path()) std::filesystem::create_directories(path.parent_path());
            append(columns);
        }
    }

    bool has(std::string const& key) const { return known.contains(key); }

    /// `key` has its cells joined by commas; the others are escaped.
    void add(std::string const& key, std::vector<std::string> const& others) {
        std::string line = key;
        for (std::string const& each : others) line += "," + in_csv(each);
        append(line);
        note(line);
    }

    /// Every row, of earlier runs too.
    std::vector<std::string> const& lines() const { return all; }

private:
    std::filesystem::path path;
    int key_size;
    std::set<std::string> known;
    std::vector<std::string> all;

    void append(std::string const& line) const {
        std::ofstream file(path, std::ios::app);
        if (!(file << line << "\n" << std::flush)) throw std::runtime_error("cannot write '" + path.string() + "'");
    }
    void note(std::string const& line) {
        std::size_t end = 0;
        for (int cell = 0; cell < key_size && end != line.npos; ++cell) end = line.find(',', end + (cell > 0));
        known.insert(line.substr(0, end));
        all.push_back(line);
    }
};

}  // namespace bench::zoo
