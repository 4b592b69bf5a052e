// SPDX-License-Identifier: MIT
#include "support/memory.hpp"

namespace test {

template class Memory<1>;
template class Memory<2>;
template class Memory<3>;
template class Memory<4>;
template class Memory<5>;

}  // namespace test
