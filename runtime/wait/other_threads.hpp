// SPDX-License-Identifier: BSD-3-Clause
// Decides whether threads other than those waiting in MPI could still act. Any thread may call MPI even if it never
// has, so each of them counts, unless it sleeps where only a thread of this process can wake it.
//
// What is proven if others_may_act() returns false, given that the caller holds the rank's lock and that the named
// threads are in their waits, outside the lock, and run no code of the program before the caller releases the lock.
// Also named are library threads that call no MPI and wake no thread that does (BlockedWaits::exempt). Proof:
// Alone: the threads that the system lists are exactly those named. Only a running thread creates threads, and none
// of these runs until it is released.
// Asleep: every other thread sleeps in futex(2) without a timeout, on a word that no other process can wake, because
// the futex is private to this process or lies in memory that no other process shares. So only threads of this
// process can wake it. Each such thread is inspected twice and has not run in between; hence there was a moment at
// which all of them slept, and since then no thread has run that could wake one or create another. Condition
// variables, semaphores, mutexes and joins sleep this way, and with them the idle workers of OpenMP and of linear
// algebra libraries. Not covered: sleep(), sockets, files, and anything with a timeout.
// Signals: a handler may wake a thread (sem_post). So the program must have no handlers except for faults, which end
// it; those of the Fortran library, which also end it; and Python's, which only leave a note for the main thread,
// provided that the main thread is among the waiting ones.
// Takes about ten microseconds, plus about forty for each sleeping thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include <sys/types.h>

namespace tutti {

/// Returns the threads of this process (gettid()); empty if unknown.
std::vector<pid_t> threads_of_process();

/// Returns true if a thread other than those in `waiting` (gettid()) may act or be made to act, if that cannot be
/// determined, and, without inspecting them, if there are more than `max_others` other threads.
bool others_may_act(std::span<pid_t const> waiting, std::size_t max_others);

/// The futex word on which a thread sleeps until it is woken, from its line in /proc/…/syscall. Null: the thread does
/// something else, or may wake by itself. `shared`: other processes that share the memory could wake it.
struct FutexSleep {
    std::uintptr_t word = 0;
    bool shared = false;
};
FutexSleep parse_futex_sleep(std::string_view syscall_line);

}   // namespace tutti
