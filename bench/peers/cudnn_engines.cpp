// SPDX-License-Identifier: MIT
//
// Convolution, bias and ReLU as one operation graph of cuDNN's backend API.
#include <algorithm>
#include <cstdio>
#include <initializer_list>
#include <memory>
#include <stdexcept>
#include <type_traits>
#include <utility>

#include "peers/cudnn_fused.hpp"
#include "support/timing.hpp"

namespace bench {

namespace {

/// Descriptor of the backend API, which keeps its inputs alive. Copies share it.
class Descriptor {
public:
    explicit Descriptor(cudnnBackendDescriptorType_t type) {
        cudnnBackendDescriptor_t raw = nullptr;
        require(cudnnBackendCreateDescriptor(type, &raw), "cudnnBackendCreateDescriptor");
        owned.reset(raw, [](cudnnBackendDescriptor_t each) { cudnnBackendDestroyDescriptor(each); });
    }

    cudnnBackendDescriptor_t raw() const { return static_cast<cudnnBackendDescriptor_t>(owned.get()); }

    template <class T>
    Descriptor& set(cudnnBackendAttributeName_t name, cudnnBackendAttributeType_t type,
                    std::initializer_list<T> values) {
        require(cudnnBackendSetAttribute(raw(), name, type, static_cast<std::int64_t>(values.size()), values.begin()),
                "cudnnBackendSetAttribute");
        return *this;
    }
    Descriptor& set(cudnnBackendAttributeName_t name, std::initializer_list<std::int64_t> values) {
        return set(name, CUDNN_TYPE_INT64, values);
    }
    Descriptor& set(cudnnBackendAttributeName_t name, std::initializer_list<Descriptor> parts) {
        return set(name, std::vector<Descriptor>(parts));
    }
    Descriptor& set(cudnnBackendAttributeName_t name, std::vector<Descriptor> const& parts) {
        std::vector<cudnnBackendDescriptor_t> raws;
        for (Descriptor const& part : parts) raws.push_back(part.raw()), kept.push_back(part);
        require(cudnnBackendSetAttribute(raw(), name, CUDNN_TYPE_BACKEND_DESCRIPTOR,
                                         static_cast<std::int64_t>(raws.size()), raws.data()),
                "cudnnBackendSetAttribute");
        return *this;
    }
    Descriptor& finalize(char const* what) {
        require(cudnnBackendFinalize(raw()), what);
        return *this;
    }

