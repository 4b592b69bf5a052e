// SPDX-License-Identifier: MIT
//
// Conv, batch norm and ReLU in training behind a C interface, for block.py: takes pointers to GPU memory and a stream
// that the caller owns. Two kernels forward, three backward.
#include <fusekit/hip.hpp>

#include <cstdint>

#include "support/c_calls.hpp"

namespace fk = fusekit;
using bench::succeeds;

/// Part of the interface, so not in an unnamed namespace: block.py declares the same struct. Tensors are half,
/// channels-last; the filter is size x size, stride 1, with same padding.
struct BlockProblem {
    std::int64_t n, c, h, w, k;
    int size, device;
    void* stream;
    void const* weights;
    float const *scale, *shift;
    float epsilon;
    float *saved_mean, *saved_inverse_deviation, *running_mean, *running_variance, *scale_gradient, *shift_gradient;
};

/// Inputs and outputs of a run: z is the Conv's y.
struct BlockTensors {
    void const* x;
    void *z, *y;
    void const* dy;
    void *dz, *dx, *dweights;
};

namespace {

struct AnyBlock {
    virtual ~AnyBlock() = default;
    virtual void forward(BlockTensors const& of) = 0;
    virtual void backward(BlockTensors const& of) = 0;
};

template <int Size>
class Block final : public AnyBlock {
    static constexpr auto filter = fk::filter(Size, Size).pad(Size / 2);
    using Norm = fk::BatchNormTraining<fk::Spatial>;
    using Convolution = fk::Plan<fk::Conv<filter>, fk::ChannelStatistics>;
    using Application = fk::Plan<fk::BatchNormInference<fk::Spatial>, fk::Activation<fk::Relu>>;
    using Normalization = fk::Plan<Norm, fk::Activation<fk::Relu>>;
    using ByInput = fk::Plan<fk::TransposedConv<filter>>;
    using ByWeights = fk::Plan<fk::ConvWeightGradient<filter>>;

public:
    explicit Block(BlockProblem const& p)
        : device(p.device, static_cast<decltype(device.stream())>(p.stream)),
          of_x(fk::nhwc(p.n, p.h, p.w, p.c)),
          of_y(fk::nhwc(p.n, p.h, p.w, p.k)),
          of_weights(fk::krsc(p.k, Size, Size, p.c)),
          weights(input(p.weights, of_weights)),
          variance(device, fk::channels(p.k)),
          scratch(device, fk::channels(fk::ChannelStatistics::scratch(of_y.shape))),
          statistics{.mean = channels(p.saved_mean),
                     .variance = variance,
                     .scratch = scratch,
                     .saved_inverse_deviation = channels(p.saved_inverse_deviation),
                     .running_mean = channels(p.running_mean),
                     .running_variance = channels(p.running_variance),
                     .epsilon = p.epsilon},
          application(Application::bind({.mean = channels(p.saved_mean),
                                         .variance = variance,
                                         .scale = {p.scale, fk::channels(p.k)},
                                         .shift = {p.shift, fk::channels(p.k)},
                                         .epsilon = p.epsilon},
                                        {})),
          normalization(Normalization::bind({.scale = {p.scale, fk::channels(p.k)},
                                             .shift = {p.shift, fk::channels(p.k)},
                                             .saved_mean = channels(p.saved_mean),
                                             .saved_inverse_deviation = channels(p.saved_inverse_deviation),
                                             .epsilon = p.epsilon},
                                            {})),
          gradients{channels(p.scale_gradient), channels(p.shift_gradient)} {}

    void forward(BlockTensors const& of) override {
        Convolution::bind({.weights = weights}, statistics)(device, input(of.x, of_x), output(of.z, of_y));
        application(device, input(of.z, of_y), output(of.y, of_y));
    }
    void backward(BlockTensors const& of) override {
        fk::Backward<Normalization>::bind(normalization, input(of.z, of_y), gradients, {})(device, input(of.dy, of_y),
                                                                                           output(of.dz, of_y));
        ByInput::bind({.weights = weights})(device, input(of.dz, of_y), output(of.dx, of_x));
        ByWeights::bind({.dy = input(of.dz, of_y)})(device, input(of.x, of_x), output(of.dweights, of_weights));
    }

private:
    fk::hip::Device device;
    fk::Layout<4> of_x, of_y, of_weights;
    fk::TensorView<fk::half const> weights;
    fk::Tensor<float, fk::hip::Device, 1> variance, scratch;
    fk::ChannelStatistics::Args statistics;
    fk::BoundPlan<Application> application;
    fk::BoundPlan<Normalization> normalization;  ///< argument of its Backward plan, which computes the gradients
    typename Norm::Gradients gradients;

    fk::TensorView<float, 1> channels(float* data) const { return {data, fk::channels(of_y.shape[1])}; }
    static fk::TensorView<fk::half const> input(void const* data, fk::Layout<4> const& layout) {
        return {static_cast<fk::half const*>(data), layout};
    }
    static fk::TensorView<fk::half> output(void* data, fk::Layout<4> const& layout) {
        return {static_cast<fk::half*>(data), layout};
    }
};

}  // namespace

extern "C" {

/// Message of the last call that failed.
char const* fusekit_message() { return bench::message.c_str(); }

/// Makes a block; null on error.
void* fusekit_block(BlockProblem const* of) {
    AnyBlock* block = nullptr;
    succeeds([&] { block = of->size == 1 ? static_cast<AnyBlock*>(new Block<1>(*of)) : new Block<3>(*of); });
    return block;
}

/// Enqueue kernels on the block's stream; 1 on success.
int fusekit_forward(void* block, BlockTensors const* of) {
    return succeeds([&] { static_cast<AnyBlock*>(block)->forward(*of); });
}
int fusekit_backward(void* block, BlockTensors const* of) {
    return succeeds([&] { static_cast<AnyBlock*>(block)->backward(*of); });
}

void fusekit_delete(void* block) { delete static_cast<AnyBlock*>(block); }
}
