// SPDX-License-Identifier: MIT
//
// Half convolutions as relocatable device code, one for each kind of wgmma mainloop: a call in a kernel would serialize
// its wgmma. Asserts that the library does not choose kernels that lack registers there.
#include <fusekit/hip.hpp>

#include <type_traits>

namespace fk = fusekit;

using Layer = fk::Plan<fk::Conv<fk::filter(3, 3).pad(1)>, fk::Bias, fk::Activation<fk::Relu>>;

template <class Schedule, class... All>
constexpr bool lists(fk::hip::List<All...>) {
    return (std::is_same_v<Schedule, All> || ...);
}
template <class T>
using Candidates = fk::hip::BulkCandidates<Layer, T, T>;
static_assert(!lists<fk::hip::Planes<240, 1>>(Candidates<fk::half>{}));
static_assert(!lists<fk::hip::GatheredPlanes<>>(Candidates<fk::half>{}));
static_assert(lists<fk::hip::Planes<240, 1>>(Candidates<float>{}));
using Weights = fk::hip::WeightTable<fk::hip::NvidiaTuning>;
static_assert(!lists<fk::hip::BulkWeights<192, 128, 64, 5>>(Weights{}));
static_assert(lists<fk::hip::BulkWeights<128, 128, 64, 6>>(Weights{}));

void run(fk::hip::Device& device, fk::TensorView<fk::half const, 4> x, fk::TensorView<fk::half const, 4> w,
         fk::TensorView<float const, 1> b, fk::TensorView<fk::half, 4> y) {
    using namespace fk::hip;
    auto const layer = Layer::bind({.weights = w}, {.bias = b}, {});
    auto const run_with = [&](auto with) { layer(with, x, y); };
    run_with(device.with<WithKernels<WarpSpecialized<192, 128, 4>, Kernels::general>>());
    run_with(device.with<WithKernels<WarpSpecialized<96, 128, 5, Roles::ping_pong>, Kernels::plain>>());
    run_with(device.with<Halo<>>());
    run_with(device.with<Planes<240, 1>>());
    run_with(device.with<MatrixGemm<128, 64, 2>>());
}
