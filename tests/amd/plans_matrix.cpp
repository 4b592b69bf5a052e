// SPDX-License-Identifier: MIT
#include "plans.hpp"

// A kind of matrix units has several targets, whose code differs in instructions and registers: every target compiles
// tiles, loaders and instructions of each element type that has instructions of its own, and each plan is compiled for
// one target of each kind, with AMD_EVERY_PLAN for all. Targets: MFMA gfx908, gfx90a, gfx942; WMMA gfx1100, gfx1201.
// Plans with totals, a prologue or a transposed convolution are compiled for MFMA alone. gfx1030, which has dot
// instructions for int8 and half, compiles one plan of each. gfx908 multiplies half in plans_forms.cpp's BatchedGemm.
// Without AMD_EVERY_PLAN a kind of matrix units compiles all tiles of a type for one target: int8 gfx942 and gfx1201,
// half gfx90a, in two plans, and gfx1100, bfloat16 gfx908. Elsewhere a plan has one tile: the one with most registers.
#if defined(AMD_EVERY_PLAN) || defined(__gfx90a__) || defined(__gfx1030__) || defined(__gfx1201__)
#define AMD_INT8
#endif
#if defined(AMD_EVERY_PLAN) || defined(__gfx90a__)
#define AMD_TOTALS
#endif
#if defined(AMD_EVERY_PLAN) || defined(__gfx90a__) || defined(__gfx1030__) || defined(__gfx1100__)
#define AMD_WINDOWS
#endif
// Only gfx908 multiplies two bfloat16 per instruction, the other MFMA targets four, as of half.
#if defined(AMD_EVERY_PLAN) || defined(__gfx908__) || defined(__gfx1201__)
#define AMD_BFLOAT16
#endif
#if defined(AMD_EVERY_PLAN) || defined(__gfx1100__)
#define AMD_GRADIENTS
#endif
#if defined(AMD_EVERY_PLAN) || defined(__gfx942__)
#define AMD_BATCHED
#endif
#if defined(AMD_EVERY_PLAN) || defined(__gfx942__)
#define AMD_PROLOGUES
#endif
#if defined(AMD_EVERY_PLAN) || defined(__gfx942__)
#define AMD_TRANSPOSED
#endif

using namespace amd;

#if !defined(AMD_EVERY_PLAN) && (defined(__gfx90a__) || defined(__gfx1030__))
template struct amd::KernelsWith<Small, fk::int8, Plan<C, B, Q, R, A<fk::ClippedRelu>>>;
#elif defined(AMD_INT8)
template struct amd::Kernels<fk::int8, Plan<C, B, Q, R, A<fk::ClippedRelu>>>;
#endif
#ifdef __gfx90a__
template struct amd::KernelsWith<Small, fk::half, Plan<C3, B, A<fk::Relu>>>;
#elif defined(AMD_WINDOWS)
template struct amd::Kernels<fk::half, Plan<C3, B, A<fk::Relu>>>;
#endif
// Epilogues of bfloat16 compute in float, like those of half.
#ifdef __gfx1201__
template struct amd::KernelsWith<Small, fk::bfloat16, Plan<C, B, N, R, A<fk::HardSigmoid>>>;
#elif defined(AMD_BFLOAT16)
template struct amd::Kernels<fk::bfloat16, Plan<C, B, N, R, A<fk::HardSigmoid>>>;
#endif

#ifdef AMD_BATCHED
template struct amd::Kernels<fk::int8, Plan<BG, B, A<fk::Relu>, Q>>;
#endif
#ifdef AMD_GRADIENTS
template struct amd::Kernels<fk::half, Plan<W3>>;
#endif
#ifdef AMD_EVERY_PLAN
template struct amd::Kernels<fk::half, Plan<C, B, N, R, A<fk::Logistic>>, Plan<C1, B, A<fk::HardSwish>>>;
#endif
#ifdef AMD_PROLOGUES
template struct amd::KernelsWith<Large, fk::half, Plan<N, A<fk::Relu>, C3, B, A<fk::Relu>>>;
#endif
#ifdef AMD_TOTALS
template struct amd::KernelsWith<Large, fk::half, Plan<C, B, R, Statistics, A<fk::Relu>>>;
template struct amd::Kernels<fk::half, Plan<W3Stride2>>;
#endif
#ifdef __gfx90a__
template struct amd::KernelsWith<fk::hip::Direct<256>, fk::half, Plan<C, B, R, Statistics, A<fk::Relu>>>;
#endif
#ifdef AMD_TRANSPOSED
template struct amd::KernelsWith<Small, fk::half, Plan<X3, fk::ActivationSlope<fk::Relu>>>;
#endif
#if defined(AMD_EVERY_PLAN) || defined(__gfx942__) || defined(__gfx1201__)
template struct amd::Kernels<fk::bfloat16, Plan<W3>>;
#endif

// MFMA targets multiply floats on matrix units: plans_forms.cpp has a convolution for gfx908, which represents gfx90a.
// gfx1100 represents targets without such instructions.
#if defined(__gfx1100__) || (defined(AMD_EVERY_PLAN) && !defined(__gfx1030__) && !defined(__gfx1201__))
template struct amd::Kernels<float, Plan<C1, B, R, A<fk::HardSwish>>>;
template struct amd::KernelsWith<Small, float, Plan<N, A<fk::Relu>, C3, B, A<fk::Relu>>>;
#endif
#if (defined(AMD_GRADIENTS) || defined(__gfx908__)) && !defined(__gfx1030__) && !defined(__gfx1201__)
template struct amd::Kernels<float, Plan<W3, S, R>>;
#endif
#ifdef __gfx942__
template struct amd::KernelsWith<Small, float,
                                 Plan<fk::Conv<fk::filter(3, 3).pad(1), fk::Products<fk::tf32>>, B, A<fk::Relu>>>;
#endif
