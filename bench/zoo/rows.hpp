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

/// A CSV that grows by a row for each measured layer, with report.py's columns. Rows of an earlier run are found by
/// their first six columns, the key: pass, dtype, layout, batch, threads, layer.
class Rows {
public:
    static constexpr auto columns =
        "pass,dtype,layout,batch,threads,layer,ours_us,peer_us,peer,copy_us,error,note,machine,versions,date,command";

    /// Throws UsageError for a file with other columns, which stays unchanged.
    explicit Rows(std::filesystem::path path) : path(std::move(path)) {
        std::ifstream file(this->path);
        std::string line;
        if (std::getline(file, line)) {
            if (line != columns) throw UsageError("'" + this->path.string() + "': expected the columns " + columns);
            while (std::getline(file, line)) known.insert(key_of(line));
        } else {
            if (this->path.has_parent_path()) std::filesystem::create_directories(this->path.parent_path());
            append(columns);
        }
    }

    bool has(std::string const& key) const { return known.contains(key); }

    /// `key` is the first six values, joined by commas; the others are escaped.
    void add(std::string const& key, std::vector<std::string> const& others) {
        std::string line = key;
        for (std::string const& each : others) line += "," + in_csv(each);
        append(line);
        known.insert(key);
    }

private:
    std::filesystem::path path;
    std::set<std::string> known;

    void append(std::string const& line) const {
        std::ofstream file(path, std::ios::app);
        if (!(file << line << "\n" << std::flush)) throw std::runtime_error("cannot write '" + path.string() + "'");
    }
    static std::string key_of(std::string const& line) {
        std::size_t end = 0;
        for (int column = 0; column < 6 && end != line.npos; ++column) end = line.find(',', end + (column > 0));
        return line.substr(0, end);
    }
};

}  // namespace bench::zoo
