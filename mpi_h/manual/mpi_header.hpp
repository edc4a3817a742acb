// SPDX-License-Identifier: BSD-3-Clause
// The functions and names of mpi.h, for the manual. The parser knows how mpi.h is written: one statement per function,
// comments with asterisks, no preprocessor conditions around functions.
#pragma once

#include <algorithm>
#include <set>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "topo/text.hpp"

namespace tutti::manual {

struct Parameter {
    std::string declaration;   ///< "const int recvcounts[]"
    std::string type;          ///< "const int *": an array is a pointer
    std::string name;
};

struct Function {
    std::string result, name;
    std::vector<Parameter> parameters;
    bool is_variadic = false;
};

struct Header {
    std::vector<Function> functions;   ///< in the order of mpi.h
    std::set<std::string> names;       ///< all identifiers that begin with MPI_ or PMPI_

    /// Returns null if there is no such function.
    Function const* find(std::string_view name) const {
        auto const found = std::ranges::find(functions, name, &Function::name);
        return found == functions.end() ? nullptr : &*found;
    }
};

inline bool is_word(char c) {
    return c == '_' || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/// Returns the position behind the word that begins at `at`.
inline std::size_t end_of_word(std::string_view text, std::size_t at) {
    while (at < text.size() && is_word(text[at])) ++at;
    return at;
}

/// True if a name of MPI begins at `at`.
inline bool is_mpi_name(std::string_view text, std::size_t at) {
    std::string_view const rest = text.substr(at);
    return (at == 0 || !is_word(text[at - 1])) && (rest.starts_with("MPI_") || rest.starts_with("PMPI_"));
}

/// Replaces comments and preprocessor lines by blanks.
inline std::string without_comments(std::string text) {
    for (std::size_t at = 0; at < text.size(); ++at) {
        std::size_t end = at;
        if (text.compare(at, 2, "/*") == 0) end = text.find("*/", at) + 2;
        else if (text[at] == '#' && (at == 0 || text[at - 1] == '\n')) do
                end = text.find('\n', end + 1);
            while (text[end - 1] == '\\');
        std::fill(text.begin() + static_cast<std::ptrdiff_t>(at), text.begin() + static_cast<std::ptrdiff_t>(end), ' ');
        at = std::max(at, end);
    }
    return text;
}

/// "const int recvcounts[]" and the like.
inline Parameter parse_parameter(std::string_view declaration) {
    Parameter made{std::string(declaration), {}, {}};
    std::string_view const left = declaration.substr(0, declaration.find('['));
    std::size_t begin = left.size();
    while (begin > 0 && is_word(left[begin - 1])) --begin;
    made.name = left.substr(begin);
    made.type = topo::trimmed(left.substr(0, begin));
    if (left.size() < declaration.size()) made.type += made.type.ends_with('*') ? "*" : " *";
    return made;
}

/// Parses "int MPI_Name(…)"; a statement that is no prototype of MPI is ignored.
inline void parse_statement(std::string_view statement, std::vector<Function>& functions) {
    std::size_t const open = statement.find('('), name_at = statement.rfind("MPI_", open);
    if (open == statement.npos || name_at == statement.npos || end_of_word(statement, name_at) != open) return;
    if (!is_mpi_name(statement, name_at) || !statement.ends_with(')')) return;
    std::string_view const before = topo::trimmed(statement.substr(0, name_at));
    Function made{std::string(before.substr(before.rfind('\n') + 1)), {}, {}};
    made.name = statement.substr(name_at, open - name_at);
    std::string_view const list = statement.substr(open + 1, statement.size() - open - 2);
    for (std::string const& each : topo::split_words(list, ",")) {
        if (each == "...") made.is_variadic = true;
        else if (each != "void") made.parameters.push_back(parse_parameter(each));
    }
    functions.push_back(std::move(made));
}

/// Throws if a function that has a PMPI_ name has no prototype that is understood here.
inline Header parse_header(std::string const& text) {
    Header header;
    for (std::size_t at = 0; at < text.size(); ++at)
        if (is_mpi_name(text, at)) header.names.insert(text.substr(at, end_of_word(text, at) - at));
    for (std::string const& statement : topo::split_words(without_comments(text), ";"))
        parse_statement(statement, header.functions);
    for (std::string const& name : header.names)
        if (name.starts_with('P') && !header.find(name.substr(1)))
            throw std::runtime_error("mpi.h declares " + name + ", but no prototype of " + name.substr(1) +
                                     " was found");
    return header;
}

}   // namespace tutti::manual
