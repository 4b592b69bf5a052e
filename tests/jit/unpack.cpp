// SPDX-License-Identifier: MIT
//
// unpack FOLDER: writes the library's own headers that fusekit_jit embeds to FOLDER, as the compiler at run time reads
// them. Prints their number.
#include <filesystem>
#include <fstream>
#include <iostream>
#include <string>

#include "embedded.hpp"

int main(int count, char** arguments) {
    if (count != 2) return 2;
    fusekit::jit::Embedded const& all = fusekit::jit::Embedded::all();
    int written = 0;
    for (std::size_t i = 0; i < all.names.size(); ++i) {
        std::string const name = all.names[i];
        if (name.compare(0, 8, "fusekit/") != 0) continue;
        std::filesystem::path const path = std::filesystem::path(arguments[1]) / name;
        std::filesystem::create_directories(path.parent_path());
        if (!(std::ofstream(path, std::ios::binary) << all.contents[i])) return 1;
        ++written;
    }
    std::cout << written << " headers\n";
    return written > 0 ? 0 : 1;
}
