// SPDX-License-Identifier: MIT
#include "plans.hpp"

using namespace amd;

// gfx1201 multiplies OCP's 8-bit floats on matrix units, gfx942 those of AMD. Every target converts the others.
#if defined(AMD_EVERY_PLAN) || defined(__gfx1201__)
template struct amd::KernelsWith<Small, fk::e4m3, Plan<C, B, fk::Amax, S>>;
template struct amd::KernelsWith<Small, fk::e4m3_fnuz, Plan<G, B, S>>;
#endif
#if defined(AMD_EVERY_PLAN) || defined(__gfx942__)
template struct amd::KernelsWith<Small, fk::e4m3_fnuz, Plan<C, B, fk::Amax, S>>;
template struct amd::KernelsWith<Large, fk::e4m3, Plan<G, B, S>>;
#endif
#ifdef __gfx942__
template struct amd::KernelsWith<fk::hip::Gemv<2>, fk::e4m3_fnuz, Plan<C, B, fk::Amax, S>>;
#endif
