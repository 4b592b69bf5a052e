// SPDX-License-Identifier: MIT
#pragma once

#include <new>
#include <string>

#include "fusekit/runtime/facts.hpp"
#include "fusekit/runtime/operator.hpp"

namespace fusekit::jit {

/// How code of the host treats an operator whose type it does not know: its Args are bytes.
struct OperatorEntry {
    std::string type;    ///< type as in the translation unit: "Activation<Relu>"
    std::string header;  ///< header that the unit includes for it; "" for an operator that is given as source
    std::string name;    ///< name in messages: that of the struct
    std::string source;  ///< source text of an operator that is given as source
    Text (*operator_name)();  ///< returns the name; a prepared run, which outlives the call, keeps it with its tensors
    fusekit::detail::OperatorFacts facts;
    unsigned bytes, alignment;  ///< of Args
    bool reads_tensor;  ///< true if it loads a tensor of y's shape, with whose view Args begins
    bool reads_channels;  ///< true if it has parameters per channel
    void (*read)(runtime::Given const& given, void* args);
    void (*check)(void const* args, Check const& in);
};

template <class Op>
OperatorEntry entry_of(char const* type, char const* header) {
    using Args = typename Op::Args;
    OperatorEntry entry{
        type,  header,          type, "", type_name<Op>, fusekit::detail::facts_of<Op>, sizeof(Args), alignof(Args),
        false, Channelwise<Op>, {},   {}};
    entry.read = [](runtime::Given const& given, void* args) {
        ::new (args) Args(runtime::OperatorOf<Op>::read(given));
    };
    entry.check = [](void const* args, Check const& in) {
        fusekit::detail::check_args<Op>(*static_cast<Args const*>(args), in);
    };
    return entry;
}

}  // namespace fusekit::jit
