// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>

namespace fusekit::jit {

/// A shared library that is loaded at run time, by the first of its names that exists; never unloaded.
class LoadedLibrary {
public:
    template <std::size_t count>
    explicit LoadedLibrary(char const* const (&names)[count]) {
        for (char const* const name : names)
            if (!handle) handle = open(name);
    }
    explicit operator bool() const { return handle != nullptr; }

    /// Sets `function` to the library's function of this name; returns false if there is none.
    template <class Function>
    bool find(char const* name, Function*& function) const {
        function = reinterpret_cast<Function*>(symbol(name));
        return function != nullptr;
    }

private:
    void* handle = nullptr;

    static void* open(char const* name);
    void* symbol(char const* name) const;
};

}  // namespace fusekit::jit
