// SPDX-License-Identifier: MIT
#include "loaded_library.hpp"

#include <dlfcn.h>

namespace fusekit::jit {

void* LoadedLibrary::open(char const* name) { return dlopen(name, RTLD_NOW | RTLD_LOCAL); }
void* LoadedLibrary::symbol(char const* name) const { return handle ? dlsym(handle, name) : nullptr; }

}  // namespace fusekit::jit
