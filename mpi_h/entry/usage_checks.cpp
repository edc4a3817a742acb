// SPDX-License-Identifier: BSD-3-Clause
// Reports of freed handles that are used again, and of calls by a thread that must not call.
#include "mpi_h/entry/usage_checks.hpp"

#include <pthread.h>

#include <cstdio>
#include <cstdlib>
#include <vector>

#include "mpi_h/include/mpi.h"
#include "p2p/engine.hpp"
#include "runtime/base/error.hpp"
#include "runtime/diagnostic.hpp"
#include "runtime/settings/launch.hpp"
#include "runtime/state/call_site.hpp"

namespace tutti {
namespace {

std::uint64_t here(Process const& process) { return program_site(process.call_site); }

}   // namespace

void FreedHandles::note(Process const& process, int handle) {
    places_[place_of(handle)] = {handle, process.call_name, here(process)};
}

void FreedHandles::refuse(Process& process, std::string const& call, char const* argument, int handle) const {
    char text[16];
    std::snprintf(text, sizeof text, "0x%08x", static_cast<unsigned>(handle));
    Place const& freed = places_[place_of(handle)];
    bool const known = freed.call && freed.handle == handle;
    std::vector<Mistake::Part> parts;
    if (known) parts.push_back({process.rank(), freed.call, join(argument, " ends here"), freed.site});
    parts.push_back({process.rank(), call, join(argument, " is ", text), here(process)});
    char const* const what =
        known ? " that is freed or complete already" : " that was never made, or was freed already";
    report(process,
           {"T13", join("rank ", process.rank(), " uses a handle as ", argument, what),
            "set variables of handles to their null values (MPI_REQUEST_NULL, MPI_COMM_NULL …) until they have "
            "one, keep no copies of what is freed, and free at the end",
            parts});
}

namespace {

std::uint64_t number(void const* site) { return reinterpret_cast<std::uintptr_t>(site); }

/// Ends the job with the report of `refuse`, or without one if memory is missing. Must not throw, because it runs
/// before the body of a call, where exceptions are not caught.
template <class Refuse>
[[noreturn]] void end_job(Process& process, Refuse const& refuse) {
    unless_out_of_memory([&refuse] { return refuse(), true; });
    process.end_job(launch::mistake_code, "no memory");
    std::abort();
}

}   // namespace

void ThreadCheck::enter(char const* name, void const* site) {
    if (p2p::Checks* const checks = process_.p2p ? p2p::engine(process_).checks() : nullptr)
        checks->call_order.may_learn_in(name);
    auto const me = static_cast<std::uint64_t>(pthread_self());
    if (level_ < MPI_THREAD_SERIALIZED) {
        if (me != main_) end_job(process_, [&] { refuse_thread(name, site); });
        return;
    }
    std::uint64_t nobody = 0;
    if (!inside_.compare_exchange_strong(nobody, me, std::memory_order_acquire) && nobody != me)
        end_job(process_, [&] { refuse_second(name, site); });
    if (++depth_ > 1) return;
    name_.store(name, std::memory_order_relaxed);
    site_.store(site, std::memory_order_relaxed);
}

void ThreadCheck::leave() {
    if (level_ < MPI_THREAD_SERIALIZED || --depth_ != 0) return;
    inside_.store(0, std::memory_order_release);
}

void ThreadCheck::refuse_thread(char const* name, void const* site) const {
    bool const funneled = level_ == MPI_THREAD_FUNNELED;
    Mistake::Part const parts[] = {
        {process_.rank(), name, "by another thread than that of MPI_Init", program_site(site)}};
    report(
        process_,
        {"T18", join("rank ", process_.rank(), " calls ", name, " in a thread that may not call MPI"),
         funneled ? "with MPI_THREAD_FUNNELED only the thread that has initialised MPI calls it; ask for "
                    "MPI_THREAD_SERIALIZED or MPI_THREAD_MULTIPLE in MPI_Init_thread"
                  : "MPI_Init promises that there is one thread (MPI_THREAD_SINGLE); ask for MPI_THREAD_SERIALIZED or "
                    "MPI_THREAD_MULTIPLE in MPI_Init_thread",
         parts});
}

void ThreadCheck::refuse_second(char const* name, void const* site) const {
    Mistake::Part const parts[] = {{process_.rank(), name_.load(std::memory_order_relaxed),
                                    "one thread is in this call", number(site_.load(std::memory_order_relaxed))},
                                   {process_.rank(), name, "and another one makes this one", program_site(site)}};
    report(process_, {"T18", join("two threads of rank ", process_.rank(), " call MPI at the same time"),
                      "with MPI_THREAD_SERIALIZED one thread calls at a time, and a call that waits counts: put a lock "
                      "around all calls, or ask for MPI_THREAD_MULTIPLE in MPI_Init_thread",
                      parts});
}

}   // namespace tutti
