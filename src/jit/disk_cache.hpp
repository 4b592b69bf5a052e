// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string>

#include "compiler.hpp"

namespace fusekit::jit {

/// Machine code in a folder, one file per key, for many processes at once.
///
/// The folder is created with mode 0700, and used only if it belongs to the effective user and no other user may write
/// to it. Files are opened without following links. A file contains its whole key and a checksum; one that is truncated
/// or altered is not found. A file is written under another name and then renamed. There is no cache in set-user-id
/// programs, and none if the folder cannot be used: every function then does nothing.
class DiskCache {
public:
    /// Uses this folder; "" means fusekit/jit in the user's cache folder ($XDG_CACHE_HOME, else ~/.cache). If `bytes`
    /// is 0 there is no cache.
    DiskCache(std::string the_folder, std::uint64_t the_bytes);

    bool find(std::string const& key, Code& code) const;
    /// Stores code; removes the files that were used least recently if all have more than `bytes` bytes.
    void store(std::string const& key, Code const& code) const;

    static constexpr std::uint64_t default_bytes = std::uint64_t{256} << 20;

private:
    std::string folder;
    std::uint64_t bytes;

    int open_folder(bool create) const;
    void remove_oldest(int directory) const;
};

}  // namespace fusekit::jit
