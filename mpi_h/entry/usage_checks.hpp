// SPDX-License-Identifier: BSD-3-Clause
// Usage checks under --check, and the report of MPI_Finalize. FreedHandles records where handles were freed, for
// reports of their later use. Once the number of a freed handle is reused, a later use of it is not detected.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <vector>

#include "mpi_h/entry/library_state.hpp"
#include "runtime/process.hpp"

namespace tutti {

class FreedHandles {
public:
    /// The current call of this rank has freed the handle or completed its request.
    void record(Process const& process, int handle);
    /// Ends the job: the current call of this rank, which `call` describes with its arguments, received an invalid
    /// handle as `argument`.
    [[noreturn]] void report_use(Process& process, std::string const& call, char const* argument, int handle) const;

private:
    struct Entry {
        int handle = 0;
        Function function;   ///< none: unknown
        std::uint64_t site = 0;
    };
    static constexpr unsigned max_entries = 4096;

    static std::size_t index_of(int handle) { return static_cast<unsigned>(handle) * 0x9e3779b1U >> 20; }

    /// By hash of the handle; a colliding handle replaces the entry.
    std::vector<Entry> entries_ = std::vector<Entry>(max_entries);
};

// Thread level: below MPI_THREAD_SERIALIZED only the thread of MPI_Init may call, and with MPI_THREAD_SERIALIZED one
// thread at a time (MPI 3.1, 12.4). A violation ends the job. May be called by any thread at any time.

class ThreadCheck final : public Observer {
public:
    /// `main_thread`: pthread_self() of the caller of MPI_Init.
    ThreadCheck(Process& process, int level, std::uint64_t main_thread)
        : process_(process), level_(level), main_(main_thread) {}

    /// Called at the beginning and end of a call of `function`, made at `site`. Calls made by callbacks are nested.
    void enter(Function function, void const* site) override;
    void leave() override;

private:
    [[noreturn]] void report_wrong_thread(Function function, void const* site) const;
    [[noreturn]] void report_concurrent_call(Function function, void const* site) const;

    Process& process_;
    int const level_;
    std::uint64_t const main_;
    // For MPI_THREAD_SERIALIZED; below that level, threads are compared with the main thread only. The thread stored in
    // active_thread_ owns depth_: ownership passes by the exchange (acquire) that reads what the leaving thread stored
    // (release). function_ and site_ are only reported; a reader may see those of the previous call.
    std::atomic<std::uint64_t> active_thread_{0};   ///< the thread in a call; 0: none
    std::atomic<Function> function_{};              ///< function of its call
    std::atomic<void const*> site_{nullptr};        ///< site of its call
    unsigned depth_ = 0;                            ///< nesting depth of its calls; owned by that thread
};

// Unfinished requests, messages and objects at MPI_Finalize.

/// Warns of requests that were not completed and of messages that were not received; with TUTTI_DIAGNOSIS=full also of
/// objects that were not freed, which are otherwise only counted (RankState::not_freed). Must be called when no more
/// messages can arrive and before any state is destroyed.
void check_at_finalize(LibraryState& f);

}   // namespace tutti
