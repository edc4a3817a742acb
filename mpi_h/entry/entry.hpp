// SPDX-License-Identifier: BSD-3-Clause
// The frame of every MPI function: TUTTI_FUNCTION(name) exports it with its weak MPI_ name, `enter` runs its body, and
// the members of Call check arguments and convert handles to objects. A body may throw Error or another std::exception;
// `enter` passes it to the error handler of the communicator or window that `call` has found, or else to that of
// MPI_COMM_WORLD. Nothing else throws: the code before a body, and the report of its error, work without allocating.
// The whole call holds the process's lock. TUTTI_CHECK_ARGUMENTS=no disables checks of values.
#pragma once

#include <exception>
#include <utility>

#include "mpi_h/entry/call_words.hpp"
#include "mpi_h/entry/library_state.hpp"

/// Precedes the definition of PMPI_name: declares its second, weak name MPI_name (MPI 3.1, 14.2.1). A semicolon must
/// follow, because ctags and similar tools do not find the function otherwise.
#define TUTTI_PRAGMA(text) _Pragma(#text)
#define TUTTI_FUNCTION(name) TUTTI_PRAGMA(weak MPI_##name = PMPI_##name)

namespace tutti {

/// The running call: its function, and the object whose error handler receives its errors. Members that take a handle
/// return its object, and throw Error if the handle is invalid; most others check one argument and throw Error if it is
/// invalid.
class Call {
public:
    Call(Function which, LibraryState& library) : function(which), library_(library) {}

    /// The communicator of the call; later errors are reported to its error handler.
    Comm& comm(MPI_Comm handle) {
        Comm& c = any_comm(handle);
        if (c.context == 0) [[unlikely]]
            not_created_yet();
        return c;
    }
    /// As comm(), for calls that do not communicate: also a communicator that MPI_Comm_idup is still creating, because
    /// programs set its error handler or name immediately.
    Comm& any_comm(MPI_Comm handle) {
        Comm& c = object<ErrorClass::comm, MPI_COMM_NULL>(library_.tables.comms, handle, "comm");
        error_object = &c;
        return c;
    }
    /// As comm(), for calls that MPI does not allow on an intercommunicator.
    Comm& intracomm(MPI_Comm handle, char const* argument = "comm") {
        Comm& c = comm(handle);
        if (c.is_inter()) [[unlikely]]
            fail(ErrorClass::comm, argument, " is an intercommunicator");
        return c;
    }
    /// The window of the call; later errors are reported to its error handler.
    [[gnu::always_inline]] rma::Window& win(MPI_Win handle) {
        rma::Window& w = object<ErrorClass::win, MPI_WIN_NULL>(library_.tables.wins, handle, "win");
        error_object = &w;
        return w;
    }
    /// A committed datatype, for calls that move data.
    Datatype& type(MPI_Datatype handle, char const* argument = "datatype") {
        Datatype& t = any_type(handle, argument);
        if (!t.committed) [[unlikely]]
            fail(ErrorClass::type, argument, " is not committed (MPI_Type_commit)");
        return t;
    }
    /// Any datatype, committed or not.
    Datatype& any_type(MPI_Datatype handle, char const* argument = "datatype") {
        return object<ErrorClass::type, MPI_DATATYPE_NULL>(library_.tables.datatypes, handle, argument);
    }
    Op& op(MPI_Op handle) { return object<ErrorClass::op, MPI_OP_NULL>(library_.tables.ops, handle, "op"); }
    Group& group(MPI_Group handle, char const* argument = "group") {
        return object<ErrorClass::group, MPI_GROUP_NULL>(library_.tables.groups, handle, argument);
    }
    Info& info(MPI_Info handle) {
        return object<ErrorClass::info, MPI_INFO_NULL>(library_.tables.infos, handle, "info");
    }
    Errhandler& errhandler(MPI_Errhandler handle) {
        return object<ErrorClass::arg, MPI_ERRHANDLER_NULL>(library_.tables.errhandlers, handle, "errhandler");
    }
    Keyval& keyval(int handle) {
        return object<ErrorClass::keyval, MPI_KEYVAL_INVALID>(library_.tables.keyvals, handle, "keyval");
    }
    Request& request(MPI_Request handle) {
        return object<ErrorClass::request, MPI_REQUEST_NULL>(library_.tables.requests, handle, "request");
    }