    /// Values of an attribute, at most `most`.
    template <class T>
    std::vector<T> get(cudnnBackendAttributeName_t name, cudnnBackendAttributeType_t type, std::int64_t most) const {
        std::vector<T> values(static_cast<std::size_t>(most));
        std::int64_t count = 0;
        require(cudnnBackendGetAttribute(raw(), name, type, most, &count, values.data()), "cudnnBackendGetAttribute");
        values.resize(static_cast<std::size_t>(std::min(count, most)));
        return values;
    }

private:
    std::shared_ptr<void> owned;
    std::vector<Descriptor> kept;
};

enum Id : std::int64_t { id_x = 1, id_weights, id_bias, id_y, id_convolved, id_biased, id_scale, id_scaled };

/// `shape` is N, C, H, W, dense in NHWC or NCHW order.
Descriptor tensor(cudnnDataType_t type, Id id, std::int64_t n, std::int64_t c, std::int64_t h, std::int64_t w,
                  bool channels_last, bool is_virtual = false) {
    Descriptor result(CUDNN_BACKEND_TENSOR_DESCRIPTOR);
    result.set(CUDNN_ATTR_TENSOR_DATA_TYPE, CUDNN_TYPE_DATA_TYPE, {type})
        .set(CUDNN_ATTR_TENSOR_UNIQUE_ID, {std::int64_t{id}})
        .set(CUDNN_ATTR_TENSOR_DIMENSIONS, {n, c, h, w})
        .set(CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT, {std::int64_t{16}})
        .set(CUDNN_ATTR_TENSOR_IS_VIRTUAL, CUDNN_TYPE_BOOLEAN, {is_virtual});
    if (channels_last) result.set(CUDNN_ATTR_TENSOR_STRIDES, {h * w * c, std::int64_t{1}, w * c, c});
    else result.set(CUDNN_ATTR_TENSOR_STRIDES, {c * h * w, h * w, w, std::int64_t{1}});
    return result.finalize("tensor");
}

Descriptor pointwise(cudnnPointwiseMode_t mode) {
    Descriptor result(CUDNN_BACKEND_POINTWISE_DESCRIPTOR);
    result.set(CUDNN_ATTR_POINTWISE_MODE, CUDNN_TYPE_POINTWISE_MODE, {mode})
        .set(CUDNN_ATTR_POINTWISE_MATH_PREC, CUDNN_TYPE_DATA_TYPE, {CUDNN_DATA_FLOAT});
    return result.finalize("pointwise");
}

Descriptor make_graph(CudnnProblem const& problem) {
    ConvLayer const& l = problem.layer;
    bool const last = problem.channels_last;
    std::int64_t const n = problem.batch, p = l.p(), q = l.q(), pad = l.pad, stride = l.stride;
    auto const type = problem.type, sums = problem.is_int8() ? CUDNN_DATA_INT32 : CUDNN_DATA_FLOAT;
    auto const x = tensor(type, id_x, n, l.c, l.h, l.w, last),
               weights = tensor(type, id_weights, l.k, l.c, l.r, l.s, last),
               bias = tensor(problem.is_int8() ? CUDNN_DATA_FLOAT : type, id_bias, 1, l.k, 1, 1, last),
               y = tensor(type, id_y, n, l.k, p, q, last),
               convolved = tensor(sums, id_convolved, n, l.k, p, q, last, true),
               biased = tensor(CUDNN_DATA_FLOAT, id_biased, n, l.k, p, q, last, true);

    Descriptor window(CUDNN_BACKEND_CONVOLUTION_DESCRIPTOR);
    window.set(CUDNN_ATTR_CONVOLUTION_COMP_TYPE, CUDNN_TYPE_DATA_TYPE, {sums})
        .set(CUDNN_ATTR_CONVOLUTION_CONV_MODE, CUDNN_TYPE_CONVOLUTION_MODE, {CUDNN_CROSS_CORRELATION})
        .set(CUDNN_ATTR_CONVOLUTION_SPATIAL_DIMS, {std::int64_t{2}})
        .set(CUDNN_ATTR_CONVOLUTION_PRE_PADDINGS, {pad, pad})
        .set(CUDNN_ATTR_CONVOLUTION_POST_PADDINGS, {pad, pad})
        .set(CUDNN_ATTR_CONVOLUTION_FILTER_STRIDES, {stride, stride})
        .set(CUDNN_ATTR_CONVOLUTION_DILATIONS, {std::int64_t{1}, std::int64_t{1}})
        .finalize("convolution");
    Descriptor convolve(CUDNN_BACKEND_OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR);
    convolve.set(CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_X, {x})
        .set(CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_W, {weights})
        .set(CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_Y, {convolved})
        .set(CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_CONV_DESC, {window})
        .set(CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_ALPHA, CUDNN_TYPE_FLOAT, {1.0f})
        .set(CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_BETA, CUDNN_TYPE_FLOAT, {0.0f})
        .finalize("convolution operation");
    std::vector<Descriptor> operations{convolve};
    Descriptor to_add = convolved;
    if (problem.is_int8()) {
        to_add = tensor(CUDNN_DATA_FLOAT, id_scaled, n, l.k, p, q, last, true);
        Descriptor scale(CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR);
        scale.set(CUDNN_ATTR_OPERATION_POINTWISE_PW_DESCRIPTOR, {pointwise(CUDNN_POINTWISE_MUL)})
            .set(CUDNN_ATTR_OPERATION_POINTWISE_XDESC, {convolved})
            .set(CUDNN_ATTR_OPERATION_POINTWISE_BDESC, {tensor(CUDNN_DATA_FLOAT, id_scale, 1, 1, 1, 1, last)})
            .set(CUDNN_ATTR_OPERATION_POINTWISE_YDESC, {to_add})
            .finalize("scale operation");
        operations.push_back(scale);
    }
    Descriptor add(CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR);
    add.set(CUDNN_ATTR_OPERATION_POINTWISE_PW_DESCRIPTOR, {pointwise(CUDNN_POINTWISE_ADD)})
        .set(CUDNN_ATTR_OPERATION_POINTWISE_XDESC, {to_add})
        .set(CUDNN_ATTR_OPERATION_POINTWISE_BDESC, {bias})
        .set(CUDNN_ATTR_OPERATION_POINTWISE_YDESC, {biased})
        .finalize("bias operation");
    Descriptor relu(CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR);
    relu.set(CUDNN_ATTR_OPERATION_POINTWISE_PW_DESCRIPTOR, {pointwise(CUDNN_POINTWISE_RELU_FWD)})
        .set(CUDNN_ATTR_OPERATION_POINTWISE_XDESC, {biased})
        .set(CUDNN_ATTR_OPERATION_POINTWISE_YDESC, {y})
        .finalize("ReLU operation");
    operations.insert(operations.end(), {add, relu});

    Descriptor graph(CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR);
    graph.set(CUDNN_ATTR_OPERATIONGRAPH_HANDLE, CUDNN_TYPE_HANDLE, {problem.handle})
        .set(CUDNN_ATTR_OPERATIONGRAPH_OPS, operations);
    return graph.finalize("operation graph");
}

/// Engine configurations in the order of cuDNN's heuristics.
std::vector<Descriptor> proposals(Descriptor const& graph, cudnnBackendHeurMode_t mode, int most) {
    Descriptor heuristics(CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR);
    heuristics.set(CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH, {graph})
        .set(CUDNN_ATTR_ENGINEHEUR_MODE, CUDNN_TYPE_HEUR_MODE, {mode})
        .finalize("heuristics");
    std::vector<Descriptor> configurations;
    std::vector<cudnnBackendDescriptor_t> raws;
    for (int i = 0; i < most; ++i) {
        configurations.emplace_back(CUDNN_BACKEND_ENGINECFG_DESCRIPTOR);
        raws.push_back(configurations.back().raw());
    }
    std::int64_t count = 0;
    require(cudnnBackendGetAttribute(heuristics.raw(), CUDNN_ATTR_ENGINEHEUR_RESULTS, CUDNN_TYPE_BACKEND_DESCRIPTOR,
                                     most, &count, raws.data()),
            "cudnnBackendGetAttribute");
    configurations.erase(configurations.begin() + std::min<std::int64_t>(count, most), configurations.end());
    return configurations;
}

/// Index of the engine, or -1 if it rounds inputs below the tensors' type, or accumulates below float.
std::int64_t exact_engine(Descriptor const& configuration, cudnnDataType_t type) {
    Descriptor const engine(CUDNN_BACKEND_ENGINE_DESCRIPTOR);
    cudnnBackendDescriptor_t raw = engine.raw();
    std::int64_t count = 0;
    require(cudnnBackendGetAttribute(configuration.raw(), CUDNN_ATTR_ENGINECFG_ENGINE, CUDNN_TYPE_BACKEND_DESCRIPTOR, 1,
                                     &count, &raw),
            "cudnnBackendGetAttribute");
    for (auto const note :
         engine.get<cudnnBackendNumericalNote_t>(CUDNN_ATTR_ENGINE_NUMERICAL_NOTE, CUDNN_TYPE_NUMERICAL_NOTE, 32))
        if ((note == CUDNN_NUMERICAL_NOTE_TENSOR_CORE && type == CUDNN_DATA_FLOAT) ||
            note == CUDNN_NUMERICAL_NOTE_DOWN_CONVERT_INPUTS ||
            note == CUDNN_NUMERICAL_NOTE_REDUCED_PRECISION_REDUCTION)
            return -1;
    return engine.get<std::int64_t>(CUDNN_ATTR_ENGINE_GLOBAL_INDEX, CUDNN_TYPE_INT64, 1).at(0);
}

CudnnWay way_of(CudnnProblem const& problem, Descriptor const& configuration, std::int64_t engine) {
    Descriptor plan(CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR);
    plan.set(CUDNN_ATTR_EXECUTION_PLAN_HANDLE, CUDNN_TYPE_HANDLE, {problem.handle})
        .set(CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG, {configuration})
        .finalize("execution plan");
    auto const bytes = plan.get<std::int64_t>(CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE, CUDNN_TYPE_INT64, 1).at(0);
    return {"engine " + std::to_string(engine), static_cast<std::size_t>(bytes),
            [plan, problem](void const* x, void* y, void* workspace) {
                auto const pointer = [](void const* p) { return const_cast<void*>(p); };
                Descriptor pack(CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR);
                if (problem.is_int8())
                    pack.set(CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS,
                             {std::int64_t{id_x}, std::int64_t{id_weights}, std::int64_t{id_bias}, std::int64_t{id_y},
                              std::int64_t{id_scale}})
                        .set(CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS, CUDNN_TYPE_VOID_PTR,
                             {pointer(x), pointer(problem.weights), pointer(problem.bias), y,
                              pointer(problem.scale_on_gpu)});
                else
                    pack.set(CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS,
                             {std::int64_t{id_x}, std::int64_t{id_weights}, std::int64_t{id_bias}, std::int64_t{id_y}})
                        .set(CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS, CUDNN_TYPE_VOID_PTR,
                             {pointer(x), pointer(problem.weights), pointer(problem.bias), y});
                pack.set(CUDNN_ATTR_VARIANT_PACK_WORKSPACE, CUDNN_TYPE_VOID_PTR, {workspace}).finalize("variant pack");
                return cudnnBackendExecute(problem.handle, plan.raw(), pack.raw());
            }};
}

}  // namespace

std::vector<CudnnWay> cudnn_fused_engines(CudnnProblem const& problem, int most, double seconds) {
    double const begin = seconds_now();
    Descriptor const graph = make_graph(problem);
    std::vector<CudnnWay> ways;
    for (auto const mode : {CUDNN_HEUR_MODE_A, CUDNN_HEUR_MODE_FALLBACK}) {
        std::vector<Descriptor> configurations;
        try {
            configurations = proposals(graph, mode, 64);
        } catch (std::runtime_error const& error) {
            std::fprintf(stderr, "  no proposal: %s\n", error.what());
            continue;
        }
        for (Descriptor const& configuration : configurations) {
            if (static_cast<int>(ways.size()) >= most || seconds_now() - begin > seconds) return ways;
            try {
                if (auto const engine = exact_engine(configuration, problem.type); engine >= 0)
                    ways.push_back(way_of(problem, configuration, engine));
            } catch (std::runtime_error const& error) {  // unsupported for this problem
                std::fprintf(stderr, "  an engine: %s\n", error.what());
            }
        }
    }
    return ways;
}

}  // namespace bench
