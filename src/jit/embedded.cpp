// SPDX-License-Identifier: MIT
#include "embedded.hpp"

#include <cstring>
#include <set>

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
                if ((at == contents[i] || at[-1] == '\n') && (next == ' ' || next == ':') &&
                    std::strcspn(at, ";") > std::strcspn(at, "{"))
                    return names[i];
            }
        }
    }
    return "";
}

bool Embedded::reaches(std::string const& of, std::string const& header) const {
    std::set<std::string> seen;
    std::vector<char const*> left = {of.c_str()};
    while (!left.empty()) {
        constexpr char include[] = "#include \"";
        char const* at = left.back();
        left.pop_back();
        while ((at = std::strstr(at, include))) {
            at += sizeof include - 1;
            std::string name(at, std::strcspn(at, "\""));
            if (name == header) return true;
            for (std::size_t i = 0; i < names.size(); ++i)
                if (name == names[i]) {
                    if (seen.insert(std::move(name)).second) left.push_back(contents[i]);
                    break;
                }
        }
    }
    return false;
}

}  // namespace fusekit::jit
