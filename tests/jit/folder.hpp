// SPDX-License-Identifier: MIT
#pragma once

#include <dirent.h>
#include <unistd.h>

#include <catch2/catch_test_macros.hpp>
#include <cstdlib>
#include <string>
#include <vector>

namespace test {

/// An empty folder, which the destructor removes.
struct Folder {
    std::string path;

    Folder() {
        char name[] = "/tmp/fusekit_jit_XXXXXX";
        path = mkdtemp(name) ? name : "";
        REQUIRE(!path.empty());
    }
    Folder(Folder const&) = delete;
    Folder& operator=(Folder const&) = delete;
    ~Folder() {
        for (std::string const& name : files(true)) unlink((path + "/" + name).c_str());
        rmdir(path.c_str());
    }
    std::vector<std::string> files(bool hidden = false) const {
        std::vector<std::string> all;
        DIR* const listed = opendir(path.c_str());
        while (dirent const* const one = listed ? readdir(listed) : nullptr)
            if (std::string const name = one->d_name; name != "." && name != ".." && (hidden || name[0] != '.'))
                all.push_back(name);
        if (listed) closedir(listed);
        return all;
    }
    std::string only() const { return path + "/" + files().at(0); }
};

}  // namespace test
