// SPDX-License-Identifier: MIT
#pragma once

#include <dnnl.hpp>

#include <string>
#include <unordered_map>

#include "support/chains.hpp"
#include "zoo/layer.hpp"

namespace bench {

/// oneDNN's convolution of a layer with bias and ReLU as a post-op, on memory that fusekit's tensors own. Its weights
/// are reordered to its preferred format by the constructor.
class OneDnn {
    using Device = fk::host::Device;
    using Tensor = fk::Tensor<float, Device>;

public:
    OneDnn(zoo::Layer const& layer, int batch, bool channels_last, Tensor& weights,
           fk::Tensor<float, Device, 1>& bias) {
        using namespace dnnl;
        using Data = memory::data_type;
        using Tag = memory::format_tag;
        auto const activations = channels_last ? Tag::nhwc : Tag::nchw;
        bool const grouped = layer.groups > 1;
        memory::dims filter{layer.k, layer.c, layer.r, layer.s};
        if (grouped) filter = {layer.groups, layer.k / layer.groups, layer.c / layer.groups, layer.r, layer.s};
        Tag const given_format = grouped ? (channels_last ? Tag::gohwi : Tag::goihw)  //
                                         : (channels_last ? Tag::ohwi : Tag::oihw);
        source_desc = {{batch, layer.c, layer.h, layer.w}, Data::f32, activations};
        result_desc = {{batch, layer.k, layer.p(), layer.q()}, Data::f32, activations};
        memory::desc const bias_desc{{layer.k}, Data::f32, Tag::x};
        memory::dims const pad{layer.pad_h, layer.pad_w}, skipped{layer.dilation - 1, layer.dilation - 1};

        post_ops relu;
        relu.append_eltwise(1.0f, algorithm::eltwise_relu, 0.0f, 0.0f);
        primitive_attr attributes;
        attributes.set_post_ops(relu);
        convolution_forward::desc const operation(prop_kind::forward_inference, algorithm::convolution_auto,
                                                  source_desc, {filter, Data::f32, Tag::any}, bias_desc, result_desc,
                                                  {layer.stride, layer.stride}, skipped, pad, pad);
        convolution_forward::primitive_desc const chosen(operation, attributes, engine);
        implementation = chosen.impl_info_str();
        primitive = convolution_forward(chosen);

        memory given({filter, Data::f32, given_format}, engine, weights.data());
        memory reordered(chosen.weights_desc(), engine);
        reorder(given, reordered).execute(stream, given, reordered);
        stream.wait();
        fixed = {{DNNL_ARG_WEIGHTS, reordered}, {DNNL_ARG_BIAS, memory(bias_desc, engine, bias.data())}};
    }

    /// Arguments of execute() for a pair of buffers.
    std::unordered_map<int, dnnl::memory> arguments(Tensor& x, Tensor& y) const {
        auto all = fixed;
        all.insert({DNNL_ARG_SRC, dnnl::memory(source_desc, engine, x.data())});
        all.insert({DNNL_ARG_DST, dnnl::memory(result_desc, engine, y.data())});
        return all;
    }
    void execute(std::unordered_map<int, dnnl::memory> const& arguments) const {
        primitive.execute(stream, arguments);
        stream.wait();
    }

    std::string implementation;

private:
    dnnl::engine engine{dnnl::engine::kind::cpu, 0};
    mutable dnnl::stream stream{engine};
    dnnl::memory::desc source_desc, result_desc;
    dnnl::convolution_forward primitive;
    std::unordered_map<int, dnnl::memory> fixed;
};

}  // namespace bench
