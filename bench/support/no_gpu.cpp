// SPDX-License-Identifier: MIT
#include <stdexcept>

#include "support/backend.hpp"

namespace bench {

int gpu_count() { return 0; }
std::unique_ptr<Backend> hip_backend(int) { throw std::logic_error("this program was built without GPU support"); }

}  // namespace bench
