// SPDX-License-Identifier: MIT
#include "disk_cache.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <vector>

#include "cubin.hpp"

namespace fusekit::jit {

namespace {

/// A file is a Head, the key, the kernel's name, the cubin.
struct Head {
    char magic[8];
    std::uint64_t key, name, cubin;  ///< sizes in bytes
    std::uint64_t checksum;          ///< of the sizes and of all that follows

    static constexpr char own_magic[] = "fusejit1";
};
constexpr std::uint64_t most_bytes = std::uint64_t{64} << 20;  // of a file

/// FNV-1a, 64 bits.
std::uint64_t hash_of(std::string const& text, std::uint64_t hash = 0xcbf29ce484222325u) {
    for (char const c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3u;
    return hash;
}
std::uint64_t checksum_of(Head const& head, std::string const& body) {
    std::string const sizes =
        std::to_string(head.key) + " " + std::to_string(head.name) + " " + std::to_string(head.cubin);
    return hash_of(body, hash_of(sizes));
}

std::string file_of(std::string const& key) {
    char name[48];
    std::snprintf(name, sizeof name, "%016llx%016llx.fkjit", static_cast<unsigned long long>(hash_of(key)),
                  static_cast<unsigned long long>(hash_of(key, 0x6c62272e07bb0142u)));
    return name;
}

struct File {
    int descriptor;

    explicit File(int the_descriptor) : descriptor(the_descriptor) {}
    File(File const&) = delete;
    File& operator=(File const&) = delete;
    ~File() {
        if (descriptor >= 0) close(descriptor);
    }
    explicit operator bool() const { return descriptor >= 0; }
};

bool read_all(int file, std::string& text) {
    for (std::size_t done = 0; done < text.size();) {
        ssize_t const count = read(file, text.data() + done, text.size() - done);
        if (count < 0 && errno == EINTR) continue;
        if (count <= 0) return false;
        done += static_cast<std::size_t>(count);
    }
    return true;
}
bool write_all(int file, char const* data, std::size_t size) {
    while (size > 0) {
        ssize_t const count = write(file, data, size);
        if (count < 0 && errno == EINTR) continue;
        if (count <= 0) return false;
        data += count, size -= static_cast<std::size_t>(count);
    }
    return true;
}

std::string user_folder() {
    char const* const cache = secure_getenv("XDG_CACHE_HOME");
    if (cache && cache[0] == '/') return std::string(cache) + "/fusekit/jit";
    char const* const home = secure_getenv("HOME");
    return home && home[0] == '/' ? std::string(home) + "/.cache/fusekit/jit" : "";
}

constexpr char temporary[] = ".writing-";

}  // namespace

DiskCache::DiskCache(std::string the_folder, std::uint64_t the_bytes)
    : folder(std::move(the_folder)), bytes(getauxval(AT_SECURE) ? 0 : the_bytes) {
    if (folder.empty()) folder = user_folder();
}

int DiskCache::open_folder(bool create) const {
    if (bytes == 0 || folder.empty()) return -1;
    if (create)
        for (std::size_t at = 0; at != std::string::npos; at = at == folder.size() ? std::string::npos : at) {
            at = std::min(folder.find('/', at + 1), folder.size());
            mkdir(folder.substr(0, at).c_str(), 0700);  // fails if it exists
        }
    int const directory = open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    struct stat status;
    if (directory >= 0 && fstat(directory, &status) == 0 && status.st_uid == geteuid() &&
        (status.st_mode & (S_IWGRP | S_IWOTH)) == 0)
        return directory;
    if (directory >= 0) close(directory);
    return -1;
}

bool DiskCache::find(std::string const& key, Code& code) const {
    File const directory(open_folder(false));
    if (!directory) return false;
    File const file(openat(directory.descriptor, file_of(key).c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK));
    struct stat status;
    if (!file || fstat(file.descriptor, &status) != 0 || !S_ISREG(status.st_mode) || status.st_uid != geteuid())
        return false;
    auto const size = static_cast<std::uint64_t>(status.st_size);
    Head head;
    if (size < sizeof head || size > most_bytes) return false;
    std::string text(size, 0);
    if (!read_all(file.descriptor, text)) return false;
    std::memcpy(&head, text.data(), sizeof head);
    if (std::memcmp(head.magic, Head::own_magic, sizeof head.magic) != 0 || head.key > size || head.name > size ||
        head.cubin > size || sizeof head + head.key + head.name + head.cubin != size)
        return false;
    text.erase(0, sizeof head);
    if (checksum_of(head, text) != head.checksum || text.compare(0, head.key, key) != 0 || head.key != key.size())
        return false;
    code.name = text.substr(head.key, head.name);
    code.cubin = text.substr(head.key + head.name);
    if (code.name.empty() || code.name != kernel_name(code.cubin)) return false;
    futimens(file.descriptor, nullptr);  // it is now the one that was used last
    return true;
}

void DiskCache::store(std::string const& key, Code const& code) const {
    File const directory(open_folder(true));
    if (!directory) return;
    static std::atomic<unsigned> number = 0;
    std::string const name = temporary + std::to_string(getpid()) + "-" + std::to_string(number++) + "-" +
                             std::to_string(std::time(nullptr));
    std::string const body = key + code.name + code.cubin;
    Head head{};
    std::memcpy(head.magic, Head::own_magic, sizeof head.magic);
    head.key = key.size(), head.name = code.name.size(), head.cubin = code.cubin.size();
    head.checksum = checksum_of(head, body);
    if (sizeof head + body.size() > std::min(most_bytes, bytes)) return;
    bool written = false;
    {
        File const file(
            openat(directory.descriptor, name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
        if (!file) return;
        written = write_all(file.descriptor, reinterpret_cast<char const*>(&head), sizeof head) &&
                  write_all(file.descriptor, body.data(), body.size());
    }
    if (!written || renameat(directory.descriptor, name.c_str(), directory.descriptor, file_of(key).c_str()) != 0)
        unlinkat(directory.descriptor, name.c_str(), 0);
    remove_oldest(directory.descriptor);
}

void DiskCache::remove_oldest(int directory) const {
    struct Entry {
        std::string name;
        std::uint64_t size;
        timespec used;
    };
    std::vector<Entry> entries;
    std::uint64_t sum = 0;
    int const own = dup(directory);
    DIR* const listed = own >= 0 ? fdopendir(own) : nullptr;
    if (!listed) {
        if (own >= 0) close(own);
        return;
    }
    rewinddir(listed);
    while (dirent const* const one = readdir(listed)) {
        struct stat status;
        if (one->d_name[0] == '.' && std::strncmp(one->d_name, temporary, sizeof temporary - 1) != 0) continue;
        if (fstatat(directory, one->d_name, &status, AT_SYMLINK_NOFOLLOW) != 0 || !S_ISREG(status.st_mode)) continue;
        constexpr std::time_t abandoned = 3600;
        if (one->d_name[0] == '.') {
            if (std::time(nullptr) - status.st_mtim.tv_sec > abandoned) unlinkat(directory, one->d_name, 0);
            continue;
        }
        entries.push_back({one->d_name, static_cast<std::uint64_t>(status.st_size), status.st_mtim});
        sum += entries.back().size;
    }
    closedir(listed);
    if (sum <= bytes) return;
    std::sort(entries.begin(), entries.end(), [](Entry const& a, Entry const& b) {
        return a.used.tv_sec != b.used.tv_sec ? a.used.tv_sec < b.used.tv_sec : a.used.tv_nsec < b.used.tv_nsec;
    });
    for (Entry const& one : entries) {
        if (sum <= bytes / 4 * 3) break;
        unlinkat(directory, one.name.c_str(), 0);
        sum -= one.size;
    }
}

}  // namespace fusekit::jit
