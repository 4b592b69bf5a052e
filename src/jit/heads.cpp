// SPDX-License-Identifier: MIT
#include "heads.hpp"

#include "transposed_class.hpp"

namespace fusekit::jit {

using runtime::Descriptor;
using runtime::Kind;

namespace {

std::string text_of(PerMode<2> const& of) { return "{" + std::to_string(of[0]) + ", " + std::to_string(of[1]) + "}"; }

/// Largest factor of an upsampling or a pixel shuffle: its square fits int.
constexpr int max_factor = 1024;

/// A head or a pool, and its type as in the translation unit, without the template arguments that a descriptor gives.
struct KnownHead {
    Kind kind;
    Head head;
    char const *type, *header;
};
constexpr char const *rows = "fusekit/ops/row_norm.hpp", *softmax = "fusekit/ops/softmax.hpp",
                     *pool = "fusekit/ops/pool.hpp", *resample = "fusekit/ops/resample.hpp",
                     *training = "fusekit/ops/batch_norm/training.hpp";
constexpr KnownHead known_heads[] = {
    {Kind::conv, Head::conv, "Conv<dynamic>", "fusekit/ops/conv.hpp"},
    {Kind::transposed_conv, Head::transposed_conv, "TransposedConv", "fusekit/ops/conv/transposed.hpp"},
    {Kind::conv_weight_gradient, Head::weight_gradient, "ConvWeightGradient", "fusekit/ops/conv/weight_gradient.hpp"},
    {Kind::gemm, Head::gemm, "fusekit::Gemm", "fusekit/ops/gemm.hpp"},  // hip::Gemm is a schedule
    {Kind::batched_gemm, Head::batched_gemm, "BatchedGemm", "fusekit/ops/gemm/batched.hpp"},
    {Kind::batch_norm_training, Head::spatial_norm, "BatchNormTraining<Spatial>", training},
    {Kind::batch_norm_training, Head::activation_norm, "BatchNormTraining<PerActivation>", training},
    {Kind::layer_norm, Head::layer_norm, "LayerNorm", rows},
    {Kind::rms_norm, Head::rms_norm, "RmsNorm", rows},
    {Kind::group_norm, Head::group_norm, "GroupNorm", rows},
    {Kind::instance_norm, Head::instance_norm, "InstanceNorm", rows},
    {Kind::softmax, Head::softmax, "Softmax", softmax},
    {Kind::log_softmax, Head::log_softmax, "LogSoftmax", softmax},
    {Kind::upsample_nearest, Head::upsampling, "UpsampleNearest", resample},
    {Kind::upsample_bilinear, Head::upsampling, "UpsampleBilinear", resample},
    {Kind::pixel_shuffle, Head::pixel_shuffle, "PixelShuffle", resample},
    {Kind::pixel_unshuffle, Head::pixel_shuffle, "PixelUnshuffle", resample},
    {Kind::pool, Head::pool, "Pool", pool},
    {Kind::global_average, Head::global_average, "GlobalAverage", pool},
};

/// Null for kinds that are neither a head nor a pool.
KnownHead const* known_head(Descriptor const& of) {
    bool const per_activation =
        of.kind == Kind::batch_norm_training && of.mode == static_cast<std::int32_t>(runtime::NormMode::per_activation);
    for (KnownHead const& one : known_heads)
        if (one.kind == of.kind && (one.head == Head::activation_norm) == per_activation) return &one;
    return nullptr;
}

bool is_pool(Descriptor const& of) { return of.kind == Kind::pool || of.kind == Kind::global_average; }

}  // namespace

std::string text_of(Filter<2> const& of) {
    return "Filter<2>{" + text_of(of.size) + ", " + text_of(of.pad_before) + ", " + text_of(of.pad_after) + ", " +
           text_of(of.strides) + ", " + text_of(of.dilations) + ", " + std::to_string(of.group_count) + "}";
}

Shape shape_of(runtime::Descriptors descriptors) {
    if (descriptors.size == 0) return {};
    Shape shape{Head::none, -1, 0, descriptors.size};
    for (int i = 0; i < descriptors.size && shape.at < 0; ++i)
        if (KnownHead const* const one = known_head(descriptors[i]);
            one && !is_pool(descriptors[i]) && (i == 0 || is_of_rows(one->head)))
            shape.head = one->head, shape.at = i, shape.first = i + 1;
    Descriptor const& last = descriptors[descriptors.size - 1];
    if (!is_pool(last)) return shape;
    --shape.end;
    if (shape.head == Head::conv) shape.head = Head::pooled_conv;
    if (shape.head == Head::none) shape.head = known_head(last)->head;
    return shape;
}

TypeText text_of_head(Descriptor const& of, Head head) {
    KnownHead const* const one = known_head(of);
    if (!one) return {};
    if (one->head == Head::transposed_conv)
        if (int const number = transposed_class(of.filter); has_other_filters(number))
            return {
                "jit::KnownTransposed<" + text_of(transposed_representatives[number]) + ", " + text_of(of.filter) + ">",
                "known_transposed.hpp"};
    std::string const size = "<" + std::to_string(of.filter.size[0]);
    std::string arguments;
    if (one->head == Head::upsampling) arguments = size + ", " + std::to_string(of.filter.size[1]) + ">";
    if (one->head == Head::pixel_shuffle) arguments = size + ">";
    if (one->head == Head::weight_gradient || one->head == Head::transposed_conv)
        arguments = "<" + text_of(of.filter) + ">";
    if (one->head == Head::pool) {
        bool const is_max = of.mode == static_cast<std::int32_t>(runtime::PoolMode::max);
        arguments = std::string(is_max ? "<Max, " : "<Average, ") +
                    (head == Head::pooled_conv ? "2, 2" : text_of(of.filter)) + ">";
    }
    return {one->type + arguments, one->header};
}

char const* broken_geometry(Descriptor const& of) {
    Filter<2> const& f = of.filter;
    bool const of_conv = of.kind == Kind::transposed_conv || of.kind == Kind::conv_weight_gradient;
    if (of_conv && f.group_count < 1) return "a filter with 1 group or more";
    for (int i = 0; i < 2; ++i) {
        if (of_conv &&
            (f.size[i] < 1 || f.strides[i] < 1 || f.dilations[i] < 1 || f.pad_before[i] < 0 || f.pad_after[i] < 0))
            return "a filter with sizes, strides and dilations of 1 or more, and padding of 0 or more";
        if (of.kind == Kind::pool && (f.size[i] < 1 || f.strides[i] < 1 || f.pad_before[i] < 0 || f.pad_after[i] < 0 ||
                                      f.pad_before[i] >= f.size[i] || f.pad_after[i] >= f.size[i]))
            return "a window with sizes and strides of 1 or more, and padding of 0 or more that is less than the "
                   "window";
        if (of.kind >= Kind::upsample_nearest && of.kind <= Kind::pixel_unshuffle &&
            (f.size[i] < 1 || f.size[i] > max_factor))
            return "factors of 1 to 1024";
    }
    if ((of.kind == Kind::pixel_shuffle || of.kind == Kind::pixel_unshuffle) && f.size[0] != f.size[1])
        return "one factor for rows and columns";
    return nullptr;
}

}  // namespace fusekit::jit
