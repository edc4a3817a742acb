// SPDX-License-Identifier: BSD-3-Clause
// Errors of a call: message, code, error handler.
#include "mpi_h/entry/entry.hpp"

#include <algorithm>
#include <cstdio>

#include "coll/call/collectives.hpp"
#include "mpi_h/entry/errors.hpp"
#include "mpi_h/entry/usage_checks.hpp"
#include "runtime/state/call_site.hpp"

namespace tutti {

std::atomic<LibraryState*> the_library_state = nullptr, unlocked_library_state = nullptr;

// Never destroyed, because programs call MPI from destructors of their globals.
LibraryState& create_library_state() try {
    static LibraryState* const made = new LibraryState;
    the_library_state.store(made, std::memory_order_release);
    return *made;
} catch (std::bad_alloc const&) { exit_without_memory(MPI_ERR_NO_MEM); }

void record_freed(int handle) {
    LibraryState& f = library();
    if (f.freed_handles) f.freed_handles->record(*f.process, handle);
}

CallScope::Entered CallScope::enter_call(Waiter& waiter, Function function, void const* site, void const* frame) {
    if (FortranCallSites const* sites = library().fortran_call_sites.get()) site = sites->program_site(site, frame);
    if (!waiter.must_wrap_calls()) return {nullptr, site};
    waiter.enter(function, site);
    return {&waiter, site};
}

void record_any_time_call(LibraryState& f, Function function, void const* site) {
    if (!f.freed_handles || !f.process) return;
    f.process->call_site = site;
    f.process->call_function = function;
}

namespace {

/// An invalid handle. Under --check the report names the call that freed it.
struct BadHandle : Error {
    BadHandle(ErrorClass what, char const* of_argument, int bad)
        : Error(what, join(of_argument, " is ", text(bad),
                           ", which is not a valid handle (never created, or already freed)")),
          argument(of_argument), handle(bad) {}

    static std::string text(int handle) {
        char digits[16];
        std::snprintf(digits, sizeof digits, "0x%08x", static_cast<unsigned>(handle));
        return digits;
    }

