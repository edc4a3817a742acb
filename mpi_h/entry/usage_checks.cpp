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

std::uint64_t call_site_of(Process const& process) { return program_site(process.call_site); }

}   // namespace

void FreedHandles::record(Process const& process, int handle) {
    entries_[index_of(handle)] = {handle, process.call_function, call_site_of(process)};
}

void FreedHandles::report_use(Process& process, std::string const& call, char const* argument, int handle) const {
    char text[16];
    std::snprintf(text, sizeof text, "0x%08x", static_cast<unsigned>(handle));
    Entry const& freed = entries_[index_of(handle)];
    bool const known = freed.function && freed.handle == handle;
    std::vector<UsageError::Call> parts;
    if (known)
        parts.push_back(
            {process.rank(), freed.function.name(), join(argument, " was freed or completed here"), freed.site});
    parts.push_back({process.rank(), call, join(argument, " is ", text), call_site_of(process)});
    char const* const what =
        known ? " that was already freed or completed" : " that was never created, or was already freed";
    report(process,
           {"T13", join("rank ", process.rank(), " uses a handle as ", argument, what),
            "set handle variables to their null values (MPI_REQUEST_NULL, MPI_COMM_NULL …) while they hold no object, "
            "and do not use copies of freed handles",
            parts});
}

namespace {

std::uint64_t address_of(void const* site) { return reinterpret_cast<std::uintptr_t>(site); }

/// Ends the job with the report of `report`, or without one if memory is missing. Must not throw, because it runs
/// before the body of a call, where exceptions are not caught.
template <class Report>
[[noreturn]] void end_job(Process& process, Report const& report) {
    unless_out_of_memory([&report] { return report(), true; });
    process.end_job(launch::program_error_code, "no memory");
    std::abort();
}

}   // namespace

void ThreadCheck::enter(Function function, void const* site) {
    if (p2p::Checks* const checks = process_.p2p ? p2p::engine(process_).checks() : nullptr)
        checks->call_order.on_call(function);
    auto const me = static_cast<std::uint64_t>(pthread_self());
    if (level_ < MPI_THREAD_SERIALIZED) {
        if (me != main_) end_job(process_, [&] { report_wrong_thread(function, site); });
        return;
    }
    std::uint64_t active = 0;
    if (!active_thread_.compare_exchange_strong(active, me, std::memory_order_acquire) && active != me)
        end_job(process_, [&] { report_concurrent_call(function, site); });
    if (++depth_ > 1) return;
    function_.store(function, std::memory_order_relaxed);
    site_.store(site, std::memory_order_relaxed);
}

void ThreadCheck::leave() {
    if (level_ < MPI_THREAD_SERIALIZED || --depth_ != 0) return;
    active_thread_.store(0, std::memory_order_release);
}

void ThreadCheck::report_wrong_thread(Function function, void const* site) const {
    bool const funneled = level_ == MPI_THREAD_FUNNELED;
    UsageError::Call const parts[] = {
        {process_.rank(), function.name(), "not in the thread that called MPI_Init", program_site(site)}};
    report(process_,
           {"T18", join("rank ", process_.rank(), " calls ", function.name(), " in a thread that may not call MPI"),
            funneled ? "with MPI_THREAD_FUNNELED only the thread that initialized MPI may call it; request "
                       "MPI_THREAD_SERIALIZED or MPI_THREAD_MULTIPLE in MPI_Init_thread"
                     : "with MPI_THREAD_SINGLE, which MPI_Init provides, only one thread may call MPI; request "
                       "MPI_THREAD_SERIALIZED or MPI_THREAD_MULTIPLE in MPI_Init_thread",
            parts});
}

void ThreadCheck::report_concurrent_call(Function function, void const* site) const {
    UsageError::Call const parts[] = {
        {process_.rank(), function_.load(std::memory_order_relaxed).name(), "one thread is inside this call",
         address_of(site_.load(std::memory_order_relaxed))},
        {process_.rank(), function.name(), "another thread makes this call", program_site(site)}};
    report(process_, {"T18", join("two threads of rank ", process_.rank(), " call MPI at the same time"),
                      "with MPI_THREAD_SERIALIZED only one thread may be in an MPI call at a time, also while the "
                      "call waits: protect all calls with a lock, or request MPI_THREAD_MULTIPLE in MPI_Init_thread",
                      parts});
}

}   // namespace tutti