    void count(long value, char const* argument = "count") const {
        if (value < 0 && library_.check_arguments) [[unlikely]]
            negative(ErrorClass::count, argument, value);
    }
    void disp(MPI_Aint value) const {
        if (value < 0 && library_.check_arguments) [[unlikely]]
            negative(ErrorClass::disp, "target_disp", value);
    }
    /// Checks the source or destination of a message; MPI_PROC_NULL is allowed, MPI_ANY_SOURCE if `any`.
    void rank(Comm const& c, int value, char const* argument, bool any = false) const {
        auto const ranks = static_cast<unsigned>(c.peers().size());
        if (static_cast<unsigned>(value) >= ranks && library_.check_arguments) [[unlikely]]
            if (value != MPI_PROC_NULL && !(any && value == MPI_ANY_SOURCE))
                bad_rank(ErrorClass::rank, c, value, argument);
    }
    /// Checks the target rank of an operation on a window; MPI_PROC_NULL is allowed.
    void target(rma::Window const& w, int value, char const* argument = "target_rank") const {
        if (static_cast<std::size_t>(value) >= w.targets.size() && library_.check_arguments) [[unlikely]]
            if (value != MPI_PROC_NULL) bad_target(w, value, argument);
    }
    void root(Comm const& c, int value) const {
        if (static_cast<unsigned>(value) >= static_cast<unsigned>(c.size()) && library_.check_arguments) [[unlikely]]
            bad_rank(ErrorClass::root, c, value, "root");
    }
    void tag(int value, bool any = false) const {
        if (value < 0 && !(any && value == MPI_ANY_TAG) && library_.check_arguments) [[unlikely]]
            negative(ErrorClass::tag, "tag", value);
    }
    /// Checks a buffer of `n` elements: it needs an address unless it is empty or the type has absolute addresses
    /// (MPI_BOTTOM).
    void buffer(void const* address, long n, Datatype const& t, char const* argument = "buf") const {
        if ((no_address(address) || too_large(n, t)) && library_.check_arguments) [[unlikely]]
            check_buffer(address, n, t, argument);
    }
    /// Checks that the size and the extent of `n` elements in bytes can be represented; used where there is no buffer.
    void size(long n, Datatype const& t, char const* argument = "count") const {
        if (too_large(n, t) && library_.check_arguments) [[unlikely]]
            bad_size(n, t, argument);
    }
    /// Checks an address that the call reads from or writes to.
    void pointer(void const* address, char const* argument, ErrorClass what = ErrorClass::arg) const {
        if (no_address(address) && library_.check_arguments) [[unlikely]]
            bad_pointer(what, address, argument);
    }
    /// Checks the address of a function of the program.
    template <class Callback>
    void callback(Callback* address, char const* argument) const {
        pointer(reinterpret_cast<void const*>(address), argument);
    }
    /// Checks the address of a status, or MPI_STATUS_IGNORE. Must be called before anything is received or completed.
    void status(MPI_Status const* address, char const* argument = "status") const {
        if (no_address(address) && address != MPI_STATUS_IGNORE && library_.check_arguments) [[unlikely]]
            bad_status(address, argument, "MPI_STATUS_IGNORE");
    }
    /// Checks an array of `n` statuses, or MPI_STATUSES_IGNORE.
    void statuses(int n, MPI_Status const* addresses) const {
        bool const ignored = addresses == MPI_STATUSES_IGNORE || n <= 0;
        if (no_address(addresses) && !ignored && library_.check_arguments) [[unlikely]]
            bad_status(addresses, "array_of_statuses", "MPI_STATUSES_IGNORE");
    }

    /// True for values that cannot be addresses of the program: null pointers, constants of the ABI and stray small
    /// numbers are in the first page, or, as −1 is, in the half of the system.
    static bool no_address(void const* p) { return reinterpret_cast<std::intptr_t>(p) < 4096; }

    LibraryState& library_state() const { return library_; }

    char const* name() const { return function.name(); }

    Function const function;
    HasErrhandler* error_object = nullptr;   ///< its error handler receives the errors of the call

private:
    /// Returns the object of a handle; an invalid handle is an error of this class, which names the argument.
    template <ErrorClass error, int null_handle, class T, abi::Kind kind>
    [[gnu::always_inline]] static T& object(abi::Table<T, kind>& table, int handle, char const* argument) {
        T* const found = table.find(handle);
        if (!found) [[unlikely]]
            bad_handle(error, argument, handle, handle == null_handle);
        return *found;
    }

    /// Sizes are limited to a quarter of the representable range, which leaves room for displacements.
    static bool too_large(long n, Datatype const& t) {
        std::int64_t bytes;
        return __builtin_mul_overflow(4 * n, t.extent(), &bytes) || __builtin_mul_overflow(4 * n, t.size(), &bytes);
    }

