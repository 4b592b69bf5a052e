// SPDX-License-Identifier: MIT
#include "unit.hpp"

#include <cctype>
#include <cstring>
#include <set>

#include "embedded.hpp"
#include "filter_class.hpp"

namespace fusekit::jit {

namespace {

/// The type in the __PRETTY_FUNCTION__ of text_of(): "... [with Named = fusekit::hip::DirectConv<...>]".
std::string type_in(char const* pretty) {
    std::string const text = std::strstr(pretty, "Named = ") + 8;
    return text.substr(0, text.find_last_of(']'));
}

void replace_all(std::string& text, std::string const& part, char const* by) {
    for (std::size_t at; (at = text.find(part)) != std::string::npos;) text.replace(at, part.size(), by);
}

/// Adds the headers that define the class templates of hip:: in `type` to `headers`. Returns false, and the template
/// in `why`, if one is not embedded.
bool add_headers(std::string const& type, std::set<std::string>& headers, std::string& why) {
    for (std::size_t at = 0; (at = type.find("fusekit::hip::", at)) != std::string::npos;) {
        at += std::strlen("fusekit::hip::");
        if (type.compare(at, 8, "detail::") == 0) at += 8;
        std::size_t end = at;
        while (end < type.size() && (std::isalnum(static_cast<unsigned char>(type[end])) || type[end] == '_')) ++end;
        if (end == type.size() || type[end] != '<') continue;  // an enumerator
        std::string const header = Embedded::all().defining(type.substr(at, end - at));
        if (header.empty()) {
            why = "no embedded header defines " + type.substr(at, end - at);
            return false;
        }
        headers.insert(header);
    }
    return true;
}

char const* text_of(bool value) { return value ? "true" : "false"; }
constexpr char depthwise_header[] = "fusekit/backend/hip/schedule/depthwise.hpp";

}  // namespace

std::string unit_of(Spec const& spec, KernelEntry const& kernel, Filter<2> const& filter, std::string& why) {
    std::string before, after, sources, asserts;
    std::set<std::string> headers = {"fusekit/backend/hip/runtime/kernel.hpp", "padding.hpp"};
    for (TypeText const* const of : {&spec.head_type, &spec.pool_type})
        if (!of->header.empty()) headers.insert(of->header);
    std::set<std::string> given;
    auto const add = [&](std::string& plan, Operators const& of) {
        for (OperatorEntry const* const one : of.all) {
            plan += one->type + ", ";
            std::string const args = "typename " + one->type + "::Args";
            asserts += "static_assert(sizeof(" + args + ") == " + std::to_string(one->bytes) + " && alignof(" + args +
                       ") == " + std::to_string(one->alignment) + ");\n";
            if (!one->source.empty())
                asserts += "static_assert(" + one->type + "::stage == static_cast<fusekit::Stage>(" +
                           std::to_string(static_cast<int>(one->facts.stage)) +
                           "), \"the stage that fusekit_jit_add_operator() read from the source\");\n";
            if (!one->header.empty()) headers.insert(one->header);
            else if (given.insert(one->source).second)
                sources +=
                    "#line 1 \"" + one->name + "\"\n" + one->source + "\n#line 1 \"" + one->name + " in a plan\"\n";
        }
        plan += "jit::Padding<" + std::to_string(words_bytes - of.used) + ">";
    };
    if (!spec.before.all.empty()) add(before, spec.before), before += ", ";
    if (!is_gradient(spec.head)) add(after, spec.after);
    if (!spec.pool_type.type.empty()) after += ", " + spec.pool_type.type;
    auto const plan_of = [&](std::string const& head) {
        return "fusekit::detail::FusedPlan<" + before + head + (head.empty() || after.empty() ? "" : ", ") + after +
               ">";
    };
    std::string const of_dynamic = plan_of(spec.head_type.type);
    std::string plan = of_dynamic, traits;
    std::string mainloop = type_in(kernel.mainloop);
    replace_all(mainloop, type_in(kernel.plan), "ThePlan");
    if (!add_headers(mainloop, headers, why)) return "";
    bool const of_conv = spec.head == Head::conv || spec.head == Head::pooled_conv;
    if (of_conv && headers.count(depthwise_header)) {
        headers.insert("known_conv.hpp");
        plan = plan_of("jit::KnownConv<" + text_of(filter) + ">");
        // members of kernel parameters depend on these: they are those of Conv<dynamic>
        for (char const* const trait : {"has_halo", "has_planes"}) {
            std::string const arguments = ", " + type_in(kernel.element) + ", " + type_in(kernel.element) + ">";
            traits += std::string("template <>\nconstexpr bool DepthwiseEntry::") + trait + "<ThePlan" + arguments +
                      " = DepthwiseEntry::" + trait + "<" + of_dynamic + arguments + ";\n";
        }
    }
    // members of kernel parameters depend on these, and code of the host has no depthwise kernel for such a filter
    if (spec.head == Head::weight_gradient && filter_class(spec.geometry.filter) == other_filters)
        for (char const* const trait : {"has_depthwise_weight_gradient", "has_grouped_weight_gradient"})
            traits += std::string("template <>\nconstexpr bool ") + trait + "<ThePlan, " + type_in(kernel.element) +
                      "> = false;\n";
    std::string includes;
    for (std::string const& header : headers) includes += "#include \"" + header + "\"\n";
    std::string const size = std::to_string(kernel.epilogue_bytes);
    bool const tensors = spec.reads == Reads::tensors, pixels = spec.reads == Reads::pixel_parameters;
    if (is_product(spec.head))
        asserts += std::string("static_assert(TheEpilogue::reads_image == ") + text_of(tensors) +
                   " && TheEpilogue::reads_named == " + text_of(tensors) +
                   " && TheEpilogue::per_pixel == " + text_of(pixels) + ");\n";
    if (spec.head == Head::none)
        asserts +=
            std::string("static_assert(TheEpilogue::pixelwise == ") + text_of(tensors || pixels) +
            " && (TheEpilogue::channelwise || TheEpilogue::pixelwise) == " + text_of(spec.reads != Reads::nothing) +
            ");\n";
    return includes + "namespace fk = fusekit;\n" + sources + "namespace fusekit::hip {\nusing ThePlan = " + plan +
           ";\n" + traits + "using TheMainloop = " + mainloop + ";\nusing TheEpilogue = ThePlan::Epilogue;\n" +
           asserts + "static_assert(sizeof(TheEpilogue::Args) == " + size +
           " && alignof(TheEpilogue::Args) == " + (is_gradient(spec.head) ? "1" : "8") + ");\n" +
           "static_assert(sizeof(TheMainloop::Params) == " + std::to_string(kernel.params_bytes) + ");\n" +
           "static_assert(TheMainloop::threads == " + std::to_string(kernel.threads) + ");\n" +
           "template <class Mainloop>\nconstexpr bool waits = requires { Mainloop::waits_for_previous_kernel; };\n" +
           "static_assert(waits<TheMainloop> == " + text_of(kernel.waits_for_previous) + ");\n" +
           "extern \"C\" __constant__ unsigned const " + shared_bytes_name + " = dynamic_shared_bytes<TheMainloop>;\n" +
           "template __global__ void fused<ThePlan, TheMainloop>(" +
           (kernel.reads_argument_in_place ? "FUSEKIT_GRID_CONSTANT " : "") + "typename TheMainloop::Params);\n}\n";
}

}  // namespace fusekit::jit
