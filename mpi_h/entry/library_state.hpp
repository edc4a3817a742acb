// SPDX-License-Identifier: BSD-3-Clause
// The process's one LibraryState: the objects that an MPI program refers to without a handle. Other global state: the
// launcher's server (job_server()), which may be queried before and after the job, and the arena of the process
// (runtime/memory/arena/).
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "mpi_h/abi/abi.hpp"
#include "mpi_h/entry/abort.hpp"
#include "runtime/job/join_job.hpp"
#include "runtime/process.hpp"

namespace tutti {

namespace tool {
struct State;
}
class ThreadCheck;
class FreedHandles;
class FortranCallSites;

/// `forked_child`: a process forked by a running rank, which must not touch the job's memory and connections.
enum class Stage { before_init, running, after_finalize, forked_child };

/// Number of error codes per class: a multiple of the size of LibraryState::error_messages, and small enough that codes
/// stay below MPI_ERR_LASTCODE.
inline constexpr unsigned codes_per_class = 1u << 20;

struct LibraryState {
    std::atomic<Stage> stage = Stage::before_init;   ///< may be read by any thread at any time
    /// The process's waiter if each call must take the process's lock: several threads may call, calls are traced or
    /// checked (--check), or Fortran is between the program and the library. Otherwise null.
    std::atomic<Waiter*> call_waiter = nullptr;
    std::shared_ptr<FortranCallSites> fortran_call_sites;   ///< null: no calls come from Fortran
    int thread_level = MPI_THREAD_SINGLE;
    std::uint64_t main_thread = 0;   ///< pthread_self() of the caller of MPI_Init
    bool check_arguments = true;
    bool reports_exit = false;   ///< watch_for_exit has been called
    std::unique_ptr<Segment> segment;
    std::unique_ptr<Process> process;
    RankState* rank_state = nullptr;   ///< set as soon as MPI_Init has found it
    abi::Tables tables;
    /// Memory of MPI_Alloc_mem that MPI_Free_mem has not freed; only with TUTTI_DIAGNOSIS=full.
    struct Allocated {
        std::size_t bytes;
        void const* site;
    };
    std::map<void const*, Allocated> allocated;
    // State of --check; null without it.
    std::shared_ptr<ThreadCheck> thread_check;
    std::shared_ptr<FreedHandles> freed_handles;
    std::uint64_t searches = 0;          ///< number of calls that searched among requests; see mpi_h/p2p/requests.cpp
    std::shared_ptr<tool::State> tool;   ///< state of MPI_T; null before its first use
    /// Held in MPI_T calls, which may precede MPI_Init; acquired after the process's lock.
    std::recursive_mutex tool_lock;
    /// Types of MPI_Type_create_f90_*, by (combiner, p, r): equal arguments return the same type (MPI 3.1, 17.1.9).
    std::map<std::array<int, 3>, MPI_Datatype> f90_types;

    /// Messages of the last errors, so that MPI_Error_string can return more than the class. An error code is its class
    /// in the low seven bits and a sequence number from bit 8 on; the sequence number modulo the size is the index in
    /// this ring.
    struct ErrorMessage {
        int code = 0;
        std::string text;
    };
    std::array<ErrorMessage, 256> error_messages;
    unsigned next_message = 0;

