// SPDX-License-Identifier: MIT
#include "disk_cache.hpp"

#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch_test_macros.hpp>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <random>
#include <vector>

#include "code.hpp"
#include "folder.hpp"

namespace jit = fusekit::jit;
using test::Folder;

namespace {

std::string key_of(unsigned i) { return "key " + std::to_string(i) + std::string(200 + i, 'k'); }
jit::Code code(unsigned i) { return test::code_of("kernel_" + std::to_string(i), 500 + 37 * i, i); }

std::string read(std::string const& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
}
void write(std::string const& path, std::string const& text) { std::ofstream(path, std::ios::binary) << text; }

bool finds(jit::DiskCache const& cache, unsigned i) {
    jit::Code found;
    if (!cache.find(key_of(i), found)) return false;
    REQUIRE(found.name == code(i).name);
    REQUIRE(found.cubin == code(i).cubin);
    return true;
}

}  // namespace

TEST_CASE("disk cache: code that was stored is found, by its whole key") {
    Folder const folder;
    jit::DiskCache const cache(folder.path, 1 << 20);
    REQUIRE_FALSE(finds(cache, 1));
    for (unsigned i = 0; i < 5; ++i) cache.store(key_of(i), code(i));
    for (unsigned i = 0; i < 5; ++i) REQUIRE(finds(cache, i));
    REQUIRE_FALSE(finds(cache, 5));
    struct stat status;
    REQUIRE(stat(folder.only().c_str(), &status) == 0);
    REQUIRE((status.st_mode & 0777) == 0600);
}

TEST_CASE("disk cache: a folder is created with mode 0700") {
    Folder const folder;
    std::string const inner = folder.path + "/a", path = inner + "/b";
    jit::DiskCache const cache(path, 1 << 20);
    REQUIRE_FALSE(finds(cache, 1));
    REQUIRE(access(path.c_str(), F_OK) != 0);  // a search creates nothing
    cache.store(key_of(1), code(1));
    REQUIRE(finds(cache, 1));
    struct stat status;
    REQUIRE(stat(path.c_str(), &status) == 0);
    REQUIRE((status.st_mode & 0777) == 0700);
    REQUIRE(std::system(("rm -r " + inner).c_str()) == 0);
}

TEST_CASE("disk cache: folders that others may write to, links and size 0 are not used") {
    Folder const folder;
    jit::DiskCache const cache(folder.path, 1 << 20);
    cache.store(key_of(1), code(1));
    for (mode_t const mode : {0720, 0702, 0777}) {
        REQUIRE(chmod(folder.path.c_str(), mode) == 0);
        REQUIRE_FALSE(finds(cache, 1));
        cache.store(key_of(2), code(2));
        REQUIRE(folder.files().size() == 1);
    }
    REQUIRE(chmod(folder.path.c_str(), 0700) == 0);
    REQUIRE(finds(cache, 1));
    REQUIRE_FALSE(finds(jit::DiskCache(folder.path, 0), 1));

    std::string const link = folder.path + "_link";
    REQUIRE(symlink(folder.path.c_str(), link.c_str()) == 0);
    REQUIRE_FALSE(finds(jit::DiskCache(link, 1 << 20), 1));
    unlink(link.c_str());

    std::string const file = folder.only(), moved = file + "_moved";
    REQUIRE(rename(file.c_str(), moved.c_str()) == 0);
    REQUIRE(symlink(moved.c_str(), file.c_str()) == 0);
    REQUIRE_FALSE(finds(cache, 1));
    cache.store(key_of(1), code(1));  // replaces the link
    REQUIRE(finds(cache, 1));
    jit::DiskCache const none("/proc/nothing/here", 1 << 20);
    none.store(key_of(1), code(1));
    REQUIRE_FALSE(finds(none, 1));
}

TEST_CASE("disk cache: files that were truncated or altered are not found") {
    Folder const folder;
    jit::DiskCache const cache(folder.path, 1 << 20);
    cache.store(key_of(1), code(1));
    std::string const path = folder.only(), good = read(path);
    std::mt19937 random(7);
    for (int i = 0; i < 1000; ++i) {
        std::string file = good;
        switch (random() % 4) {
            case 0: file.resize(random() % file.size()); break;
            case 1: file[random() % file.size()] ^= static_cast<char>(1 << random() % 8); break;
            case 2:
                file.insert(random() % file.size(), std::string(1 + random() % 9, static_cast<char>(random())));
                break;
            default:
                for (std::size_t at = random() % 40, end = at + random() % 8; at < end; ++at)
                    file[at] = static_cast<char>(random());
        }
        write(path, file);
        REQUIRE(finds(cache, 1) == (file == good));
    }
    cache.store(key_of(1), code(1));
    REQUIRE(finds(cache, 1));
}

TEST_CASE("disk cache: a file of another key is not found") {
    Folder const folder;
    jit::DiskCache const cache(folder.path, 1 << 20);
    cache.store(key_of(1), code(1));
    std::string const first = folder.only(), text = read(first);
    cache.store(key_of(2), code(2));
    for (std::string const& name : folder.files()) write(folder.path + "/" + name, text);
    REQUIRE(finds(cache, 1));
    REQUIRE_FALSE(finds(cache, 2));
}

TEST_CASE("disk cache: the size is bounded, and files that were used last stay") {
    Folder const folder;
    constexpr std::uint64_t most = 20000;
    jit::DiskCache const cache(folder.path, most);
    for (unsigned i = 0; i < 60; ++i) {
        cache.store(key_of(i), code(i));
        REQUIRE(finds(cache, i));
        REQUIRE((i == 0 || finds(cache, 0)));  // used again and again
        std::uint64_t sum = 0;
        for (std::string const& name : folder.files()) sum += read(folder.path + "/" + name).size();
        REQUIRE(sum <= most);
        usleep(2000);  // times of use differ
    }
    REQUIRE_FALSE(finds(cache, 1));
}

TEST_CASE("disk cache: a thousand processes with one folder") {
    Folder const folder;
    constexpr int processes = 1000, at_once = 50;
    constexpr std::uint64_t most = 12000;  // fewer than the 8 entries have: files are removed, too
    int failed = 0;
    for (int started = 0, ended = 0; ended < processes;) {
        if (started < processes && started - ended < at_once) {
            pid_t const child = fork();
            if (child == 0) {
                jit::DiskCache const cache(folder.path, most);
                std::mt19937 random(static_cast<unsigned>(started));
                bool fits = true;
                for (int i = 0; i < 20; ++i) {
                    unsigned const which = random() % 8;
                    jit::Code found;
                    if (cache.find(key_of(which), found))
                        fits = fits && found.name == code(which).name && found.cubin == code(which).cubin;
                    else cache.store(key_of(which), code(which));
                }
                _exit(fits ? 0 : 1);
            }
            REQUIRE(child > 0);
            ++started;
            continue;
        }
        int status = 0;
        REQUIRE(wait(&status) > 0);
        failed += !WIFEXITED(status) || WEXITSTATUS(status) != 0;
        ++ended;
    }
    REQUIRE(failed == 0);
    jit::DiskCache const cache(folder.path, most);
    int whole = 0;
    for (unsigned i = 0; i < 8; ++i) whole += finds(cache, i);
    REQUIRE(whole == static_cast<int>(folder.files(true).size()));  // no partial and no temporary file
}
