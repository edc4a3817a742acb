// SPDX-License-Identifier: BSD-3-Clause
// Whether the threads of this process that wait in MPI are all that could act. Any other one may call MPI, though it
// never has; so each of them counts, unless it sleeps where nobody but a thread of this process wakes it.
//
// What is proven, when nobody may act (the caller is inside the rank's lock, the threads named are in their waits
// and outside of it, and run no code of the program before the caller leaves the lock):
// Named besides are threads of libraries that call no MPI and wake no thread that may (ShownWaits::exempt).
// Alone: the threads that the system lists are those named. Only a thread that runs makes threads, and none of these
// does until it is released.
// Asleep: every other thread sleeps in futex(2) without a time limit, at a word that no other process can wake: of this
// process alone, or in memory that it shares with nobody. So only threads of this process wake it. It is looked at
// twice, and has not run between: so there was a moment at which all of them slept, and since then nobody has run who
// could wake one or make another. Condition variables, semaphores, mutexes and joins sleep so, and with them the idle
// workers of OpenMP and of libraries for linear algebra. Not so: sleep(), sockets, files, anything with a time limit.
// Signals: a handler may wake a thread (sem_post). So the program must have no handlers but for faults, which end it;
// those of Fortran's library, which end it, too; and Python's, which only leave a note for the main thread, where that
// one is among those that wait.
// Costs some ten microseconds, and some forty more for each thread that sleeps.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include <sys/types.h>

namespace tutti {

/// The threads of this process, by the numbers of gettid(); empty: not known.
std::vector<pid_t> threads_of_process();

/// May a thread act, or be made to, that is not named? `waiting`: numbers of gettid(). True where that cannot be told,
/// and without a look at them where more than `most` threads are not named.
bool others_may_act(std::span<pid_t const> waiting, std::size_t most);

/// Of a thread's line in /proc/…/syscall: the word at which it sleeps until somebody wakes it. Null: it does something
/// else, or may wake by itself. `shared`: other processes could wake it, if they have that memory.
struct FutexSleep {
    std::uintptr_t word = 0;
    bool shared = false;
};
FutexSleep futex_sleep_in(std::string_view syscall_line);

/// Of /proc/…/maps: the line of the mapping that the address lies in; empty: none.
std::string_view mapping_in(std::string_view maps, std::uintptr_t address);

}   // namespace tutti
