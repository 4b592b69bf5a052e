// SPDX-License-Identifier: MIT
//
// torch.ops.fusekit: converts PyTorch's tensors to the calls of plans.hpp. PyTorch allocates outputs and workspace;
// runs are enqueued on PyTorch's current stream of x's GPU.
#include <ATen/ATen.h>
#include <ATen/ExpandUtils.h>
#include <torch/library.h>
#include <torch/version.h>
#ifdef FUSEKIT_TORCH_CUDA
#include <c10/cuda/CUDAGuard.h>
#include <c10/cuda/CUDAStream.h>
#endif

#include <cmath>
#include <limits>
#include <string>
#include <tuple>
#include <vector>

#include "plans.hpp"

namespace fusekit_torch {

namespace {

using at::Tensor;
#if TORCH_VERSION_MAJOR > 2 || (TORCH_VERSION_MAJOR == 2 && TORCH_VERSION_MINOR >= 4)
template <class T>
using Optional = std::optional<T>;
#else
template <class T>
using Optional = c10::optional<T>;
#endif
using Number = Optional<double>;

/// Layout of a tensor. PyTorch gives a mode of one element any stride: it is replaced by that of a dense tensor, whose
/// alignment every plan accepts.
template <int Rank>
fk::Layout<Rank> layout_of(Tensor const& tensor) {
    fk::Layout<Rank> layout{};
    for (int mode = 0; mode < Rank; ++mode) {
        layout.shape[mode] = tensor.size(mode);
        layout.stride[mode] = tensor.stride(mode);
    }
    if constexpr (Rank == 4) {
        bool const channels_last = layout.shape[1] > 1 && layout.stride[1] == 1;
        std::int64_t step = 1;
        fk::Index<4> const order = channels_last ? fk::Index<4>{{1, 3, 2, 0}} : fk::Index<4>{{3, 2, 1, 0}};
        for (std::int64_t const at : order.values) {
            int const mode = static_cast<int>(at);
            if (layout.shape[mode] == 1) layout.stride[mode] = step;
            step = layout.stride[mode] * layout.shape[mode];
        }
    }
    return layout;
}

void require(bool holds, char const* argument, std::string const& expected, std::string const& given) {
    TORCH_CHECK(holds, "fusekit: ", argument, ": expected ", expected, ", got ", given);
}
std::string shape_of(Tensor const& tensor) {
    std::string text;
    for (std::int64_t const extent : tensor.sizes()) text += (text.empty() ? "" : " x ") + std::to_string(extent);
    return text.empty() ? "a scalar" : text;
}

template <int Rank>
void require_like(Tensor const& tensor, Tensor const& x, char const* argument) {
    require(tensor.dim() == Rank, argument, std::to_string(Rank) + " modes", shape_of(tensor));
    require(tensor.device() == x.device(), argument, "a tensor on " + x.device().str() + ", as x",
            tensor.device().str());
}

/// Read-only view of a tensor; `argument` is its name in a refusal.
template <int Rank>
fk::AnyView<Rank> view_of(Tensor const& tensor, Tensor const& x, char const* argument) {
    require_like<Rank>(tensor, x, argument);
    auto const as = [&]<class T>(T const* data) {
        return fk::AnyView<Rank>(fk::TensorView<T const, Rank>(data, layout_of<Rank>(tensor)));
    };
    void const* const data = tensor.data_ptr();
    switch (tensor.scalar_type()) {
        case at::kFloat: return as(static_cast<float const*>(data));
        case at::kHalf: return as(static_cast<fk::half const*>(data));
        case at::kBFloat16: return as(static_cast<fk::bfloat16 const*>(data));
        default: break;
    }
    require(false, argument, "elements of float, half or bfloat16", at::toString(tensor.scalar_type()));
    return as(static_cast<float const*>(data));
}
Floats floats_of(Tensor const& tensor, Tensor const& x, char const* argument) {
    require_like<1>(tensor, x, argument);
    require(tensor.scalar_type() == at::kFloat, argument, "elements of float", at::toString(tensor.scalar_type()));
    return {static_cast<float*>(tensor.data_ptr()), tensor.size(0), tensor.stride(0)};
}
Floats channels_of(Tensor const& tensor, Tensor const& x, char const* argument) {
    auto const floats = floats_of(tensor, x, argument);
    require(floats.count == x.size(1), argument, std::to_string(x.size(1)) + " (C)", std::to_string(floats.count));
    return floats;
}
Output output_of(Tensor const& tensor) { return {tensor.data_ptr(), layout_of<4>(tensor)}; }

/// New tensor of x's type, in x's memory order (channels first or last). The meta kernel has the same rule.
Tensor new_like(Tensor const& x, at::IntArrayRef shape) {
    bool const channels_last = x.size(1) > 1 && x.stride(1) == 1;
    return at::empty(shape, x.options().memory_format(channels_last ? at::MemoryFormat::ChannelsLast
                                                                    : at::MemoryFormat::Contiguous));
}
/// `tensor` with new_like's strides: gradients require x, dy and dx in one layout.
Tensor dense_like(Tensor const& tensor, Tensor const& x) {
    bool const channels_last = x.size(1) > 1 && x.stride(1) == 1;
    return tensor.contiguous(channels_last ? at::MemoryFormat::ChannelsLast : at::MemoryFormat::Contiguous);
}

/// `tensor` expanded to `shape`, with strides of 0, by PyTorch's rules for broadcasting; unchanged if it does not
/// broadcast: the plan refuses it.
Tensor expanded(Tensor const& tensor, at::IntArrayRef shape) {
    return at::is_expandable_to(tensor.sizes(), shape) ? tensor.expand(shape) : tensor;
}

/// Terms that are added to a convolution: a value per channel, and an optional tensor of y's shape.
struct Addends {
    Tensor bias;
    Optional<Tensor> residual;
    char const* argument = "residual";  ///< name of `residual` in a refusal
};

/// A bias of one mode has a value per channel. A bias of more modes that varies over pixels or images is added as a
/// residual; if there is a residual too, the two are added first, in float.
Addends addends_of(Tensor const& bias, Optional<Tensor> const& residual, at::IntArrayRef y) {
    Optional<Tensor> const z = residual ? Optional<Tensor>(expanded(*residual, y)) : residual;
    if (bias.dim() == 1) return {expanded(bias, {y[1]}), z};
    require(bias.dim() <= 4 && at::is_expandable_to(bias.sizes(), y), "bias",
            std::to_string(y[1]) + " (K), or a shape that broadcasts to y", shape_of(bias));
    auto const extent = [&](int mode) { return mode < 4 - bias.dim() ? 1 : bias.size(mode - 4 + bias.dim()); };
    if (extent(0) == 1 && extent(2) == 1 && extent(3) == 1) return {bias.reshape({-1}).expand({y[1]}), z};
    Tensor const none = at::zeros({1}, bias.options().dtype(at::kFloat)).expand({y[1]});
    if (!z) return {none, expanded(bias, y), "bias"};
    return {none, expanded(at::add(bias.to(at::kFloat), z->to(at::kFloat)), y)};
}

/// True for calls with an empty output, because x has no images or, for pointwise calls, no elements: nothing is
/// launched. Their other arguments have been checked.
bool is_empty(ConvCall const& call) { return call.y.layout.shape[0] == 0; }
bool is_empty(NormCall const& call) { return call.y.layout.size() == 0; }
bool is_empty(NormGradientCall const& call) { return call.dx.layout.size() == 0; }
bool is_empty(ActivationGradientCall const& call) { return call.dx.layout.size() == 0; }
bool is_empty(StatisticsCall const& call) { return call.x.layout.size() == 0; }
bool is_empty(MergeCall const& call) { return call.channels == 0; }
bool is_empty(NormSumsCall const& call) { return call.dy.layout.size() == 0; }
bool is_empty(SynchronizedGradientCall const& call) { return call.dx.layout.size() == 0; }
bool is_empty(PoolCall const& call) { return call.y.layout.shape[0] == 0; }

AnyMode::Args activation_of(std::string const& name, Number const& alpha, Number const& beta, Number const& gamma) {
    std::string known;
    for (NamedKind const& each : named_kinds) {
        known += (known.empty() ? "" : ", ") + std::string(each.name);
        if (name != each.name) continue;
        AnyMode::Args args{each.kind};
        int const count = AnyMode::visit(args, [&]<class Mode>(Mode, auto const&) {
            constexpr typename Mode::Args usual{};
            if constexpr (requires { usual.alpha; }) args.alpha = usual.alpha;
            if constexpr (requires { usual.beta; }) args.beta = usual.beta;
            if constexpr (requires { usual.gamma; }) args.gamma = usual.gamma;
            return AnyMode::arguments_of<Mode>;
        });
        auto const set = [&](float& argument, Number const& given, int index, char const* of) {
            if (!given) return;
            require(index < count, of, "nothing, as " + name + " has no " + of, std::to_string(*given));
            argument = static_cast<float>(*given);
        };
        set(args.alpha, alpha, 0, "alpha"), set(args.beta, beta, 1, "beta"), set(args.gamma, gamma, 2, "gamma");
        return args;
    }
    require(false, "activation", "one of " + known, name);
    return {};
}

/// Runs make_call() on x's device. Converts a refusal of the library to PyTorch's error, with its message.
template <class MakeCall>
void run(Tensor const& x, MakeCall const& make_call) {
    try {
        auto const call = make_call();
        auto const run_as = [&]<fk::Element T>(T) {
            if (is_empty(call)) return;
            if (!x.is_cuda()) return run_on_host<T>(call);
#ifdef FUSEKIT_TORCH_CUDA
            std::vector<Tensor> lent;  // PyTorch reuses it on this stream alone, in stream order
            LaunchTarget const target{
                x.get_device(), c10::cuda::getCurrentCUDAStream(x.get_device()).stream(), [&](std::size_t bytes) {
                    lent.push_back(at::zeros({static_cast<std::int64_t>(bytes)}, x.options().dtype(at::kByte)));
                    return lent.back().data_ptr();
                }};
            run_on_gpu<T>(call, target);
#endif
        };
        switch (x.scalar_type()) {
            case at::kFloat: return run_as(float{});
            case at::kHalf: return run_as(fk::half{});
            case at::kBFloat16: return run_as(fk::bfloat16{});
            default: require(false, "x", "elements of float, half or bfloat16", at::toString(x.scalar_type()));
        }
    } catch (fk::Error const& error) {
        TORCH_CHECK(false, "fusekit: ", error.what());
    }
}

/// Makes x's GPU the current one, if it has one.
struct Guard {
#ifdef FUSEKIT_TORCH_CUDA
    c10::cuda::OptionalCUDAGuard guard;
    explicit Guard(Tensor const& x) {
        if (x.is_cuda()) guard.set_device(x.device());
    }
#else
    explicit Guard(Tensor const&) {}
#endif
};

void require_images(Tensor const& x) { require(x.dim() == 4, "x", "4 modes, N x C x H x W", shape_of(x)); }

/// Checks a convolution's shapes for an empty batch, for which no plan runs.
void require_shapes(Tensor const& x, Tensor const& weight, std::int64_t groups, Tensor const& y) {
    require(groups >= 1 && x.size(1) % groups == 0 && weight.size(0) % groups == 0, "groups",
            "groups that divide C and K", std::to_string(groups));
    require(weight.size(1) == x.size(1) / groups, "weight",
            std::to_string(x.size(1) / groups) + " (C/groups) in mode 1", shape_of(weight));
    require(y.size(2) >= 1 && y.size(3) >= 1, "x", "an output of at least 1 x 1", shape_of(y));
    require(weight.scalar_type() == x.scalar_type(), "weight", "elements of x's type",
            at::toString(weight.scalar_type()));
}

Tensor conv_bias_act(Tensor const& x, Tensor const& weight, Tensor const& bias, Optional<Tensor> const& residual,
                     at::IntArrayRef stride, at::IntArrayRef padding, at::IntArrayRef dilation, std::int64_t groups,
                     std::string const& activation, Number alpha, Number beta, Number gamma) {
    Guard const guard(x);
    require_images(x);
    require(weight.dim() == 4, "weight", "4 modes, K x C/groups x R x S", shape_of(weight));
    for (std::int64_t const step : stride) require(step >= 1, "stride", "1 or more", std::to_string(step));
    auto const args = activation_of(activation, alpha, beta, gamma);
    Tensor y;
    Addends addends;
    Optional<fk::AnyView<4>> z;
    run(x, [&] {
        auto const filter = fk::filter(weight.size(2), weight.size(3))
                                .stride(stride[0], stride[1])
                                .pad(padding[0], padding[1])
                                .dilation(dilation[0], dilation[1])
                                .groups(groups);
        auto const extent = [&](int mode) { return std::max<std::int64_t>(filter.output(mode, x.size(2 + mode)), 0); };
        y = new_like(x, {x.size(0), weight.size(0), extent(0), extent(1)});
        if (x.size(0) == 0) require_shapes(x, weight, groups, y);
        addends = addends_of(bias, residual, y.sizes());
        if (addends.residual) z = view_of<4>(*addends.residual, x, addends.argument);
        if (x.size(0) == 0)
            require(addends.bias.numel() == y.size(1), "bias", std::to_string(y.size(1)) + " (K)", shape_of(bias));
        return ConvCall{view_of<4>(x, x, "x"),
                        view_of<4>(weight, x, "weight"),
                        view_of<1>(addends.bias, x, "bias"),
                        z ? &*z : nullptr,
                        filter,
                        args,
                        output_of(y)};
    });
    return y;
}

/// Batch norm with given statistics. Gradients read no y.
NormCall norm_call(Tensor const& x, Tensor const& scale, Tensor const& shift, Tensor const& mean,
                   Tensor const& variance, double epsilon, AnyMode::Args const& activation, Output const& y = {}) {
    return {view_of<4>(x, x, "x"),
            channels_of(scale, x, "scale"),
            channels_of(shift, x, "shift"),
            channels_of(mean, x, "mean"),
            channels_of(variance, x, "variance"),
            {},
            {},
            {},
            {},
            static_cast<float>(epsilon),
            activation,
            y};
}

Tensor batch_norm_act(Tensor const& x, Tensor const& scale, Tensor const& shift, Tensor const& mean,
                      Tensor const& variance, double epsilon, std::string const& activation, Number alpha, Number beta,
                      Number gamma) {
    Guard const guard(x);
    require_images(x);
    auto const args = activation_of(activation, alpha, beta, gamma);
    Tensor const y = new_like(x, x.sizes());
    run(x, [&] { return norm_call(x, scale, shift, mean, variance, epsilon, args, output_of(y)); });
    return y;
}

/// Returns y, and the batch's mean, inverse deviation and unbiased variance, which is NaN for channels with one value.
std::tuple<Tensor, Tensor, Tensor, Tensor> batch_norm_act_training(Tensor const& given, Tensor const& scale,
                                                                   Tensor const& shift, double epsilon,
                                                                   std::string const& activation, Number alpha,
                                                                   Number beta, Number gamma) {
    Guard const guard(given);
    require_images(given);
    auto const args = activation_of(activation, alpha, beta, gamma);
    Tensor const x = dense_like(given, given), y = new_like(x, x.sizes());
    auto const floats = x.options().dtype(at::kFloat).memory_format(at::MemoryFormat::Contiguous);
    Tensor const mean = at::empty({x.size(1)}, floats), inverse_deviation = at::empty_like(mean);
    require(x.numel() > 0, "x", "a value or more per channel, for the batch's statistics", shape_of(x));
    bool const single = x.numel() == x.size(1);
    Tensor const running = at::empty({2, x.size(1)}, floats), variance = running[0];
    if (single) variance.fill_(std::numeric_limits<double>::quiet_NaN());
    run(x, [&] {
        return NormCall{view_of<4>(x, x, "x"),
                        channels_of(scale, x, "scale"),
                        channels_of(shift, x, "shift"),
                        {},
                        {},
                        floats_of(mean, x, "saved_mean"),
                        floats_of(inverse_deviation, x, "saved_inverse_deviation"),
                        single ? Floats{} : floats_of(running[1], x, "running_mean"),
                        single ? Floats{} : floats_of(variance, x, "running_variance"),
                        static_cast<float>(epsilon),
                        args,
                        output_of(y)};
    });
    return {y, mean, inverse_deviation, variance};
}

/// `spread` is the variance or, in training, the inverse deviation.
std::tuple<Tensor, Tensor, Tensor> batch_norm_act_backward(Tensor const& given_dy, Tensor const& given_x,
                                                           Tensor const& scale, Tensor const& shift, Tensor const& mean,
                                                           Tensor const& spread, bool training, double epsilon,
                                                           std::string const& activation, Number alpha, Number beta,
                                                           Number gamma) {
    Guard const guard(given_x);
    require_images(given_x);
    auto const args = activation_of(activation, alpha, beta, gamma);
    require(is_clamp(args.kind), "activation", "passthru, relu, clipped_relu or clamp", activation);
    require(given_dy.scalar_type() == given_x.scalar_type(), "dy", "elements of x's type",
            at::toString(given_dy.scalar_type()));
    Tensor const x = dense_like(given_x, given_x), dy = dense_like(given_dy, x), dx = new_like(x, x.sizes());
    Tensor const dscale = at::empty_like(mean), dshift = at::empty_like(mean);
    if (x.numel() == 0) dscale.zero_(), dshift.zero_();  // sums over no values
    run(x, [&] {
        Floats const first = floats_of(mean, x, "mean"), second = floats_of(spread, x, "spread"), none;
        return NormGradientCall{
            {view_of<4>(x, x, "x"), floats_of(scale, x, "scale"), floats_of(shift, x, "shift"), training ? none : first,
             training ? none : second, training ? first : none, training ? second : none, none, none,
             static_cast<float>(epsilon), args, output_of(dx)},
            view_of<4>(dy, x, "dy"),
            floats_of(dscale, x, "dscale"),
            floats_of(dshift, x, "dshift"),
            output_of(dx)};
    });
    return {dx, dscale, dshift};
}

Tensor activation_backward(Tensor const& given_dy, Tensor const& given_x, std::string const& activation, Number alpha,
                           Number beta, Number gamma) {
    Guard const guard(given_x);
    require_images(given_x);
    auto const args = activation_of(activation, alpha, beta, gamma);
    require(given_dy.scalar_type() == given_x.scalar_type(), "dy", "elements of x's type",
            at::toString(given_dy.scalar_type()));
    Tensor const x = dense_like(given_x, given_x), dy = dense_like(given_dy, x), dx = new_like(x, x.sizes());
    run(x, [&] { return ActivationGradientCall{view_of<4>(x, x, "x"), view_of<4>(dy, x, "dy"), args, output_of(dx)}; });
    return dx;
}

/// 2 C + 1 floats: means and variances of x's channels, 0 for no images, and the number of values per channel.
Tensor channel_statistics(Tensor const& given) {
    Guard const guard(given);
    require_images(given);
    Tensor const x = dense_like(given, given);
    std::int64_t const channels = x.size(1), values = x.size(0) * x.size(2) * x.size(3);
    Tensor const row =
        at::zeros({2 * channels + 1}, x.options().dtype(at::kFloat).memory_format(at::MemoryFormat::Contiguous));
    row[2 * channels].fill_(static_cast<double>(values));
    run(x, [&] {
        return StatisticsCall{view_of<4>(x, x, "x"), channels_of(row.slice(0, 0, channels), x, "mean"),
                              channels_of(row.slice(0, channels, 2 * channels), x, "variance")};
    });
    return row;
}

/// Merges rows of channel_statistics. Returns mean, variance, the number of values per channel of all rows, and the
/// running statistics moved to mean and unbiased variance, unchanged if there are fewer than 2 values.
std::tuple<Tensor, Tensor, Tensor, Tensor, Tensor> merge_statistics(Tensor const& gathered, Tensor const& running_mean,
                                                                    Tensor const& running_variance, double momentum) {
    Guard const guard(gathered);
    Tensor const rows = gathered.contiguous();
    require(rows.dim() == 2 && rows.size(1) % 2 == 1, "gathered", "rows of 2 C + 1 floats", shape_of(rows));
    require(rows.scalar_type() == at::kFloat, "gathered", "elements of float", at::toString(rows.scalar_type()));
    std::int64_t const channels = rows.size(1) / 2;
    Tensor const mean = at::empty({channels}, rows.options()), variance = at::empty_like(mean),
                 count = at::empty({1}, rows.options()), moved_mean = running_mean.clone(),
                 moved_variance = running_variance.clone();
    auto const channels_named = [&](Tensor const& tensor, char const* argument) {
        auto const floats = floats_of(tensor, rows, argument);
        require(floats.count == channels, argument, std::to_string(channels) + " (C)", std::to_string(floats.count));
        return floats;
    };
    run(rows, [&] {
        return MergeCall{static_cast<float const*>(rows.data_ptr()),
                         rows.size(0),
                         channels,
                         floats_of(mean, rows, "mean"),
                         floats_of(variance, rows, "variance"),
                         floats_of(count, rows, "count"),
                         channels_named(moved_mean, "running_mean"),
                         channels_named(moved_variance, "running_variance"),
                         static_cast<float>(momentum)};
    });
    return {mean, variance, count, moved_mean, moved_variance};
}

AnyMode::Args clamp_of(std::string const& activation, Number const& alpha, Number const& beta, Number const& gamma) {
    auto const args = activation_of(activation, alpha, beta, gamma);
    require(is_clamp(args.kind), "activation", "passthru, relu, clipped_relu or clamp", activation);
    return args;
}

/// 2 x C floats: the sums over x of batch_norm_act's gradients of scale and shift.
Tensor batch_norm_act_sums(Tensor const& given_dy, Tensor const& given_x, Tensor const& scale, Tensor const& shift,
                           Tensor const& mean, Tensor const& variance, double epsilon, std::string const& activation,
                           Number alpha, Number beta, Number gamma) {
    Guard const guard(given_x);
    require_images(given_x);
    auto const args = clamp_of(activation, alpha, beta, gamma);
    require(given_dy.scalar_type() == given_x.scalar_type(), "dy", "elements of x's type",
            at::toString(given_dy.scalar_type()));
    Tensor const x = dense_like(given_x, given_x), dy = dense_like(given_dy, x);
    Tensor const sums = at::zeros({2, x.size(1)}, mean.options());
    run(x, [&] {
        return NormSumsCall{norm_call(x, scale, shift, mean, variance, epsilon, args), view_of<4>(dy, x, "dy"),
                            channels_of(sums[0], x, "scale"), channels_of(sums[1], x, "shift")};
    });
    return sums;
}

/// dx of batch_norm_act whose mean and variance are those of a batch that contains x. `sums`: batch_norm_act_sums
/// of all parts added up.
Tensor batch_norm_act_synchronized_backward(Tensor const& given_dy, Tensor const& given_x, Tensor const& scale,
                                            Tensor const& shift, Tensor const& mean, Tensor const& variance,
                                            Tensor const& sums, Tensor const& count, double epsilon,
                                            std::string const& activation, Number alpha, Number beta, Number gamma) {
    Guard const guard(given_x);
    require_images(given_x);
    auto const args = clamp_of(activation, alpha, beta, gamma);
    require(given_dy.scalar_type() == given_x.scalar_type(), "dy", "elements of x's type",
            at::toString(given_dy.scalar_type()));
    require(sums.dim() == 2 && sums.size(0) == 2, "sums", "2 x C floats", shape_of(sums));
    Tensor const x = dense_like(given_x, given_x), dy = dense_like(given_dy, x), dx = new_like(x, x.sizes());
    run(x, [&] {
        return SynchronizedGradientCall{norm_call(x, scale, shift, mean, variance, epsilon, args),
                                        view_of<4>(dy, x, "dy"),
                                        channels_of(sums[0], x, "sums"),
                                        channels_of(sums[1], x, "sums"),
                                        floats_of(count, x, "count"),
                                        output_of(dx)};
    });
    return dx;
}

Tensor max_pool_3x3(Tensor const& x) {
    Guard const guard(x);
    require_images(x);
    Tensor const y = new_like(x, {x.size(0), x.size(1), (x.size(2) + 1) / 2, (x.size(3) + 1) / 2});
    run(x, [&] { return PoolCall{view_of<4>(x, x, "x"), PoolKind::max_3x3, output_of(y)}; });
    return y;
}
Tensor global_average(Tensor const& x) {
    Guard const guard(x);
    require_images(x);
    Tensor const y = new_like(x, {x.size(0), x.size(1), 1, 1});
    run(x, [&] { return PoolCall{view_of<4>(x, x, "x"), PoolKind::global_average, output_of(y)}; });
    return y;
}

void implement(torch::Library& m) {
    m.impl("conv_bias_act", conv_bias_act);
    m.impl("batch_norm_act", batch_norm_act);
    m.impl("batch_norm_act_training", batch_norm_act_training);
    m.impl("batch_norm_act_backward", batch_norm_act_backward);
    m.impl("channel_statistics", channel_statistics);
    m.impl("merge_statistics", merge_statistics);
    m.impl("batch_norm_act_sums", batch_norm_act_sums);
    m.impl("batch_norm_act_synchronized_backward", batch_norm_act_synchronized_backward);
    m.impl("activation_backward", activation_backward);
    m.impl("max_pool_3x3", max_pool_3x3);
    m.impl("global_average", global_average);
}

}  // namespace

}  // namespace fusekit_torch

