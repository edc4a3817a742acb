// SPDX-License-Identifier: BSD-3-Clause
// Whether the program's threads call as it has promised (MPI 3.1, 12.4): below MPI_THREAD_SERIALIZED the thread of
// MPI_Init alone, with it one at a time. A call that breaks that ends the job. Any thread may ask at any time.
#pragma once

#include <atomic>
#include <cstdint>

#include "runtime/process.hpp"

namespace tutti {

class ThreadCheck final : public CallWatch {
public:
    /// `main_thread`: pthread_self() of the caller of MPI_Init.
    ThreadCheck(Process& process, int level, std::uint64_t main_thread)
        : process_(process), level_(level), main_(main_thread) {}

    /// Around a call of this name, made at this place. Calls of callbacks lie within others.
    void enter(char const* name, void const* site) override;
    void leave() override;

private:
    [[noreturn]] void refuse_thread(char const* name, void const* site) const;
    [[noreturn]] void refuse_second(char const* name, void const* site) const;

    Process& process_;
    int const level_;
    std::uint64_t const main_;
    // With MPI_THREAD_SERIALIZED; where one thread alone calls, all of them are compared with that. Who is inside owns
    // the depth: it is handed over by the exchange (acquire) that finds what leaving has stored (release). Name and
    // place are only told, by one who may find those of the call before.
    std::atomic<std::uint64_t> inside_{0};     ///< the thread in a call; 0: none
    std::atomic<char const*> name_{""};        ///< of its call,
    std::atomic<void const*> site_{nullptr};   ///< and where that is
    unsigned depth_ = 0;                       ///< of calls within its call; its own
};

}   // namespace tutti
