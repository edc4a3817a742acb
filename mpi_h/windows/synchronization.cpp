// SPDX-License-Identifier: BSD-3-Clause
// Synchronization: fence, post/start/complete/wait, locks, flushes (MPI 3.1, 11.5). Calls on MPI_PROC_NULL return
// immediately.
#include "mpi_h/windows/fast_calls.hpp"
#include "rma/epochs.hpp"

namespace tutti {
namespace {

[[gnu::cold, gnu::noinline]] void bad_assertions(int asserted, int allowed) {
    static constexpr std::pair<int, char const*> names[] = {{MPI_MODE_NOCHECK, "MPI_MODE_NOCHECK"},
                                                            {MPI_MODE_NOSTORE, "MPI_MODE_NOSTORE"},
                                                            {MPI_MODE_NOPUT, "MPI_MODE_NOPUT"},
                                                            {MPI_MODE_NOPRECEDE, "MPI_MODE_NOPRECEDE"},
                                                            {MPI_MODE_NOSUCCEED, "MPI_MODE_NOSUCCEED"}};
    std::string here = "0";
    for (auto [bit, name] : names) {
        if (allowed & bit) here += join(", ", name);
        else if (asserted & bit) fail(ErrorClass::assertion, "assert has ", name, ", which is not valid for this call");
    }
    fail(ErrorClass::assertion, "assert is ", asserted, " but must be a combination of ", here);
}

/// Returns the assertions of a call. `allowed`: the bits that are valid for the call.
inline rma::Assertions assertions(Call const& call, int asserted, int allowed) {
    if ((asserted & ~allowed) && call.library_state().check_arguments) [[unlikely]]
        bad_assertions(asserted, allowed);
    return {(asserted & MPI_MODE_NOCHECK) != 0, (asserted & MPI_MODE_NOSTORE) != 0, (asserted & MPI_MODE_NOPUT) != 0,
            (asserted & MPI_MODE_NOPRECEDE) != 0, (asserted & MPI_MODE_NOSUCCEED) != 0};
}

Ref<Group> checked_subgroup(Call& call, rma::Window const& w, MPI_Group handle) {
    Group& group = call.group(handle);
    for (int world : group.world_ranks())
        if (w.comm->group->rank_of(world) < 0)
            fail(ErrorClass::group, "group contains world rank ", world, ", which is not in the window's group");
    return Ref<Group>::share(&group);
}

/// Calls that concern a window only. Not inlined, so that a flush in its fast form need not save registers for it.
template <auto body>
[[gnu::noinline]] int call_on_window(Function function, MPI_Win win) {
    return enter(
        function, args(win), [&](Call & call) __attribute__((always_inline)) {
            rma::Window& w = call.win(win);
            recorded(w, call.name(), [&] { body(w, call.name()); });
        });
}

/// Calls that concern one rank of a window.
template <auto body>
[[gnu::noinline]] int call_on_rank(Function function, int rank, MPI_Win win) {
    return enter(
        function, args(rank, win), [&](Call & call) __attribute__((always_inline)) {
            rma::Window& w = call.win(win);
            call.target(w, rank, "rank");
            if (rank == MPI_PROC_NULL) [[unlikely]]
                return;
            recorded(w, call.name(), [&] { body(w, rank, call.name()); });
        });
}

}   // namespace
}   // namespace tutti

using namespace tutti;

TUTTI_FUNCTION(Win_fence);
int PMPI_Win_fence(int assert, MPI_Win win) {
    return enter(args(assert, win), [&](Call& call) {
        constexpr int allowed = MPI_MODE_NOSTORE | MPI_MODE_NOPUT | MPI_MODE_NOPRECEDE | MPI_MODE_NOSUCCEED;
        rma::Window& w = call.win(win);
        auto const checked = assertions(call, assert, allowed);
        recorded(w, call.name(), [&] { rma::fence(w, checked, call.name()); });
    });
}

TUTTI_FUNCTION(Win_post);
int PMPI_Win_post(MPI_Group group, int assert, MPI_Win win) {
    return enter(args(group, assert, win), [&](Call& call) {
        rma::Window& w = call.win(win);
        Ref<Group> origins = checked_subgroup(call, w, group);
        auto const checked = assertions(call, assert, MPI_MODE_NOCHECK | MPI_MODE_NOSTORE | MPI_MODE_NOPUT);
        recorded(w, call.name(), [&] { rma::post(w, std::move(origins), checked, call.name()); });
    });
}

