// SPDX-License-Identifier: MIT
#include "precompiled.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "embedded.hpp"

namespace fusekit::jit {

namespace {

/// State of the process, guarded by `mutex`.
struct Process {
    std::mutex mutex;
    int compilations = 0;  ///< of units that include the headers
    int file = -1;
    bool given_up = false;
};
Process& process() {
    static Process* const own = new Process;
    return *own;
}

std::string path_of(int descriptor) { return "/proc/self/fd/" + std::to_string(descriptor); }

}  // namespace

Precompiled::Precompiled(std::string const& unit, DiskCache const& disk) {
    Process& own = process();
    if (!Embedded::all().reaches(unit, "fusekit/backend/hip/params.hpp")) return;
    lock = std::unique_lock(own.mutex, std::try_to_lock);
    if (!lock || own.given_up) return;
    if (own.file >= 0) {
        option = "--use-pch=" + path_of(own.file);
    } else if (++own.compilations > 1) {
        name = DiskCache::temporary_name();
        directory = disk.open();
        if (directory >= 0) option = "--create-pch=" + path_of(directory) + "/" + name;
    }
}

Precompiled::~Precompiled() {
    if (directory < 0) return;
    Process& own = process();
    struct stat status;
    int const file = openat(directory, name.c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
    if (file >= 0 && !own.given_up && fstat(file, &status) == 0 && S_ISREG(status.st_mode) &&
        status.st_uid == geteuid())
        own.file = file;
    else if (file >= 0) close(file);
    own.given_up = own.file < 0;
    unlinkat(directory, name.c_str(), 0);
    close(directory);
}

void Precompiled::give_up() {
    Process& own = process();
    own.given_up = true;
    if (own.file >= 0) close(own.file);
    own.file = -1;
    option.clear();
}

}  // namespace fusekit::jit
