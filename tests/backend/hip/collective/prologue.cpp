// SPDX-License-Identifier: MIT
#include "fusekit/backend/hip/collective/prologue.hpp"

#include "backend/hip/blocks.hpp"

using namespace test;

namespace {

using Norm = fk::BatchNormInference<fk::Spatial>;
using Prologue = fk::detail::Epilogue<Norm, fk::Activation<fk::Relu>>;
using State = Prologue::State<float>;
constexpr int size = 16, state_packet = 4;

/// Stores the states of all indices, reads them back in packets, and applies each to one element.
struct PutAndApply : BlockOf<64> {
    struct Params {
        Prologue::Args args;
        fk::half const* x;
        float* out;
    };
    struct Shared {
        fk::hip::PrologueStates<Prologue, size> states;
    };
    __device__ static void run(Params const& params, Shared& shared, unsigned thread, unsigned) {
        if (thread < size) shared.states.put(thread, Prologue::prepare(thread, params.args));
        __syncthreads();
        if (thread >= size / state_packet) return;
        unsigned const first = thread * state_packet;
        auto const states = shared.states.template state_packet<state_packet>(first);
        for (unsigned i = 0; i < state_packet; ++i)
            params.out[first + i] =
                fk::hip::before_conv<Prologue>(params.x[first + i], states[static_cast<int>(i)], params.args);
    }
};

/// Sets the bits of some elements, and reads all.
struct SetBits : BlockOf<64> {
    struct Params {
        unsigned* valid;
    };
    struct Shared {};
    __device__ static void run(Params const& params, Shared&, unsigned thread, unsigned) {
        fk::hip::ValidBits<true> bits;
        bits.set(0, 32, true);
        bits.clear();
        bits.set(0, 4, true);
        bits.set(4, 8, false);
        bits.set(12, 20, true);
        if (thread < 32) params.valid[thread] = bits.is_set(static_cast<int>(thread));
    }
};

}  // namespace

TEST_CASE("HIP: the prologue applies each channel's state to its GemmK indices and rounds to x's type") {
    fk::hip::Device device = gpu();
    std::vector<float> mean, scale, shift, expected;
    std::vector<fk::half> x;
    for (int k = 0; k < size; ++k) {
        x.push_back(fk::half(static_cast<float>(3 * k)));
        mean.push_back(static_cast<float>(k)), scale.push_back(static_cast<float>(101 * (k % 3)));
        shift.push_back(static_cast<float>(1 - k));
        float const y = static_cast<float>(2 * k * 101 * (k % 3) + 1 - k);
        expected.push_back(static_cast<float>(fk::half(y > 0 ? y : 0)));
    }
    Array<float> const means(device, mean), ones(device, size, 1), scales(device, scale), shifts(device, shift),
        out(device, size, -1);
    Array<fk::half> const inputs(device, x);
    auto const view = [](Array<float> const& of) {
        return fk::TensorView<float const, 1>(of.data(), fk::channels(size));
    };
    Prologue::Args const args{
        {{.mean = view(means), .variance = view(ones), .scale = view(scales), .shift = view(shifts), .epsilon = 0}},
        {{}}};
    run_blocks<PutAndApply>(device, {args, inputs.data(), out.data()});
    CHECK(out.values() == expected);
}

TEST_CASE("HIP: ValidBits masks a thread's padding elements") {
    fk::hip::Device device = gpu();
    Array<unsigned> const valid(device, 32, 7);
    run_blocks<SetBits>(device, {valid.data()});
    auto const bits = valid.values();
    for (unsigned i = 0; i < 32; ++i) CHECK(bits[i] == (i < 4 || i >= 12));
}
