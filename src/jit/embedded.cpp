// SPDX-License-Identifier: MIT
#include "embedded.hpp"

#include <cstring>

#include "pack/lz.hpp"

namespace fusekit::jit {

Embedded const& Embedded::all() {
    static Embedded const* const own = [] {
        auto* const result = new Embedded;
        result->text = lz::decompress(packed_headers, packed_headers + packed_size);
        char const* const end = result->text.data() + result->text.size();
        for (char const* at = result->text.data(); at < end;) {
            result->names.push_back(at);
            at += std::strlen(at) + 1;
            result->contents.push_back(at);
            at += std::strlen(at) + 1;
        }
        return result;
    }();
    return *own;
}

std::string Embedded::defining(std::string const& name) const {
    for (char const* const keyword : {"class ", "struct "}) {
        std::string const head = keyword + name;
        for (std::size_t i = 0; i < names.size(); ++i) {
            if (!std::strstr(names[i], "backend/hip/")) continue;
            for (char const* at = contents[i]; (at = std::strstr(at, head.c_str())); at += head.size()) {
                char const next = at[head.size()];
                if ((at == contents[i] || at[-1] == '\n') && (next == ' ' || next == ':' || next == '\n') &&
                    std::strcspn(at, ";") > std::strcspn(at, "{"))
                    return names[i];
            }
        }
    }
    return "";
}

}  // namespace fusekit::jit