    std::string argument;
    int handle;
};

}   // namespace

void Call::bad_handle(ErrorClass what, char const* argument, int handle, bool null) {
    if (null) fail(what, argument, " is the null handle");
    throw BadHandle(what, argument, handle);
}

void Call::not_created_yet() {
    fail(ErrorClass::comm, "comm is still being created; complete the request of MPI_Comm_idup first (MPI_Wait)");
}

void Call::negative(ErrorClass what, char const* argument, long value) {
    fail(what, argument, " is ", value, " but must be at least 0");
}

/// Returns a text such as "4 ranks: 0 to 3".
static std::string rank_range_text(int size) { return size == 1 ? "1 rank: 0" : join(size, " ranks: 0 to ", size - 1); }

void Call::bad_rank(ErrorClass what, Comm const& c, int value, char const* argument) {
    fail(what, argument, " is ", value, " but the communicator", c.is_inter() ? "'s remote group" : "", " has ",
         rank_range_text(c.peers().size()));
}

void Call::bad_target(rma::Window const& w, int value, char const* argument) {
    fail(ErrorClass::rank, argument, " is ", value, " but the window has ", rank_range_text(w.size()));
}

namespace {

/// Describes a value given as an address.
std::string describe_address(void const* address) {
    if (!address) return "a null pointer";
    if (address == MPI_IN_PLACE) return "MPI_IN_PLACE";
    std::string const number = join(address);
    return address == MPI_STATUS_IGNORE ? number + " (MPI_STATUS_IGNORE)" : number;
}

}   // namespace

void Call::bad_pointer(ErrorClass what, void const* address, char const* argument) {
    if (!address) fail(what, argument, " is a null pointer");
    fail(what, argument, " is ", describe_address(address), ", which is not an address");
}

void Call::bad_status(void const* address, char const* argument, char const* constant) {
    fail(ErrorClass::arg, argument, " is ", describe_address(address), " but must be the address of a status, or ",
         constant, " if no status is needed (it is not NULL in this ABI)");
}

void Call::bad_size(long n, Datatype const& t, char const* argument) {
    fail(ErrorClass::count, argument, " is ", n, ", too many for a datatype of size ", t.size(), " and extent ",
         t.extent(), ": the total size overflows");
}

void Call::check_buffer(void const* address, long n, Datatype const& t, char const* argument) {
    if (n <= 0 || t.size() == 0) return;
    if (too_large(n, t)) bad_size(n, t, join("count of ", argument).c_str());
    auto const first = reinterpret_cast<std::uintptr_t>(address) + static_cast<std::uintptr_t>(t.true_lb());
    if (!no_address(reinterpret_cast<void const*>(first))) return;   // the type has absolute addresses
    if (address == MPI_IN_PLACE) fail(ErrorClass::buffer, argument, " is MPI_IN_PLACE, which is not allowed here");
    fail(ErrorClass::buffer, argument, " is ", describe_address(address), " but count is ", n);
}

int error_code(Error const& error, std::string const& message) {
    if (error.user_code != 0) return error.user_code;
    LibraryState& f = library();
    if (error.error_class == ErrorClass::in_status) {   // programs compare the code with the class (MPI 4.1, 3.7.5)
        auto const kept = std::ranges::find(f.error_messages, MPI_ERR_IN_STATUS, &LibraryState::ErrorMessage::code);
        auto const slot = kept != f.error_messages.end() ? kept : f.error_messages.begin();
        *slot = {MPI_ERR_IN_STATUS, message};
        return MPI_ERR_IN_STATUS;
    }
    unsigned const number = f.next_message++ % codes_per_class;
    int code = abi::class_number(error.error_class) | static_cast<int>((number + 1) << 8);
    f.error_messages[number % f.error_messages.size()] = {code, message};
    return code;
}

namespace {

/// Returns the code and sets the message that it represents.
int code_of(Call const& call, std::exception const& thrown, std::string& message) {
    try {
        Error const error = error_of(thrown);
        message = join(call.name(), ": ", error.what());
        if (call.error_object && !call.error_object->name.empty())
            message += join(" (on ", call.error_object->name, ")");
        return error_code(error, message);
    } catch (std::bad_alloc const&) {
        message = "no memory";   // short enough to need no allocation
        auto const* const error = dynamic_cast<Error const*>(&thrown);
        if (!error) return abi::class_number(ErrorClass::no_mem);
        return error->user_code != 0 ? error->user_code : abi::class_number(error->error_class);
    }
}

}   // namespace

int raise(Call const& call, std::exception const& thrown, std::span<std::intptr_t const> arguments) {
    LibraryState& f = library();
    HasErrhandler* object = call.error_object ? call.error_object : f.process ? f.process->world.get() : nullptr;
    std::string message;
    int const code = code_of(call, thrown, message);
    Errhandler const* handler = object ? object->errhandler.get() : nullptr;
    if (!handler || handler->kind == Errhandler::Kind::fatal) {
        auto const* const comm = dynamic_cast<Comm const*>(object);
        auto const* const reason = dynamic_cast<Error const*>(&thrown);
        if (comm && reason) unless_out_of_memory([&] { return coll::report_mismatch(*comm, *reason), true; });
        auto const* const of_request = dynamic_cast<RequestError const*>(&thrown);
        auto const* const bad = dynamic_cast<BadHandle const*>(&thrown);
        if (bad && f.freed_handles && f.process)
            unless_out_of_memory([&]() -> bool {
                f.freed_handles->report_use(*f.process, describe_call(call.function, arguments), bad->argument.c_str(),
                                            bad->handle);
            });
        int const exit_code = code & 0x7f ? code & 0x7f : 1;
        abort_job(exit_code, [&] {
            return AbortReport{exit_code, message, error_name(code),
                               describe_call(call.function, arguments, of_request ? of_request->description : ""),
                               reason ? reason->help : ""};
        });
    }
    if (handler->kind == Errhandler::Kind::user) handler->call(object, code);
    return code;
}

void abort_not_running(Function function, std::span<std::intptr_t const> arguments) {
    Stage const stage = library().stage;
    char const* const when =
        stage == Stage::before_init ? "before MPI_Init"
        : stage == Stage::after_finalize
            ? "after MPI_Finalize"
            : "in a child process of a rank, which cannot call MPI; let the child call _exit or exec";
    abort_job(MPI_ERR_OTHER, [&] {
        std::string const message = join(function.name(), " was called ", when);
        char const* const help =
            stage == Stage::forked_child
                ? ""
                : "every rank must call MPI_Init before its other MPI calls, and MPI_Finalize after them";
        return AbortReport{MPI_ERR_OTHER, message, error_name(MPI_ERR_OTHER), describe_call(function, arguments), help};
    });
}

}   // namespace tutti
