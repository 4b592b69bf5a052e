// SPDX-License-Identifier: MIT
#pragma once

#include <charconv>
#include <cstdio>
#include <functional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "support/text.hpp"

namespace bench {

/// Error in the command line; what() describes it. The program exits with code 2.
struct UsageError : std::runtime_error {
    using runtime_error::runtime_error;
};

/// Long options with one value each, "--batch 8" or "--batch=8", and --help.
class CommandLine {
public:
    CommandLine(std::string program, std::string summary) : program(std::move(program)), summary(std::move(summary)) {}

    CommandLine& integer(char const* name, int& value, int least, int most, std::string const& help) {
        std::string const usual = value < least ? "" : bench::text(" (default %d)", value);
        return add(name, "N", help + usual, [=, &value](std::string_view given) {
            auto const [end, error] = std::from_chars(given.data(), given.data() + given.size(), value);
            if (error != std::errc{} || end != given.data() + given.size() || value < least || value > most)
                throw UsageError(bench::text("%s takes a number from %d to %d, got '%s'", name, least, most,
                                             std::string(given).c_str()));
        });
    }

    CommandLine& text(char const* name, char const* placeholder, std::string& value, std::string const& help) {
        return add(name, placeholder, help + " (default " + value + ")", [name, &value](std::string_view given) {
            if (given.empty()) throw UsageError(std::string(name) + " takes a value");
            value = given;
        });
    }

    CommandLine& choice(char const* name, std::string& value, std::vector<std::string> const& choices,
                        std::string const& help) {
        std::string all;
        for (std::string const& each : choices) all += (all.empty() ? "" : "|") + each;
        std::string const usual = value.empty() ? "" : " (default " + value + ")";
        return add(name, all, help + usual, [=, &value](std::string_view given) {
            for (std::string const& each : choices)
                if (each == given) return void(value = each);
            throw UsageError(std::string(name) + " takes " + all + ", got '" + std::string(given) + "'");
        });
    }

    /// Returns false if --help was requested and printed. Throws UsageError.
    bool parse(int argc, char const* const* argv) const {
        for (int i = 1; i < argc; ++i) {
            std::string_view const given = argv[i];
            if (given == "--help" || given == "-h") return help(), false;
            std::size_t const equals = given.find('=');
            Option const& option = find(given.substr(0, equals));
            if (equals != given.npos) option.set(given.substr(equals + 1));
            else if (++i < argc) option.set(argv[i]);
            else throw UsageError(option.name + " takes a value");
        }
        return true;
    }

private:
    struct Option {
        std::string name, placeholder, help;
        std::function<void(std::string_view)> set;
    };
    std::string program, summary;
    std::vector<Option> options;

    CommandLine& add(std::string name, std::string placeholder, std::string help,
                     std::function<void(std::string_view)> set) {
        options.push_back({std::move(name), std::move(placeholder), std::move(help), std::move(set)});
        return *this;
    }

    Option const& find(std::string_view name) const {
        for (Option const& option : options)
            if (option.name == name) return option;
        throw UsageError("there is no option '" + std::string(name) + "'");
    }

    void help() const {
        std::printf("%s: %s\n\nUsage: %s [option value]...\n\n", program.c_str(), summary.c_str(), program.c_str());
        for (Option const& option : options)
            std::printf("  %-36s%s\n", (option.name + " " + option.placeholder).c_str(), option.help.c_str());
        std::printf("  %-36sthis text\n", "--help");
    }
};

/// The command line, without the program's folder.
inline std::string command_text(int argc, char const* const* argv) {
    std::string_view const program = argv[0];
    std::string all(program.substr(program.rfind('/') + 1));
    for (int i = 1; i < argc; ++i) all += std::string(" ") + argv[i];
    return all;
}

/// Runs `body` as main: prints exceptions and returns the exit code.
template <class Body>
int run_program(char const* program, Body const& body) {
    try {
        return body();
    } catch (UsageError const& error) {
        std::fprintf(stderr, "%s: %s; --help lists the options\n", program, error.what());
        return 2;
    } catch (std::exception const& error) {
        std::fprintf(stderr, "%s: %s\n", program, error.what());
        return 1;
    }
}

}  // namespace bench
