// SPDX-License-Identifier: BSD-3-Clause
// Error classes, codes and strings, including those that a program adds and removes (MPI 4.1, 9.4 and 9.5), and error
// handlers of communicators and windows.
#include "mpi_h/entry/errors.hpp"

#include <algorithm>
#include <cstring>
#include <optional>

#include "mpi_h/entry/entry.hpp"
#include "mpi_h/entry/library_state.hpp"

namespace tutti {

void create_errhandler(Call const& call, ErrhandlerFunction* function, bool for_windows, MPI_Errhandler* errhandler) {
    call.callback(function, for_windows ? "win_errhandler_fn" : "comm_errhandler_fn");
    call.pointer(errhandler, "errhandler");
    auto* made = new Errhandler;
    made->kind = Errhandler::Kind::user;
    made->for_windows = for_windows;
    made->call = [function](Object* on, int code) {
        int handle = on ? static_cast<int>(on->handle) : MPI_COMM_NULL;
        if (auto* const comm = dynamic_cast<Comm*>(on)) {   // the program may have freed it while requests use it
            auto const valid = abi::Tables::Comms::HandleGuard(library().tables.comms, *comm);
            return function(&handle, &code);
        }
        function(&handle, &code);
    };
    *errhandler = library().tables.errhandlers.add(made);
}

void set_errhandler(Call& call, HasErrhandler& of, bool is_window, MPI_Errhandler errhandler) {
    Errhandler& e = call.errhandler(errhandler);
    if (e.kind == Errhandler::Kind::user && e.for_windows != is_window)
        fail(ErrorClass::arg, "errhandler was created for ", e.for_windows ? "windows" : "communicators",
             e.for_windows ? " (MPI_Win_create_errhandler)" : " (MPI_Comm_create_errhandler)");
    of.errhandler = Ref<Errhandler>::share(&e);
}

void get_errhandler(Call const& call, HasErrhandler& of, MPI_Errhandler* errhandler) {
    call.pointer(errhandler, "errhandler");
    Errhandler* e = of.errhandler.get();
    if (e->handle_owner) {
        ++e->references;
        library().tables.errhandlers.add(e);
    } else if (!e->predefined) {
        ++e->extra_handles;
    }
    *errhandler = static_cast<MPI_Errhandler>(e->handle);
}

void call_errhandler(Call const& call, HasErrhandler& of, int errorcode) {
    std::string text = error_text(errorcode);
    Errhandler const& handler = *of.errhandler;
    if (handler.kind == Errhandler::Kind::fatal)
        abort_job({errorcode & 0x7f, join(call.name(), ": ", text), error_name(errorcode),
                   describe_call(call.function, args(of.handle, errorcode).values())});
    if (handler.kind == Errhandler::Kind::user) handler.call(&of, errorcode);
}

namespace {

struct ClassText {
    int number;
    char const* name;
    char const* text;
};

/// The texts of MPI_Error_string, for codes without a message of their own.
constexpr ClassText class_texts[] = {
#define CLASS(name, text) \
    { name, #name, text }
    CLASS(MPI_SUCCESS, "no error"),
    CLASS(MPI_ERR_BUFFER, "the buffer's address is not usable"),
    CLASS(MPI_ERR_COUNT, "the count is not usable"),
    CLASS(MPI_ERR_TYPE, "the datatype is not usable"),
    CLASS(MPI_ERR_TAG, "the tag is not usable"),
    CLASS(MPI_ERR_COMM, "the communicator is not usable"),
    CLASS(MPI_ERR_RANK, "there is no such rank"),
    CLASS(MPI_ERR_ROOT, "there is no such root"),
    CLASS(MPI_ERR_GROUP, "the group is not usable"),
    CLASS(MPI_ERR_OP, "the operation is not usable"),
    CLASS(MPI_ERR_TOPOLOGY, "the topology is not usable"),
    CLASS(MPI_ERR_DIMS, "the dimensions are not usable"),
    CLASS(MPI_ERR_ARG, "an argument is not usable"),
    CLASS(MPI_ERR_UNKNOWN, "an error that has no name"),
    CLASS(MPI_ERR_TRUNCATE, "the message is longer than the buffer that receives it"),
    CLASS(MPI_ERR_OTHER, "an error; its code says more"),
    CLASS(MPI_ERR_INTERN, "an error inside the MPI library"),
    CLASS(MPI_ERR_IN_STATUS, "the error codes are in the statuses"),
    CLASS(MPI_ERR_PENDING, "the request is neither complete nor failed"),
    CLASS(MPI_ERR_REQUEST, "the request is not usable"),
    CLASS(MPI_ERR_ACCESS, "the file may not be accessed"),
    CLASS(MPI_ERR_AMODE, "the file's access mode is not usable"),
    CLASS(MPI_ERR_BAD_FILE, "the file's name is not usable"),
    CLASS(MPI_ERR_CONVERSION, "a function that converts data failed"),
    CLASS(MPI_ERR_DUP_DATAREP, "the data representation is defined already"),
    CLASS(MPI_ERR_FILE_EXISTS, "the file exists already"),
    CLASS(MPI_ERR_FILE_IN_USE, "the file is in use"),
    CLASS(MPI_ERR_FILE, "the file handle is not usable"),
    CLASS(MPI_ERR_INFO, "the info is not usable"),
    CLASS(MPI_ERR_INFO_KEY, "the info key is not usable"),
    CLASS(MPI_ERR_INFO_VALUE, "the info value is not usable"),
    CLASS(MPI_ERR_INFO_NOKEY, "the info has no such key"),
    CLASS(MPI_ERR_IO, "input or output failed"),
    CLASS(MPI_ERR_NAME, "the service's name is not known"),
    CLASS(MPI_ERR_NO_MEM, "there is no more memory"),
    CLASS(MPI_ERR_NOT_SAME, "an argument differs between the processes"),
    CLASS(MPI_ERR_NO_SPACE, "there is no more space"),
    CLASS(MPI_ERR_NO_SUCH_FILE, "there is no such file"),
    CLASS(MPI_ERR_PORT, "the port's name is not usable"),
    CLASS(MPI_ERR_QUOTA, "the quota is used up"),
    CLASS(MPI_ERR_READ_ONLY, "the file or file system can only be read"),
    CLASS(MPI_ERR_SERVICE, "the service's name is not published"),
    CLASS(MPI_ERR_SPAWN, "processes could not be started"),
    CLASS(MPI_ERR_UNSUPPORTED_DATAREP, "the data representation is not supported"),
    CLASS(MPI_ERR_UNSUPPORTED_OPERATION, "the operation is not supported"),
    CLASS(MPI_ERR_WIN, "the window is not usable"),
    CLASS(MPI_ERR_BASE, "the window's base is not usable"),
    CLASS(MPI_ERR_LOCKTYPE, "there is no such type of lock"),
    CLASS(MPI_ERR_KEYVAL, "the key value is not usable"),
    CLASS(MPI_ERR_RMA_CONFLICT, "accesses to the window conflict"),
    CLASS(MPI_ERR_RMA_SYNC, "the window is not synchronised for this access"),
    CLASS(MPI_ERR_SIZE, "the size is not usable"),
    CLASS(MPI_ERR_DISP, "the displacement is not usable"),
    CLASS(MPI_ERR_ASSERT, "the assertion is not usable"),
    CLASS(MPI_ERR_RMA_RANGE, "the target memory is not part of the window"),
    CLASS(MPI_ERR_RMA_ATTACH, "the memory cannot be attached"),
    CLASS(MPI_ERR_RMA_SHARED, "the memory cannot be shared"),
    CLASS(MPI_ERR_RMA_FLAVOR, "the window is of the wrong flavour"),
    CLASS(MPI_T_ERR_MEMORY, "the tools interface has no more memory"),
    CLASS(MPI_T_ERR_NOT_INITIALIZED, "MPI_T_init_thread has not been called"),
    CLASS(MPI_T_ERR_CANNOT_INIT, "the tools interface cannot be initialised now"),
    CLASS(MPI_T_ERR_INVALID_INDEX, "there is no such index"),
    CLASS(MPI_T_ERR_INVALID_ITEM, "the enumeration has no such item"),
    CLASS(MPI_T_ERR_INVALID_HANDLE, "the handle is not usable"),
    CLASS(MPI_T_ERR_OUT_OF_HANDLES, "there are no more handles"),
    CLASS(MPI_T_ERR_OUT_OF_SESSIONS, "there are no more sessions"),
    CLASS(MPI_T_ERR_INVALID_SESSION, "the session is not usable"),
    CLASS(MPI_T_ERR_CVAR_SET_NOT_NOW, "the control variable cannot be set now"),
    CLASS(MPI_T_ERR_CVAR_SET_NEVER, "the control variable cannot be set any more"),
    CLASS(MPI_T_ERR_PVAR_NO_STARTSTOP, "the performance variable is always running"),
    CLASS(MPI_T_ERR_PVAR_NO_WRITE, "the performance variable can only be read"),
    CLASS(MPI_T_ERR_PVAR_NO_ATOMIC, "the performance variable cannot be read and reset atomically"),
    CLASS(MPI_T_ERR_INVALID_NAME, "there is no such name"),
    CLASS(MPI_T_ERR_INVALID, "an argument is not usable"),
    CLASS(MPI_ERR_SESSION, "the session is not usable"),
    CLASS(MPI_ERR_PROC_ABORTED, "the other process has aborted"),
    CLASS(MPI_ERR_VALUE_TOO_LARGE, "the value is too large for its variable"),
    CLASS(MPI_T_ERR_NOT_SUPPORTED, "this is not supported"),
#undef CLASS
};

/// Returns the entry of a class or code that the program added; null for others.
LibraryState::AddedCode* added(int code) {
    LibraryState& f = library();
    std::int64_t index = static_cast<std::int64_t>(code) - MPI_ERR_LASTCODE - 1;
    bool known = index >= 0 && index < static_cast<std::int64_t>(f.added_codes.size());
    LibraryState::AddedCode* found = known ? &f.added_codes[static_cast<std::size_t>(index)] : nullptr;
    return found && found->error_class ? found : nullptr;
}

/// As added(), but throws instead of returning null. `argument`: "errorcode", or "errorclass", which must be a class.
LibraryState::AddedCode& require_added(int code, char const* argument, bool is_class) {
    LibraryState::AddedCode* a = added(code);
    if (!a) fail(ErrorClass::arg, argument, " is ", code, ", which this program did not add");
    if (is_class != (*a->error_class == code))
        fail(ErrorClass::arg, argument, " is ", code, ", which is ",
             is_class ? "a code, not a class (MPI_Remove_error_code)" : "a class, not a code (MPI_Remove_error_class)");
    return *a;
}

/// Returns true if error_code() has returned this code. Old codes, whose class is no longer stored, are accepted if
/// their sequence number was used.
bool was_issued(int code) {
    LibraryState const& f = library();
    auto const number = static_cast<unsigned>(code) >> 8;
    if (number == 0) return true;   // the class itself
    if ((code & 0x80) || number > std::min(f.next_message, codes_per_class)) return false;
    int const stored_code = f.error_messages[(number - 1) % f.error_messages.size()].code;
    return stored_code >> 8 != code >> 8 || stored_code == code;
}

/// Returns the class of any code; none if it is not a code.
std::optional<int> class_of_code(int code) {
    if (LibraryState::AddedCode const* a = added(code)) return a->error_class;
    int number = code & 0x7f;
    auto same = [number](ClassText const& c) { return c.number == number; };
    bool const in_range = code >= 0 && code <= MPI_ERR_LASTCODE && was_issued(code);
    bool known = in_range && std::any_of(std::begin(class_texts), std::end(class_texts), same);
    return known ? std::optional(number) : std::nullopt;
}

int require_class(int code) {
    std::optional<int> found = class_of_code(code);
    if (!found) fail(ErrorClass::arg, "errorcode is ", code, ", which is not an error code");
    return *found;
}

int code_at(std::size_t index) { return MPI_ERR_LASTCODE + 1 + static_cast<int>(index); }

/// Adds a code of the given class, or a new class, under the lowest free number.
int add_code(std::optional<int> error_class) {
    LibraryState& f = library();
    auto const free = std::ranges::find_if(f.added_codes, [](auto const& a) { return !a.error_class; });
    auto const index = static_cast<std::size_t>(free - f.added_codes.begin());
    if (free == f.added_codes.end()) f.added_codes.emplace_back();
    f.added_codes[index] = {error_class.value_or(code_at(index)), {}};
    f.last_used_code = code_at(f.added_codes.size() - 1);
    return code_at(index);
}

void remove_code(LibraryState::AddedCode& removed) {
    LibraryState& f = library();
    removed = {};
    while (!f.added_codes.empty() && !f.added_codes.back().error_class) f.added_codes.pop_back();
    f.last_used_code = code_at(f.added_codes.size()) - 1;
}

}   // namespace

std::string error_text(int code) {
    if (LibraryState::AddedCode const* a = added(code)) return a->text.value_or("");
    for (LibraryState::ErrorMessage const& s : library().error_messages)
        if (s.code == code && code != MPI_SUCCESS) return s.text;
    int number = require_class(code);
    for (ClassText const& c : class_texts)
        if (c.number == number) return join(c.name, ": ", c.text);
    return "";
}

char const* error_name(int code) {
    int const number = class_of_code(code).value_or(MPI_ERR_OTHER);
    auto const found = std::ranges::find(class_texts, number, &ClassText::number);
    return found == std::end(class_texts) ? "MPI_ERR_OTHER" : found->name;
}

}   // namespace tutti

using namespace tutti;

TUTTI_FUNCTION(Error_class);
int PMPI_Error_class(int errorcode, int* errorclass) {
    return enter<When::any_time>(args(errorcode, errorclass), [&](Call& call) {
        call.pointer(errorclass, "errorclass");
        *errorclass = require_class(errorcode);
    });
}

TUTTI_FUNCTION(Error_string);
int PMPI_Error_string(int errorcode, char* string, int* resultlen) {
    return enter<When::any_time>(args(errorcode, string, resultlen), [&](Call& call) {
        call.pointer(string, "string");
        call.pointer(resultlen, "resultlen");
        *resultlen = copy_text(error_text(errorcode), string, MPI_MAX_ERROR_STRING);
    });
}

TUTTI_FUNCTION(Add_error_class);
int PMPI_Add_error_class(int* errorclass) {
    return enter<When::any_time>(args(errorclass), [&](Call& call) {
        call.pointer(errorclass, "errorclass");
        *errorclass = add_code(std::nullopt);
    });
}

TUTTI_FUNCTION(Add_error_code);
int PMPI_Add_error_code(int errorclass, int* errorcode) {
    return enter<When::any_time>(args(errorclass, errorcode), [&](Call& call) {
        call.pointer(errorcode, "errorcode");
        if (class_of_code(errorclass) != errorclass)
            fail(ErrorClass::arg, "errorclass is ", errorclass, ", which is not an error class");
        *errorcode = add_code(errorclass);
    });
}

TUTTI_FUNCTION(Add_error_string);
int PMPI_Add_error_string(int errorcode, char const* string) {
    return enter<When::any_time>(args(errorcode, string), [&](Call& call) {
        call.pointer(string, "string");
        LibraryState::AddedCode* a = added(errorcode);
        if (!a) fail(ErrorClass::arg, "errorcode is ", errorcode, ", which this program did not add");
        if (std::strlen(string) >= MPI_MAX_ERROR_STRING)
            fail(ErrorClass::arg, "string is longer than MPI_MAX_ERROR_STRING - 1 (", MPI_MAX_ERROR_STRING - 1, ")");
        a->text = string;
    });
}

TUTTI_FUNCTION(Remove_error_class);
int PMPI_Remove_error_class(int errorclass) {
    return enter<When::any_time>(args(errorclass), [&](Call&) {
        LibraryState::AddedCode& a = require_added(errorclass, "errorclass", true);
        auto const codes = std::ranges::count(library().added_codes, std::optional(errorclass),
                                              &LibraryState::AddedCode::error_class) -
                           1;   // not counting the class itself
        if (codes > 0)
            fail(ErrorClass::arg, "errorclass is ", errorclass, ", which still has ", codes,
                 codes == 1 ? " error code" : " error codes", " (MPI_Remove_error_code)");
        if (a.text)
            fail(ErrorClass::arg, "errorclass is ", errorclass, ", which still has a string (MPI_Remove_error_string)");
        remove_code(a);
    });
}

TUTTI_FUNCTION(Remove_error_code);
int PMPI_Remove_error_code(int errorcode) {
    return enter<When::any_time>(args(errorcode), [&](Call&) {
        LibraryState::AddedCode& a = require_added(errorcode, "errorcode", false);
        if (a.text)
            fail(ErrorClass::arg, "errorcode is ", errorcode, ", which still has a string (MPI_Remove_error_string)");
        remove_code(a);
    });
}

/// Removes the string of a code or of a class.
TUTTI_FUNCTION(Remove_error_string);
int PMPI_Remove_error_string(int errorcode) {
    return enter<When::any_time>(args(errorcode), [&](Call&) {
        LibraryState::AddedCode* a = added(errorcode);
        if (!a) fail(ErrorClass::arg, "errorcode is ", errorcode, ", which this program did not add");
        if (!a->text) fail(ErrorClass::arg, "errorcode is ", errorcode, ", which has no string");
        a->text.reset();
    });
}
