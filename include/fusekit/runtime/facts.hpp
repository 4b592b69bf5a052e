// SPDX-License-Identifier: MIT
#pragma once

#include "fusekit/ops/conv/transposed.hpp"
#include "fusekit/ops/conv/weight_gradient.hpp"
#include "fusekit/ops/resample.hpp"
#include "fusekit/ops/row_norm.hpp"
#include "fusekit/ops/softmax.hpp"
#include "fusekit/plan/name.hpp"
#include "fusekit/plan/ordering.hpp"
#include "fusekit/runtime/form.hpp"

/// Functions that return, for descriptors, the properties that the ordering rules test (plan/sequence.hpp), and names
/// for messages.
namespace fusekit::runtime::detail {

struct FormList {
    FormInfo const* const* at;
    int size;
};

/// Properties of the library's operator of the descriptor's kind, whether or not a set contains it; null for an
/// application's kind.
FUSEKIT_H constexpr OperatorFacts const* library_facts(Descriptor const& of) {
    bool const spatial = of.mode == static_cast<int>(NormMode::spatial);
    switch (of.kind) {
        case Kind::conv: return &facts_of<Conv<dynamic>>;
        case Kind::transposed_conv: return &facts_of<TransposedConv<filter(1, 1)>>;
        case Kind::conv_weight_gradient: return &facts_of<ConvWeightGradient<filter(1, 1)>>;
        case Kind::gemm: return &facts_of<Gemm>;
        case Kind::bias: return &facts_of<Bias>;
        case Kind::batch_norm_inference:
            return spatial ? &facts_of<BatchNormInference<Spatial>> : &facts_of<BatchNormInference<PerActivation>>;
        case Kind::batch_norm_training:
        case Kind::batch_norm_backward:
            return spatial ? &facts_of<BatchNormTraining<Spatial>> : &facts_of<BatchNormTraining<PerActivation>>;
        case Kind::activation:
        case Kind::activation_backward: return &facts_of<Activation<Relu>>;
        case Kind::residual:
        case Kind::residual_backward: return &facts_of<Residual>;
        case Kind::scale: return &facts_of<Scale>;
        case Kind::binary: return &facts_of<Add>;
        case Kind::requantize: return &facts_of<Requantize>;
        case Kind::pool:
            return of.filter == filter(2, 2).stride(2) ? &facts_of<Pool<Max, 2, 2>>
                                                       : &facts_of<Pool<Max, filter(3, 3).stride(2).pad(1)>>;
        case Kind::global_average: return &facts_of<GlobalAverage>;
        case Kind::channel_statistics: return &facts_of<ChannelStatistics>;
        case Kind::store: return &facts_of<Store>;
        case Kind::layer_norm: return &facts_of<LayerNorm>;
        case Kind::rms_norm: return &facts_of<RmsNorm>;
        case Kind::group_norm: return &facts_of<GroupNorm>;
        case Kind::instance_norm: return &facts_of<InstanceNorm>;
        case Kind::softmax: return &facts_of<Softmax>;
        case Kind::log_softmax: return &facts_of<LogSoftmax>;
        case Kind::upsample_nearest: return &facts_of<UpsampleNearest<2>>;
        case Kind::upsample_bilinear: return &facts_of<UpsampleBilinear<2>>;
        case Kind::pixel_shuffle: return &facts_of<PixelShuffle<2>>;
        case Kind::pixel_unshuffle: return &facts_of<PixelUnshuffle<2>>;
        case Kind::batched_gemm: return &facts_of<BatchedGemm>;
        case Kind::own: break;
    }
    return nullptr;
}

/// First operator, among those of all plans of a set, that accepts the descriptor; null if none does.
FUSEKIT_H inline Slot const* slot_for(FormList const& forms, Descriptor const& of) {
    for (int form = 0; form < forms.size; ++form)
        for (int i = 0; i < forms.at[form]->size; ++i)
            if (forms.at[form]->entries[i].takes(of)) return &forms.at[form]->entries[i];
    return nullptr;
}

/// Text of an operator as in a plan's source: "Conv<filter(3, 3).pad(1)>", "Activation<Relu>".
[[gnu::cold]] FUSEKIT_H inline Text written(FormList const& forms, Descriptor const& of) {
    auto const norm = [&](char const* which) {
        return Text(which) + (of.mode == static_cast<int>(NormMode::spatial) ? "<Spatial>" : "<PerActivation>");
    };
    auto const mode = [&](char const* which) {
        bool const known = of.mode >= 0 && of.mode < activation_modes;
        return Text(which) + "<" +
               (known ? Text(name(static_cast<ActivationMode>(of.mode))) : "mode " + Text::number(of.mode)) + ">";
    };
    auto const gather = [&](char const* which) {
        Text const rows = Text::number(of.filter.size.h), columns = Text::number(of.filter.size.w);
        return Text(which) + "<" + rows + (of.filter.size.h == of.filter.size.w ? Text(">") : ", " + columns + ">");
    };
    switch (of.kind) {
        case Kind::conv: return "Conv<" + of.filter.to_string() + ">";
        case Kind::transposed_conv: return "TransposedConv<" + of.filter.to_string() + ">";
        case Kind::conv_weight_gradient: return "ConvWeightGradient<" + of.filter.to_string() + ">";
        case Kind::gemm: return "Gemm";
        case Kind::bias: return "Bias";
        case Kind::batch_norm_inference: return norm("BatchNormInference");
        case Kind::batch_norm_training: return norm("BatchNormTraining");
        case Kind::batch_norm_backward: return norm("BatchNormBackward");
        case Kind::activation: return mode("Activation");
        case Kind::activation_backward: return mode("ActivationBackward");
        case Kind::residual: return "Residual";
        case Kind::residual_backward: return "ResidualBackward";
        case Kind::scale: return "Scale";
        case Kind::binary: {
            constexpr char const* names[] = {"Add", "Subtract", "Multiply", "Divide", "Maximum", "Minimum"};
            bool const known = of.mode >= 0 && of.mode <= last_mode(Kind::binary);
            return known ? Text(names[of.mode]) : "binary operator of mode " + Text::number(of.mode);
        }
        case Kind::requantize: return "Requantize";
        case Kind::pool:
            return Text(of.mode == static_cast<int>(PoolMode::max) ? "Pool<Max, " : "Pool<Average, ") +
                   of.filter.to_string() + ">";
        case Kind::global_average: return "GlobalAverage";
        case Kind::channel_statistics: return "ChannelStatistics";
        case Kind::store: return "Store";
        case Kind::layer_norm: return "LayerNorm";
        case Kind::rms_norm: return "RmsNorm";
        case Kind::group_norm: return "GroupNorm";
        case Kind::instance_norm: return "InstanceNorm";
        case Kind::softmax: return "Softmax";
        case Kind::log_softmax: return "LogSoftmax";
        case Kind::upsample_nearest: return gather("UpsampleNearest");
        case Kind::upsample_bilinear: return gather("UpsampleBilinear");
        case Kind::pixel_shuffle: return gather("PixelShuffle");
        case Kind::pixel_unshuffle: return gather("PixelUnshuffle");
        case Kind::batched_gemm: return "BatchedGemm";
        case Kind::own: break;
    }
    Slot const* const own = slot_for(forms, of);
    return own ? own->name() : "operator of kind " + Text::number(static_cast<int>(of.kind));
}
[[gnu::cold]] FUSEKIT_H inline Text written(FormList const& forms, Descriptors const& all) {
    Text text;
    for (int i = 0; i < all.size; ++i) text += (i ? ", " : "") + written(forms, all[i]);
    return "Plan<" + text + ">";
}

}  // namespace fusekit::runtime::detail
