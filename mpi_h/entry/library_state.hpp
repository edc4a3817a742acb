// SPDX-License-Identifier: BSD-3-Clause
// The process's one LibraryState: what an MPI program means when it names no object. What else is global: the server of
// the launcher (job_server.hpp), which may be asked before and after the job, and the arena of the process
// (runtime/arena).
#pragma once

#include <array>
#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "mpi_h/abi/abi.hpp"
#include "mpi_h/entry/ending.hpp"
#include "runtime/process.hpp"

namespace tutti {

namespace tool {
struct State;
}
struct RecentCollectives;
class ThreadCheck;
class FreedHandles;
class FortranCallSites;

/// `child`: of a running rank, made by its fork(); of the job it has only what it must not touch.
enum class Stage { before, running, after, child };

/// How many error codes there are of each class: a multiple of the size of LibraryState::sentences, and so few that
/// codes stay below MPI_ERR_LASTCODE.
inline constexpr unsigned error_code_numbers = 1u << 20;

struct LibraryState {
    std::atomic<Stage> stage = Stage::before;   ///< any thread may ask at any time
    std::atomic<Waiter*> shared = nullptr;      ///< the process's, when several threads may be in its calls, they are
                                                ///< traced, --check looks at them, or Fortran's lie between
    std::shared_ptr<FortranCallSites> fortran_call_sites;   ///< null: no calls come from Fortran
    int thread_level = MPI_THREAD_SINGLE;
    std::uint64_t main_thread = 0;   ///< pthread_self() of the caller of MPI_Init
    bool check_arguments = true;
    bool reports_exit = false;   ///< watch_for_exit has been called
    std::unique_ptr<Segment> segment;
    std::unique_ptr<Process> process;
    RankState* rank_state = nullptr;   ///< this rank's, as soon as MPI_Init has found it
    abi::Tables tables;
    /// Numbers of noted calls (coll/match/functions.hpp), found once by where their names lie.
    struct KnownFunction {
        char const* name = nullptr;
        std::uint8_t number = 0;
    };
    std::array<KnownFunction, 64> known_functions;
    std::shared_ptr<RecentCollectives> recent_collectives;   ///< null before the first one
    /// Windows by their handles, of which the common calls find them (mpi_h/windows/common_calls.hpp). A window is here
    /// only while it lives, the library runs, and one thread alone may be in its calls: so nothing of that need be
    /// looked at.
    struct RecentWindow {
        MPI_Win handle;
        rma::Window* window = nullptr;   ///< null: there is none, and the handle is one that belongs at another place
    };
    std::array<RecentWindow, 4> recent_windows{{{1}, {0}, {3}, {2}}};
    RecentWindow& recent_window(MPI_Win handle) {
        return recent_windows[static_cast<unsigned>(handle) % recent_windows.size()];
    }
    /// One of the three has changed. Where several threads call there is nothing to forget, and nothing is written.
    void forget_windows() {
        for (int place = 0; RecentWindow & recent : recent_windows) {
            if (recent.window) recent = {place ^ 1};
            ++place;
        }
    }
    /// What MPI_Alloc_mem has given and MPI_Free_mem has not taken back, with TUTTI_DIAGNOSIS=full.
    struct Allocated {
        std::size_t bytes;
        void const* site;
    };
    std::map<void const*, Allocated> allocated;
    // What --check keeps; null: it is not wanted.
    std::shared_ptr<ThreadCheck> thread_check;
    std::shared_ptr<FreedHandles> freed_handles;
    std::uint64_t searches = 0;          ///< calls that chose among requests; see mpi_h/p2p/requests.cpp
    std::shared_ptr<tool::State> tool;   ///< of the interface for tools; null before its first use
    std::recursive_mutex tool_lock;      ///< of its calls, which may come before MPI_Init; taken inside the lock
    /// What MPI_Type_create_f90_* made, by (combiner, p, r): equal arguments give the same type (MPI 3.1, 17.1.9).
    std::map<std::array<int, 3>, MPI_Datatype> f90_types;

    /// The last errors' sentences, so that MPI_Error_string can give back more than the class: an error code is its
    /// class in the low seven bits and a running number from bit 8, whose remainder is the place in this ring.
    struct Sentence {
        int code = 0;
        std::string text;
    };
    std::array<Sentence, 256> sentences;
    unsigned next_sentence = 0;

    /// Classes and codes that the program added; the first one's number is MPI_ERR_LASTCODE + 1. A class is a code of
    /// its own class. The last one is never a removed one.
    struct AddedCode {
        std::optional<int> error_class;   ///< none: removed, its number is free
        std::optional<std::string> text;
    };
    std::vector<AddedCode> added_codes;
    int last_used_code = MPI_ERR_LASTCODE;   ///< the attribute MPI_LASTUSEDCODE points here
};

extern std::atomic<LibraryState*> the_library_state;   ///< null until somebody asks
LibraryState& make_library_state();
[[gnu::always_inline]] inline LibraryState& library() {
    LibraryState* f = the_library_state.load(std::memory_order_acquire);
    return f ? *f : make_library_state();
}
inline Waiter& waiter() { return library().process->waiter; }
/// The running call frees a handle, or completes its request: for who uses it again. Without --check nothing.
void note_freed(int handle);

/// Inside the process's lock while it lives, if several threads may call.
class Inside {
public:
    explicit Inside(Waiter* shared) : entered_{shared, nullptr}, call_(nullptr) {
        if (shared) [[unlikely]]
            shared->enter();
    }
    /// In a call of the program's, which may be traced; `frame` lies above its return address `site` on the stack.
    [[gnu::always_inline]] Inside(Waiter* shared, char const* call, void const* site, void const* frame)
        : entered_{nullptr, site}, call_(call) {
        if (shared) [[unlikely]]
            entered_ = enter_call(*shared, call, site, frame);
    }
    [[gnu::always_inline]] ~Inside() {
        if (entered_.waiter) [[unlikely]]
            call_ ? entered_.waiter->leave_call() : entered_.waiter->leave();
    }
    Inside(Inside const&) = delete;
    Inside& operator=(Inside const&) = delete;

    /// Where the program goes on after the call.
    void const* site() const { return entered_.site; }

private:
    struct Entered {      ///< small enough for registers
        Waiter* waiter;   ///< null: nothing is to be done at the call's end
        void const* site;
    };
    static Entered enter_call(Waiter& waiter, char const* call, void const* site, void const* frame);

    Entered entered_;
    char const* const call_;   ///< null: none
};

/// MPI_Init's work: reads the variables, joins the segment (or makes one for a world of one), makes the predefined
/// objects. Throws Error with a sentence.
void start(LibraryState& f, int thread_level);
/// MPI_Finalize's work: attribute callbacks of MPI_COMM_SELF, a barrier, then the end of everything.
void finish(LibraryState& f);

/// Writes how much of this process's arena is and was in use onto its state.
void note_arena_use(RankState& rank_state);

/// The rank state that mpiexec has for this process, before MPI_Init looks for it; null when mpiexec has not started
/// it.
RankState* launchers_rank_state();

/// Makes the predefined datatypes and operators known by their handles; once per process (predefined_types.cpp).
void place_predefined_types(abi::Tables& tables);
void place_predefined_ops(abi::Tables& tables);

}   // namespace tutti