TORCH_LIBRARY(fusekit, m) {
    m.def(
        "conv_bias_act(Tensor x, Tensor weight, Tensor bias, Tensor? residual=None, int[2] stride=1, int[2] padding=0, "
        "int[2] dilation=1, int groups=1, str activation='relu', float? alpha=None, float? beta=None, "
        "float? gamma=None) -> Tensor");
    m.def(
        "batch_norm_act(Tensor x, Tensor scale, Tensor shift, Tensor mean, Tensor variance, float epsilon=1e-05, "
        "str activation='relu', float? alpha=None, float? beta=None, float? gamma=None) -> Tensor");
    m.def(
        "batch_norm_act_training(Tensor x, Tensor scale, Tensor shift, float epsilon=1e-05, str activation='relu', "
        "float? alpha=None, float? beta=None, float? gamma=None) -> (Tensor y, Tensor mean, Tensor inverse_deviation, "
        "Tensor variance)");
    m.def(
        "batch_norm_act_backward(Tensor dy, Tensor x, Tensor scale, Tensor shift, Tensor mean, Tensor spread, "
        "bool training, float epsilon, str activation, float? alpha=None, float? beta=None, float? gamma=None) -> "
        "(Tensor dx, Tensor dscale, Tensor dshift)");
    m.def("channel_statistics(Tensor x) -> Tensor");
    m.def(
        "merge_statistics(Tensor gathered, Tensor running_mean, Tensor running_variance, float momentum) -> "
        "(Tensor mean, Tensor variance, Tensor count, Tensor running_mean, Tensor running_variance)");
    m.def(
        "batch_norm_act_sums(Tensor dy, Tensor x, Tensor scale, Tensor shift, Tensor mean, Tensor variance, "
        "float epsilon, str activation, float? alpha=None, float? beta=None, float? gamma=None) -> Tensor");
    m.def(
        "batch_norm_act_synchronized_backward(Tensor dy, Tensor x, Tensor scale, Tensor shift, Tensor mean, "
        "Tensor variance, Tensor sums, Tensor count, float epsilon, str activation, float? alpha=None, "
        "float? beta=None, float? gamma=None) -> Tensor");
    m.def(
        "activation_backward(Tensor dy, Tensor x, str activation, float? alpha=None, float? beta=None, "
        "float? gamma=None) -> Tensor");
    m.def("max_pool_3x3(Tensor x) -> Tensor");
    m.def("global_average(Tensor x) -> Tensor");
}

TORCH_LIBRARY_IMPL(fusekit, CPU, m) { fusekit_torch::implement(m); }
#ifdef FUSEKIT_TORCH_CUDA
TORCH_LIBRARY_IMPL(fusekit, CUDA, m) { fusekit_torch::implement(m); }
#endif