TUTTI_FUNCTION(Win_start);
int PMPI_Win_start(MPI_Group group, int assert, MPI_Win win) {
    return enter(args(group, assert, win), [&](Call& call) {
        rma::Window& w = call.win(win);
        Ref<Group> targets = checked_subgroup(call, w, group);
        auto const checked = assertions(call, assert, MPI_MODE_NOCHECK);
        recorded(w, call.name(), [&] { rma::start(w, std::move(targets), checked, call.name()); });
    });
}

TUTTI_FUNCTION(Win_complete);
int PMPI_Win_complete(MPI_Win win) { return call_on_window<rma::complete>("MPI_Win_complete", win); }

TUTTI_FUNCTION(Win_wait);
int PMPI_Win_wait(MPI_Win win) { return call_on_window<rma::wait>("MPI_Win_wait", win); }

TUTTI_FUNCTION(Win_test);
int PMPI_Win_test(MPI_Win win, int* flag) {
    return enter(args(win, flag), [&](Call& call) {
        rma::Window& w = call.win(win);
        call.pointer(flag, "flag");
        recorded(w, call.name(), [&] { *flag = rma::test(w, call.name()); });
    });
}

TUTTI_FUNCTION(Win_lock);
int PMPI_Win_lock(int lock_type, int rank, int assert, MPI_Win win) {
    return enter(args(lock_type, rank, assert, win), [&](Call& call) {
        rma::Window& w = call.win(win);
        if (lock_type != MPI_LOCK_SHARED && lock_type != MPI_LOCK_EXCLUSIVE) [[unlikely]]
            fail(ErrorClass::locktype, "lock_type is ", lock_type,
                 " but must be MPI_LOCK_SHARED or MPI_LOCK_EXCLUSIVE");
        call.target(w, rank, "rank");
        auto const checked = assertions(call, assert, MPI_MODE_NOCHECK);
        if (rank == MPI_PROC_NULL) [[unlikely]]
            return;
        recorded(w, call.name(), [&] { rma::lock(w, lock_type == MPI_LOCK_EXCLUSIVE, rank, checked, call.name()); });
    });
}

TUTTI_FUNCTION(Win_unlock);
int PMPI_Win_unlock(int rank, MPI_Win win) { return call_on_rank<rma::unlock>("MPI_Win_unlock", rank, win); }

TUTTI_FUNCTION(Win_lock_all);
int PMPI_Win_lock_all(int assert, MPI_Win win) {
    return enter(args(assert, win), [&](Call& call) {
        rma::Window& w = call.win(win);
        auto const checked = assertions(call, assert, MPI_MODE_NOCHECK);
        recorded(w, call.name(), [&] { rma::lock_all(w, checked, call.name()); });
    });
}

TUTTI_FUNCTION(Win_unlock_all);
int PMPI_Win_unlock_all(MPI_Win win) { return call_on_window<rma::unlock_all>("MPI_Win_unlock_all", win); }

// Flushes have a fast form, too (rma/fast_path.hpp).

TUTTI_FUNCTION(Win_flush);
int PMPI_Win_flush(int rank, MPI_Win win) {
    rma::Window* const w = find_unlocked(win).window;
    if (w && rma::fast::flush(*w, rank)) [[likely]]
        return MPI_SUCCESS;
    return call_on_rank<rma::flush>("MPI_Win_flush", rank, win);
}

TUTTI_FUNCTION(Win_flush_all);
int PMPI_Win_flush_all(MPI_Win win) {
    rma::Window* const w = find_unlocked(win).window;
    if (w && rma::fast::flush_all(*w)) [[likely]]
        return MPI_SUCCESS;
    return call_on_window<rma::flush_all>("MPI_Win_flush_all", win);
}

TUTTI_FUNCTION(Win_flush_local);
int PMPI_Win_flush_local(int rank, MPI_Win win) {
    rma::Window* const w = find_unlocked(win).window;
    if (w && rma::fast::flush_local(*w, rank)) [[likely]]
        return MPI_SUCCESS;
    return call_on_rank<rma::flush_local>("MPI_Win_flush_local", rank, win);
}

TUTTI_FUNCTION(Win_flush_local_all);
int PMPI_Win_flush_local_all(MPI_Win win) {
    return call_on_window<rma::flush_local_all>("MPI_Win_flush_local_all", win);
}

[[gnu::noinline]] static int general_sync(MPI_Win win) {
    return enter("MPI_Win_sync", args(win), [&](Call& call) { rma::sync(call.win(win)); });
}

TUTTI_FUNCTION(Win_sync);
int PMPI_Win_sync(MPI_Win win) {
    rma::Window* const w = find_unlocked(win).window;
    if (!w) [[unlikely]]
        return general_sync(win);
    rma::sync(*w);
    return MPI_SUCCESS;
}
