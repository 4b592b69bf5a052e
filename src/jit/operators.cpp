// SPDX-License-Identifier: MIT
#include "operators.hpp"

#include <cctype>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "fusekit/ops/batch_norm.hpp"
#include "fusekit/ops/bias.hpp"
#include "fusekit/ops/binary.hpp"
#include "fusekit/ops/requantize.hpp"
#include "fusekit/ops/residual.hpp"
#include "fusekit/ops/scale.hpp"
#include "words.hpp"

namespace fusekit::jit {

namespace {

using runtime::Descriptor;
using runtime::Kind;

struct Known {
    Descriptor descriptor;
    OperatorEntry entry;
};

template <class Op>
Known known(char const* type, char const* header) {
    return {runtime::OperatorOf<Op>::descriptor, entry_of<Op>(type, header)};
}

std::vector<Known> library_operators() {
    constexpr char const* of_binary = "fusekit/ops/binary.hpp";
    std::vector<Known> all = {
        known<Bias>("Bias", "fusekit/ops/bias.hpp"),
        known<Scale>("Scale", "fusekit/ops/scale.hpp"),
        known<Residual>("Residual", "fusekit/ops/residual.hpp"),
        known<BatchNormInference<Spatial>>("BatchNormInference<Spatial>", "fusekit/ops/batch_norm/inference.hpp"),
        known<BatchNormInference<PerActivation>>("BatchNormInference<PerActivation>",
                                                 "fusekit/ops/batch_norm/inference.hpp"),
        known<Add>("Add", of_binary),
        known<Subtract>("Subtract", of_binary),
        known<Multiply>("Multiply", of_binary),
        known<Divide>("Divide", of_binary),
        known<Maximum>("Maximum", of_binary),
        known<Minimum>("Minimum", of_binary),
        known<Requantize>("Requantize", "fusekit/ops/requantize.hpp"),
#define FUSEKIT_KNOWN(number, Mode, mode, MODE) \
    known<Activation<Mode>>("Activation<" #Mode ">", "fusekit/ops/activation.hpp"),
        FUSEKIT_ACTIVATIONS(FUSEKIT_KNOWN)
#undef FUSEKIT_KNOWN
    };
    for (Known& one : all)
        one.entry.reads_tensor = one.descriptor.kind == Kind::residual || one.descriptor.kind == Kind::binary;
    return all;
}

/// Args of FromSource (device/padding.hpp).
struct Numbers {
    float alpha, beta, gamma;
};

struct Added {
    std::mutex mutex;
    std::map<std::string, std::int32_t> modes;
    std::vector<std::unique_ptr<OperatorEntry>> entries;

    static Added& all() {
        static Added* const own = new Added;
        return *own;
    }
};

bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; }

/// True for an identifier, or several with :: between them.
bool is_name(char const* name) {
    if (!*name) return false;
    for (bool first = true; *name; ++name) {
        if (name[0] == ':' && name[1] == ':' && !first) {
            ++name;
            first = true;
            continue;
        }
        if (!is_word(*name) || (first && std::isdigit(static_cast<unsigned char>(*name)))) return false;
        first = false;
    }
    return is_word(name[-1]);
}

/// The text with blanks in place of comments and of literals.
std::string without_comments(char const* source) {
    std::string code = source;
    for (std::size_t i = 0; i < code.size();) {
        std::size_t end = i + 1;
        if (code.compare(i, 2, "//") == 0) {
            end = code.find('\n', i);
        } else if (code.compare(i, 2, "/*") == 0) {
            end = code.find("*/", i + 2);
            if (end != std::string::npos) end += 2;
        } else if (code[i] == '"') {
            for (; end < code.size() && code[end] != '"'; ++end)
                if (code[end] == '\\') ++end;
            ++end;
        } else {
            ++i;
            continue;
        }
        end = end < code.size() ? end : code.size();
        code.replace(i, end - i, end - i, ' ');
        i = end;
    }
    return code;
}

/// Position after the first occurrence of a whole word at or after `from`; npos if there is none.
std::size_t after_word(std::string const& code, std::string const& word, std::size_t from) {
    for (std::size_t at = from; (at = code.find(word, at)) != std::string::npos; ++at) {
        std::size_t const end = at + word.size();
        if ((at == 0 || !is_word(code[at - 1])) && (end == code.size() || !is_word(code[end]))) return end;
    }
    return std::string::npos;
}

/// The first stage in the text at or after `from`, as in "stage = fusekit::Stage::activation"; false if there is none
/// of those that an operator may have.
bool stage_after(std::string const& code, std::size_t from, Stage& stage) {
    struct {
        char const* name;
        Stage stage;
    } const stages[] = {{"bias", Stage::bias},
                        {"normalization", Stage::normalization},
                        {"activation", Stage::activation},
                        {"pointwise", Stage::pointwise}};
    std::size_t at = after_word(code, "stage", from);
    if (at != std::string::npos) at = after_word(code, "Stage", at);
    if (at == std::string::npos || code.compare(at, 2, "::") != 0) return false;
    for (auto const& one : stages) {
        std::size_t const length = std::strlen(one.name);
        if (code.compare(at + 2, length, one.name) == 0 && !is_word(code[at + 2 + length])) {
            stage = one.stage;
            return true;
        }
    }
    return false;
}

/// The stage that the struct `name` of a source text has: the first one after its name or, if it inherits its stage or
/// is an alias, the first one of the text. The unit asserts that the struct has it (unit.cpp).
bool stage_of(std::string const& code, std::string const& name, Stage& stage) {
    std::size_t const at = after_word(code, name.substr(name.rfind(':') + 1), 0);
    return at != std::string::npos && (stage_after(code, at, stage) || stage_after(code, 0, stage));
}

}  // namespace

OperatorEntry const* operator_of(Descriptor const& descriptor) {
    static std::vector<Known> const* const library = new std::vector<Known>(library_operators());
    if (descriptor.kind == Kind::own) {
        Added& added = Added::all();
        std::lock_guard const lock(added.mutex);
        auto const at = static_cast<std::size_t>(descriptor.mode);
        return descriptor.mode >= 0 && at < added.entries.size() ? added.entries[at].get() : nullptr;
    }
    for (Known const& one : *library)
        if (one.descriptor.kind == descriptor.kind && one.descriptor.mode == descriptor.mode) return &one.entry;
    return nullptr;
}

Refusal add_operator(char const* name, char const* source, std::int32_t& mode) {
    auto const refuse = [&](char const* argument, char const* expected, Text given) {
        return Refusal(Error("fusekit_jit", "operator", argument, expected, std::move(given)));
    };
    if (!is_name(name)) return refuse("name", "the name of a C++ struct", name);
    std::size_t const length = std::strlen(source);
    if (length > max_source_bytes) return refuse("source", "at most 65536 bytes", Text::number(length));
    Stage stage{};
    if (!stage_of(without_comments(source), name, stage))
        return refuse("source", "a struct with a stage: Stage::bias, normalization, activation or pointwise", "none");
    auto entry = std::make_unique<OperatorEntry>(entry_of<Activation<Relu>>("", ""));
    entry->type = "jit::FromSource<::" + std::string(name) + ">";
    entry->name = name;
    entry->operator_name = current_name;
    entry->source = source;
    entry->facts.stage = stage;
    entry->bytes = sizeof(Numbers), entry->alignment = alignof(Numbers);
    entry->read = [](runtime::Given const& given, void* args) {
        runtime::Arguments const& of = given.arguments;
        ::new (args) Numbers{given.number(of.alpha), given.number(of.beta), given.number(of.gamma)};
    };
    entry->check = [](void const*, Check const&) {};
    Added& added = Added::all();
    std::lock_guard const lock(added.mutex);
    added.entries.reserve(added.entries.size() + 1);
    auto const [at, is_new] =
        added.modes.emplace(std::string(name) + '\n' + source, static_cast<std::int32_t>(added.entries.size()));
    mode = at->second;
    if (is_new) added.entries.push_back(std::move(entry));
    return {};
}

}  // namespace fusekit::jit
