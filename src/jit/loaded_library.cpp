// SPDX-License-Identifier: MIT
#include "loaded_library.hpp"

#if defined(_WIN32)
#include <windows.h>
#else
#include <dlfcn.h>
#endif

namespace fusekit::jit {

#if defined(_WIN32)
void* LoadedLibrary::open(char const* name) { return LoadLibraryA(name); }
void* LoadedLibrary::symbol(char const* name) const {
    return handle ? reinterpret_cast<void*>(GetProcAddress(static_cast<HMODULE>(handle), name)) : nullptr;
}
#else
void* LoadedLibrary::open(char const* name) { return dlopen(name, RTLD_NOW | RTLD_LOCAL); }
void* LoadedLibrary::symbol(char const* name) const { return handle ? dlsym(handle, name) : nullptr; }
#endif

}  // namespace fusekit::jit