    [[noreturn]] static void not_created_yet();
    [[noreturn]] static void bad_handle(ErrorClass what, char const* argument, int handle, bool null);
    [[noreturn]] static void negative(ErrorClass what, char const* argument, long value);
    [[noreturn]] static void bad_rank(ErrorClass what, Comm const& c, int value, char const* argument);
    [[noreturn]] static void bad_target(rma::Window const& w, int value, char const* argument);
    [[noreturn]] static void bad_pointer(ErrorClass what, void const* address, char const* argument);
    [[noreturn]] static void bad_status(void const* address, char const* argument, char const* constant);
    [[noreturn]] static void bad_size(long n, Datatype const& t, char const* argument);
    static void check_buffer(void const* address, long n, Datatype const& t, char const* argument);

    LibraryState& library_;
};

/// An error on the communicator of a request. The request may be the last user of that communicator, which the program
/// may have freed. `requests`: description of the call's requests whose handles are gone; empty: the handles are still
/// valid.
struct RequestError : Error {
    RequestError(Call& call, Error error, Ref<Comm> request_comm, std::string requests = "")
        : Error(std::move(error)), comm(std::move(request_comm)), description(std::move(requests)) {
        // For the error handler, which runs before this object is destroyed.
        if (comm && comm->handle != 0) call.error_object = comm.get();
    }
    Ref<Comm> comm;
    std::string description;
};

/// Calls the error handler with the code of `thrown` and returns the code; does not return if errors are fatal.
/// `given`: the arguments of the call. Without memory for a message, the code is only the class. Throws only what the
/// handler throws.
int raise(Call const& call, std::exception const& thrown, std::span<std::intptr_t const> arguments);
/// As raise(), for arguments of any types. Not inlined: one instance serves all calls with arguments of the same types.
template <class... Arguments>
[[gnu::cold, gnu::noinline]] int raise_error(Call const& call, std::exception const& thrown, Arguments... arguments) {
    return raise(call, thrown, args(arguments...).values());
}
/// Returns the code under which MPI_Error_string finds this message.
int error_code(Error const& error, std::string const& message);
/// Ends the job with a message: `function` was called before MPI_Init, after MPI_Finalize, or by a child of a rank.
[[noreturn]] void abort_not_running(Function function, std::span<std::intptr_t const> arguments);

template <class... Arguments>
[[noreturn, gnu::cold, gnu::noinline]] void abort_invalid_call(Function function, Arguments... arguments) {
    abort_not_running(function, args(arguments...).values());
}

/// --check: records a call that may be made at any time.
void record_any_time_call(LibraryState& f, Function function, void const* site);

/// When a function may be called: most between MPI_Init and MPI_Finalize, a few at any time.
enum class When { running, any_time };

/// Runs the body of an MPI function, which passes all its arguments, in order, for error reports (call_words.hpp).
template <When when = When::running, class... Arguments, class Body>
[[gnu::always_inline]] inline int enter(Function function, CallArguments<Arguments...> const& arguments, Body&& body) {
    LibraryState& f = library();
    if (when == When::running && f.stage.load(std::memory_order_acquire) != Stage::running) [[unlikely]]
        arguments.pass_to([function](auto... each) { abort_invalid_call(function, each...); });
    bool constexpr traced = when == When::running;
    Waiter* const call_waiter = f.call_waiter.load(std::memory_order_acquire);
    CallScope const scope(call_waiter, traced ? function : Function(), __builtin_return_address(0),
                          __builtin_dwarf_cfa());
    if constexpr (when == When::running) {
        f.process->call_site = scope.site();
        f.process->call_function = function;
    } else if (call_waiter) [[unlikely]] {
        record_any_time_call(f, function, scope.site());
    }
    Call call(function, f);
    try {
        body(call);
        return MPI_SUCCESS;
    } catch (std::exception const& error) {
        return arguments.pass_to([&](auto... each) { return raise_error(call, error, each...); });
    }
}

/// As above for the calling function: `return enter(args(buf, count, …), [&](Call& call) {…});`. Helpers that serve
/// several functions have the same default argument.
template <When when = When::running, class... Arguments, class Body>
[[gnu::always_inline]] inline int enter(CallArguments<Arguments...> const& arguments, Body&& body,
                                        Function function = __builtin_FUNCTION()) {
    return enter<when>(function, arguments, std::forward<Body>(body));
}

}   // namespace tutti