    /// Classes and codes that the program added; the first one has the number MPI_ERR_LASTCODE + 1. A class is a code
    /// whose class is itself. The last entry is never a removed one.
    struct AddedCode {
        std::optional<int> error_class;   ///< none: removed, the number is free
        std::optional<std::string> text;
    };
    std::vector<AddedCode> added_codes;
    int last_used_code = MPI_ERR_LASTCODE;   ///< the attribute MPI_LASTUSEDCODE points here
};

extern std::atomic<LibraryState*> the_library_state;   ///< null before the first use
/// The same while calls may use it without the process's lock and without other checks of the state: the library is
/// running, a single thread may call, and calls are neither traced nor checked (Waiter::must_wrap_calls). Otherwise
/// null.
extern std::atomic<LibraryState*> unlocked_library_state;
LibraryState& create_library_state();
/// Returns the process's state, which the first call creates. May be called by any thread at any time.
[[gnu::always_inline]] inline LibraryState& library() {
    LibraryState* f = the_library_state.load(std::memory_order_acquire);
    return f ? *f : create_library_state();
}
/// Must be called between MPI_Init and MPI_Finalize only.
inline Waiter& waiter() { return library().process->waiter; }
/// Records, under --check, that the running call frees the handle or completes its request.
void record_freed(int handle);

/// Holds the process's lock during its lifetime if several threads may call.
class CallScope {
public:
    explicit CallScope(Waiter* call_waiter) : entered_{call_waiter, nullptr} {
        if (call_waiter) [[unlikely]]
            call_waiter->enter();
    }
    /// For a call of the program, which may be traced; `frame` is above its return address `site` on the stack.
    [[gnu::always_inline]] CallScope(Waiter* call_waiter, Function function, void const* site, void const* frame)
        : entered_{nullptr, site}, function_(function) {
        if (call_waiter) [[unlikely]]
            entered_ = enter_call(*call_waiter, function, site, frame);
    }
    [[gnu::always_inline]] ~CallScope() {
        if (entered_.waiter) [[unlikely]]
            function_ ? entered_.waiter->leave_call() : entered_.waiter->leave();
    }
    CallScope(CallScope const&) = delete;
    CallScope& operator=(CallScope const&) = delete;

    /// Return address of the call in the program.
    void const* site() const { return entered_.site; }

private:
    struct Entered {      ///< small enough for registers
        Waiter* waiter;   ///< null: nothing to do at the end of the call
        void const* site;
    };
    static Entered enter_call(Waiter& waiter, Function function, void const* site, void const* frame);

    Entered entered_;
    Function const function_;   ///< none: not a call of the program
};

/// Work of MPI_Init: reads the settings, joins the segment (or creates one for a world of one process), and creates the
/// predefined objects. Throws Error.
void start(LibraryState& f, int thread_level);
/// Work of MPI_Finalize: attribute callbacks of MPI_COMM_SELF, barriers, then destruction of all state.
void finish(LibraryState& f);

/// Stores the present and the maximum use of this process's arena in its rank state.
void record_arena_use(RankState& rank_state);

/// Returns the rank state that mpiexec has for this process, before MPI_Init has found it; null if mpiexec did not
/// start the process.
RankState* launcher_rank_state();

/// Stores the predefined datatypes and operators under their handles; once per process (predefined_types.cpp).
void place_predefined_types(abi::Tables& tables);
void place_predefined_ops(abi::Tables& tables);

// MPI_INFO_ENV: how this process was started (MPI 3.1, 8.7).

/// Kinds of memory for buffers, in every info that the library returns (MPI 4.1, 11.4.3): memory from MPI_Alloc_mem and
/// similar functions, and memory from the system.
inline constexpr char memory_kinds_key[] = "mpi_memory_alloc_kinds", memory_kinds[] = "mpi,system";

/// Sets the standard's keys whose values this process knows.
void describe_start(Info& info, LibraryState const& f);

/// Creates the predefined object behind MPI_INFO_ENV; part of MPI_Init.
void place_info_env(LibraryState& f);

// The server of the launcher if that is not Tutti's mpiexec. Not in LibraryState, because only the start and the end of
// a rank use it.

/// Null before MPI_Init, after MPI_Finalize, without a launcher, in a job of one process, and under Tutti's mpiexec.
std::unique_ptr<JobServer>& job_server();

/// Requests that the server end the job, if there is one. Any thread may call it; the process ends next.
void abort_by_job_server(int code, std::string const& message) noexcept;

// Strings that the library writes into the program's memory.

/// Copies as much of `text` as fits into `room` characters, including the terminating zero. Returns the length without
/// it.
inline int copy_text(std::string const& text, char* to, std::size_t room) {
    std::size_t n = std::min(text.size(), room - 1);
    std::memcpy(to, text.data(), n);
    to[n] = '\0';
    return static_cast<int>(n);
}

}   // namespace tutti
