// SPDX-License-Identifier: MIT
#include "heads.hpp"

namespace fusekit::jit {

using runtime::Descriptor;
using runtime::Kind;

namespace {

std::string text_of(PerMode<2> const& of) { return "{" + std::to_string(of[0]) + ", " + std::to_string(of[1]) + "}"; }

/// Largest factor of an upsampling or a pixel shuffle: its square fits int.
constexpr int max_factor = 1024;

Head head_of(Descriptor const& of) {
    switch (of.kind) {
        case Kind::conv: return Head::conv;
        case Kind::gemm: return Head::gemm;
        case Kind::batched_gemm: return Head::batched_gemm;
        case Kind::batch_norm_training:
            return of.mode == static_cast<std::int32_t>(runtime::NormMode::spatial) ? Head::spatial_norm
                                                                                    : Head::activation_norm;
        case Kind::layer_norm: return Head::layer_norm;
        case Kind::rms_norm: return Head::rms_norm;
        case Kind::group_norm: return Head::group_norm;
        case Kind::instance_norm: return Head::instance_norm;
        case Kind::softmax: return Head::softmax;
        case Kind::log_softmax: return Head::log_softmax;
        case Kind::upsample_nearest:
        case Kind::upsample_bilinear: return Head::upsampling;
        case Kind::pixel_shuffle:
        case Kind::pixel_unshuffle: return Head::pixel_shuffle;
        default: return Head::none;
    }
}

}  // namespace

std::string text_of(Filter<2> const& of) {
    return "Filter<2>{" + text_of(of.size) + ", " + text_of(of.pad_before) + ", " + text_of(of.pad_after) + ", " +
           text_of(of.strides) + ", " + text_of(of.dilations) + ", " + std::to_string(of.group_count) + "}";
}

Shape shape_of(runtime::Descriptors descriptors) {
    if (descriptors.size == 0) return {};
    Shape shape{Head::none, -1, 0, descriptors.size};
    for (int i = 0; i < descriptors.size && shape.at < 0; ++i)
        if (Head const head = head_of(descriptors[i]); head != Head::none && (i == 0 || is_of_rows(head)))
            shape.head = head, shape.at = i, shape.first = i + 1;
    Kind const last = descriptors[descriptors.size - 1].kind;
    if (last != Kind::pool && last != Kind::global_average) return shape;
    --shape.end;
    if (shape.head == Head::conv) shape.head = Head::pooled_conv;
    if (shape.head == Head::none) shape.head = last == Kind::pool ? Head::pool : Head::global_average;
    return shape;
}

TypeText text_of_head(Descriptor const& of, Head head) {
    constexpr char const *rows = "fusekit/ops/row_norm.hpp", *softmax = "fusekit/ops/softmax.hpp",
                         *pool = "fusekit/ops/pool.hpp", *resample = "fusekit/ops/resample.hpp";
    PerMode<2> const size = of.filter.size;
    std::string const one = "<" + std::to_string(size[0]) + ">",
                      both = "<" + std::to_string(size[0]) + ", " + std::to_string(size[1]) + ">";
    switch (of.kind) {
        case Kind::conv: return {"Conv<dynamic>", "fusekit/ops/conv.hpp"};
        case Kind::gemm: return {"fusekit::Gemm", "fusekit/ops/gemm.hpp"};  // hip::Gemm is a schedule
        case Kind::batched_gemm: return {"BatchedGemm", "fusekit/ops/gemm/batched.hpp"};
        case Kind::batch_norm_training:
            return {head == Head::spatial_norm ? "BatchNormTraining<Spatial>" : "BatchNormTraining<PerActivation>",
                    "fusekit/ops/batch_norm/training.hpp"};
        case Kind::layer_norm: return {"LayerNorm", rows};
        case Kind::rms_norm: return {"RmsNorm", rows};
        case Kind::group_norm: return {"GroupNorm", rows};
        case Kind::instance_norm: return {"InstanceNorm", rows};
        case Kind::softmax: return {"Softmax", softmax};
        case Kind::log_softmax: return {"LogSoftmax", softmax};
        case Kind::upsample_nearest: return {"UpsampleNearest" + both, resample};
        case Kind::upsample_bilinear: return {"UpsampleBilinear" + both, resample};
        case Kind::pixel_shuffle: return {"PixelShuffle" + one, resample};
        case Kind::pixel_unshuffle: return {"PixelUnshuffle" + one, resample};
        case Kind::global_average: return {"GlobalAverage", pool};
        case Kind::pool: {
            bool const is_max = of.mode == static_cast<std::int32_t>(runtime::PoolMode::max);
            return {std::string("Pool<") + (is_max ? "Max, " : "Average, ") +
                        (head == Head::pooled_conv ? "2, 2" : text_of(of.filter)) + ">",
                    pool};
        }
        default: return {};
    }
}

char const* broken_geometry(Descriptor const& of) {
    Filter<2> const& f = of.filter;
    for (int i = 0; i < 2; ++i) {
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
