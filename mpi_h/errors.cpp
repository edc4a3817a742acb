// SPDX-License-Identifier: BSD-3-Clause
// Error classes, codes and strings, and those that a program adds (MPI 3.1, 8.4 and 8.5).
#include <algorithm>
#include <cstring>
#include <optional>

#include "mpi_h/entry.hpp"
#include "mpi_h/errors.hpp"
#include "mpi_h/text.hpp"

namespace tutti {
namespace {

struct ClassText {
    int number;
    char const* name;
    char const* sentence;
};

constexpr ClassText class_texts[] = {
#define CLASS(name, sentence) {name, #name, sentence},
#include "mpi_h/error_classes.def"
#undef CLASS
};

/// The entry of a class or code that the program added; null when it is none.
Front::AddedCode* added(int code) {
    Front& f = front();
    std::int64_t index = static_cast<std::int64_t>(code) - MPI_ERR_LASTCODE - 1;
    bool known = index >= 0 && index < static_cast<std::int64_t>(f.added_codes.size());
    return known ? &f.added_codes[static_cast<std::size_t>(index)] : nullptr;
}

/// The class of any code; none when it is no code.
std::optional<int> class_of_code(int code) {
    if (Front::AddedCode const* a = added(code)) return a->error_class;
    int number = code & 0x7f;
    auto same = [number](ClassText const& c) { return c.number == number; };
    bool in_range = code >= 0 && code <= MPI_ERR_LASTCODE;
    bool known = in_range && std::any_of(std::begin(class_texts), std::end(class_texts), same);
    return known ? std::optional(number) : std::nullopt;
}

int existing_class(int code) {
    std::optional<int> found = class_of_code(code);
    if (!found) fail(ErrorClass::arg, "errorcode is ", code, ", which is no error code");
    return *found;
}

/// Adds a code of the given class, or a class of its own.
int add_code(std::optional<int> error_class) {
    Front& f = front();
    ++f.last_used_code;
    f.added_codes.push_back({error_class.value_or(f.last_used_code), ""});
    return f.last_used_code;
}

}  // namespace

std::string error_text(int code) {
    if (Front::AddedCode const* a = added(code)) return a->text;
    for (Front::Sentence const& s : front().sentences)
        if (s.code == code && code != MPI_SUCCESS) return s.text;
    int number = existing_class(code);
    for (ClassText const& c : class_texts)
        if (c.number == number) return join(c.name, ": ", c.sentence);
    return "";
}

}  // namespace tutti

using namespace tutti;

TUTTI_FUNCTION(Error_class)
int PMPI_Error_class(int errorcode, int* errorclass) {
    return enter_any_time("MPI_Error_class", [&](Call& call) {
        call.pointer(errorclass, "errorclass");
        *errorclass = existing_class(errorcode);
    });
}

TUTTI_FUNCTION(Error_string)
int PMPI_Error_string(int errorcode, char* string, int* resultlen) {
    return enter_any_time("MPI_Error_string", [&](Call& call) {
        call.pointer(string, "string");
        call.pointer(resultlen, "resultlen");
        *resultlen = copy_text(error_text(errorcode), string, MPI_MAX_ERROR_STRING);
    });
}

TUTTI_FUNCTION(Add_error_class)
int PMPI_Add_error_class(int* errorclass) {
    return enter_any_time("MPI_Add_error_class", [&](Call& call) {
        call.pointer(errorclass, "errorclass");
        *errorclass = add_code(std::nullopt);
    });
}

TUTTI_FUNCTION(Add_error_code)
int PMPI_Add_error_code(int errorclass, int* errorcode) {
    return enter_any_time("MPI_Add_error_code", [&](Call& call) {
        call.pointer(errorcode, "errorcode");
        if (class_of_code(errorclass) != errorclass)
            fail(ErrorClass::arg, "errorclass is ", errorclass, ", which is no error class");
        *errorcode = add_code(errorclass);
    });
}

TUTTI_FUNCTION(Add_error_string)
int PMPI_Add_error_string(int errorcode, char const* string) {
    return enter_any_time("MPI_Add_error_string", [&](Call& call) {
        call.pointer(string, "string");
        Front::AddedCode* a = added(errorcode);
        if (!a) fail(ErrorClass::arg, "errorcode is ", errorcode, ", which this program did not add");
        if (std::strlen(string) >= MPI_MAX_ERROR_STRING)
            fail(ErrorClass::arg, "string is longer than MPI_MAX_ERROR_STRING - 1 (", MPI_MAX_ERROR_STRING - 1, ")");
        a->text = string;
    });
}
