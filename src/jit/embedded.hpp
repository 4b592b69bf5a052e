// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace fusekit::jit {

/// The device headers, compressed (pack/lz.hpp), as pack.cpp wrote them: names and texts, each with a zero at its end.
extern unsigned char const packed_headers[];
extern std::size_t const packed_size;
extern std::uint64_t const headers_hash;  ///< hash of the uncompressed text

/// The headers, uncompressed at the first call; kept until the program ends.
struct Embedded {
    std::string text;
    std::vector<char const*> names, contents;

    static Embedded const& all();
    /// Name of the header of backend/hip/ that defines a class template, such as "WarpSpecializedGemm"; "" if none
    /// does.
    std::string defining(std::string const& name) const;
};

}  // namespace fusekit::jit
