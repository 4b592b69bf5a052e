// SPDX-License-Identifier: MIT
#include "plans.hpp"

// A kind of matrix units has several targets, whose code differs in instructions and registers: every target compiles
// tiles, loaders and instructions of each element type that has instructions of its own, and each plan is compiled for
// one target of each kind, with AMD_EVERY_PLAN for all. Targets: MFMA gfx908, gfx90a, gfx942; WMMA gfx1100, gfx1201.
// Plans with totals, a prologue or a transposed convolution are compiled for MFMA alone. gfx1030, which has dot
// instructions for int8 and half, compiles one plan of each. gfx908 multiplies half in plans_forms.cpp's BatchedGemm.
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

#ifdef AMD_INT8
template struct amd::Kernels<fk::int8, Plan<C, B, Q, R, A<fk::ClippedRelu>>>;
#endif
#ifdef AMD_WINDOWS
template struct amd::Kernels<fk::half, Plan<C3, B, A<fk::Relu>>>;
#endif
#ifdef AMD_BFLOAT16
// Epilogues of bfloat16 compute in float, like those of half.
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
template struct amd::Kernels<fk::half, Plan<N, A<fk::Relu>, C3, B, A<fk::Relu>>>;
#endif
#ifdef AMD_TOTALS
template struct amd::Kernels<fk::half, Plan<C, B, R, Statistics, A<fk::Relu>>, Plan<W3Stride2>>;
#endif
#ifdef AMD_TRANSPOSED
template struct amd::Kernels<fk::half, Plan<X3, fk::ActivationSlope<fk::Relu>>>;
#endif
#if defined(AMD_EVERY_PLAN) || defined(__gfx942__) || defined(__gfx1201__)
template struct amd::Kernels<fk::bfloat16, Plan<W3>>;
#endif

// MFMA targets multiply floats on matrix units: plans_forms.cpp has a convolution for gfx908, which represents gfx90a.
// gfx1100 represents targets without such instructions.
#if defined(__gfx1100__) || (defined(AMD_EVERY_PLAN) && !defined(__gfx1030__) && !defined(__gfx1201__))
template struct amd::Kernels<float, Plan<C1, B, R, A<fk::HardSwish>>, Plan<N, A<fk::Relu>, C3, B, A<fk::Relu>>>;
#endif
#if (defined(AMD_GRADIENTS) || defined(__gfx908__)) && !defined(__gfx1030__) && !defined(__gfx1201__)
template struct amd::Kernels<float, Plan<W3, S, R>>;
#endif
#ifdef __gfx942__
template struct amd::Kernels<float, Plan<fk::Conv<fk::filter(3, 3).pad(1), fk::Products<fk::tf32>>, B, A<fk::Relu>>>;
#endif
