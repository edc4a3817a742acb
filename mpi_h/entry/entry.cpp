// SPDX-License-Identifier: BSD-3-Clause
// What happens when a check fails: the sentence, the code, the error handler, the end of the job.
#include "mpi_h/entry/entry.hpp"

#include <cstdio>
#include <cstdlib>
#include <cstring>

#include <unistd.h>

#include "mpi_h/entry/job_server.hpp"

namespace tutti {

std::atomic<LibraryState*> the_library_state = nullptr;

// Never destroyed: programs call MPI from destructors of their globals.
LibraryState& make_library_state() {
    static LibraryState* const made = new LibraryState;
    the_library_state.store(made, std::memory_order_release);
    return *made;
}

void Call::bad_handle(ErrorClass what, char const* argument, int handle, bool null) {
    if (null) fail(what, argument, " is the null handle");
    char text[16];
    std::snprintf(text, sizeof text, "0x%08x", static_cast<unsigned>(handle));
    fail(what, argument, " is ", text, ", which names nothing of that kind (never made, or freed already)");
}

void Call::unmade() {
    fail(ErrorClass::comm, "comm is still being made: before it can communicate, the request that MPI_Comm_idup gave ",
         "must be complete (MPI_Wait)");
}

void Call::negative(ErrorClass what, char const* argument, long value) {
    fail(what, argument, " is ", value, " but must be at least 0");
}

void Call::bad_rank(ErrorClass what, Comm const& c, int value, char const* argument) {
    int const size = c.peers().size();
    fail(what, argument, " is ", value, " but the communicator", c.inter() ? "'s remote group" : "", " has ", size,
         " ranks: 0 to ", size - 1);
}

void Call::bad_target(rma::Window const& w, int value, char const* argument) {
    fail(ErrorClass::rank, argument, " is ", value, " but the window has ", w.size(), " ranks: 0 to ", w.size() - 1);
}

namespace {

/// What stands where an address should.
std::string described(void const* address) {
    if (!address) return "a null pointer";
    if (address == MPI_IN_PLACE) return "MPI_IN_PLACE";
    std::string const number = join(address);
    return address == MPI_STATUS_IGNORE ? number + " (MPI_STATUS_IGNORE)" : number;
}

}   // namespace

void Call::bad_pointer(ErrorClass what, void const* address, char const* argument) {
    if (!address) fail(what, argument, " is a null pointer");
    fail(what, argument, " is ", described(address), ", which is no address");
}

void Call::bad_status(void const* address, char const* argument, char const* constant) {
    fail(ErrorClass::arg, argument, " is ", described(address), " but must be the address of a status, or ", constant,
         " where none is wanted (which is not NULL in this ABI)");
}

void Call::bad_size(long n, Datatype const& t, char const* argument) {
    fail(ErrorClass::count, argument, " is ", n, ", too many for a datatype of ", t.size(), " bytes and an extent of ",
         t.extent(), ": no memory holds them");
}

void Call::check_buffer(void const* address, long n, Datatype const& t, char const* argument) {
    if (n <= 0 || t.size() == 0) return;
    if (too_large(n, t)) bad_size(n, t, join("count of ", argument).c_str());
    auto const first = reinterpret_cast<std::uintptr_t>(address) + static_cast<std::uintptr_t>(t.true_lb());
    if (!no_address(reinterpret_cast<void const*>(first))) return;   // the type has the addresses
    if (address == MPI_IN_PLACE) fail(ErrorClass::buffer, argument, " is MPI_IN_PLACE, which is not allowed here");
    fail(ErrorClass::buffer, argument, " is ", described(address), " but count is ", n);
}

int error_code(Error const& error, std::string const& sentence) {
    if (error.user_code != 0) return error.user_code;
    LibraryState& f = library();
    constexpr unsigned numbers = 1u << 20;   // a multiple of the ring's size, so small that codes stay below LASTCODE
    unsigned number = f.next_sentence++ % numbers;
    int code = abi::class_number(error.error_class) | static_cast<int>((number + 1) << 8);
    f.sentences[number % f.sentences.size()] = {code, sentence};
    return code;
}

int raise(Call const& call, Error const& error) {
    LibraryState& f = library();
    HasErrhandler* on = call.on ? call.on : f.process ? f.process->world.get() : nullptr;
    std::string sentence = join(call.name, ": ", error.what());
    if (on && !on->name.empty()) sentence += join(" (on ", on->name, ")");
    int code = error_code(error, sentence);
    Errhandler const* handler = on ? on->errhandler.get() : nullptr;
    if (!handler || handler->kind == Errhandler::Kind::fatal) abort_job(code & 0x7f ? code & 0x7f : 1, sentence);
    if (handler->kind == Errhandler::Kind::user) handler->call(on, code);
    return code;
}

void not_running(char const* name) {
    Stage const stage = library().stage;
    if (stage == Stage::child)
        abort_job(MPI_ERR_OTHER, join(name,
                                      " was called, but only the rank itself can call MPI, not what its fork() "
                                      "made; let the child end by _exit or start a program by exec"));
    char const* const when = stage == Stage::before ? "before MPI_Init" : "after MPI_Finalize";
    abort_job(MPI_ERR_OTHER, join(name, " was called ", when));
}

/// What the parent has not written yet is the parent's to write.
[[noreturn]] static void end_child(int code, std::string const& sentence) {
    int const rank = library().process->rank();
    std::string const line = join("process ", getpid(), ", a child of rank ", rank, ": ", sentence, "\n");
    if (!sentence.empty() && write(2, line.data(), line.size()) < 0) {}   // nobody to tell that nobody can be told
    _exit(code & 0xff ? code & 0xff : 1);
}

/// Writes the sentence on standard error. mpiexec knows it by the rank state, and tells it once if many ranks say the
/// same.
static void say(RankState* rank_state, std::string const& sentence) {
    std::string const line = rank_state ? join("rank ", rank_state->world_rank, ": ", sentence, "\n") : sentence + "\n";
    if (rank_state && sentence.size() < sizeof rank_state->last_words) {
        std::memcpy(rank_state->last_words, sentence.c_str(), sentence.size() + 1);
        rank_state->said.store(1, std::memory_order_release);
    }
    std::fflush(stdout);
    if (write(2, line.data(), line.size()) < 0) {}   // nobody to tell that nobody can be told
}

void abort_job(int code, std::string const& sentence) {
    if (library().stage == Stage::child) end_child(code, sentence);
    RankState* const rank_state = library().rank_state ? library().rank_state : launchers_rank_state();
    if (!sentence.empty()) say(rank_state, sentence);
    if (library().process) {
        rank_state->abort_code.store(code, std::memory_order_relaxed);
        rank_state->state.store(RankPhase::aborted, std::memory_order_release);
    }
    std::fflush(nullptr);
    if (job_server()) job_server()->abort(code & 0xff ? code & 0xff : 1, sentence);
    _exit(code & 0xff ? code & 0xff : 1);
}

}   // namespace tutti
