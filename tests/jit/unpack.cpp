// SPDX-License-Identifier: MIT
//
// unpack FOLDER: writes the library's own headers that fusekit_jit embeds to FOLDER, as the compiler at run time reads
// them. Prints their number. Fails unless the library finds the header of each class of mainloop/ by its name, however
// the line goes on.
#include <filesystem>
#include <fstream>
#include <iostream>
#include <string>

#include "embedded.hpp"

namespace {

/// True if the library finds the header that defines each class that begins a line of `text`.
bool finds_classes(fusekit::jit::Embedded const& all, std::string const& header, std::string const& text) {
    std::string const keyword = "\nclass ";
    for (std::size_t at = 0; (at = text.find(keyword, at)) != std::string::npos;) {
        at += keyword.size();
        std::string const name = text.substr(at, text.find_first_of(" :;\n", at) - at);
        if (text.find('{', at) > text.find(';', at) || name.find('<') != std::string::npos) continue;
        if (all.defining(name) == header) continue;
        std::cout << name << " is not found in " << header << '\n';
        return false;
    }
    return true;
}

}  // namespace

int main(int count, char** arguments) {
    if (count != 2) return 2;
    fusekit::jit::Embedded const& all = fusekit::jit::Embedded::all();
    int written = 0;
    for (std::size_t i = 0; i < all.names.size(); ++i) {
        std::string const name = all.names[i];
        if (name.compare(0, 8, "fusekit/") != 0) continue;
        if (name.find("/mainloop/") != std::string::npos && !finds_classes(all, name, all.contents[i])) return 1;
        std::filesystem::path const path = std::filesystem::path(arguments[1]) / name;
        std::filesystem::create_directories(path.parent_path());
        if (!(std::ofstream(path, std::ios::binary) << all.contents[i])) return 1;
        ++written;
    }
    std::cout << written << " headers\n";
    return written > 0 ? 0 : 1;
}
