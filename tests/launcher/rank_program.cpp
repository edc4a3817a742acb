// SPDX-License-Identifier: BSD-3-Clause
// A rank without MPI that performs its arguments in order, as far as the launcher observes them:
//   init finalise abort CODE | exit CODE | signal N | sleep SECONDS | wait REASON | only RANK (others skip the next
//   two words) | await RANK (until it has called init) | orphan SECONDS (leaves a process that sleeps in a new session)
//   | place (prints the processing unit to which the rank is bound, or -1) | overwrite BYTE (the shared parts of the
//   segment)
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

#include <unistd.h>

#include "runtime/memory/segment.hpp"
#include "runtime/settings/launch.hpp"
#include "topo/machine.hpp"

namespace {

using namespace tutti;

void leave_orphan(char const* seconds) {
    if (fork() != 0) return;
    setsid();
    if (fork() != 0) _exit(0);
    execlp("sleep", "sleep", seconds, nullptr);
    _exit(1);
}

void wait_with_reason(RankState& rank_state, char const* reason) {
    rank_state.blocked.thread[0].call.write(CallKind::other, reason, {}, "");
    rank_state.blocked.changes.fetch_add(1, std::memory_order_release);
    while (true) pause();
}

void print_place(Segment const& segment, unsigned rank) {
    auto map = topo::NodeMap::from_text(segment.machine());
    std::printf("%d\n", map && map->placement.fixed ? map->placement.pu.at(rank) : -1);
}

void overwrite(Segment const& segment, int byte) {
    std::memset(reinterpret_cast<char*>(&segment.header()), byte, segment.layout().inboxes);
    std::memset(reinterpret_cast<char*>(&segment.header()) + segment.layout().traces, byte,
                segment.layout().heaps - segment.layout().traces);
}

void await(RankState const& other) {
    while (other.state.load(std::memory_order_acquire) == RankPhase::absent) usleep(1000);
}

void abort_job(RankState& rank_state, int code) {
    rank_state.abort_code.store(code);
    rank_state.state.store(RankPhase::aborted, std::memory_order_release);
    _exit(code);
}

}   // namespace

int main(int argc, char** argv) {
    unsigned rank = static_cast<unsigned>(std::atoi(std::getenv(launch::rank_variable)));
    Segment segment = Segment::attach(std::atoi(std::getenv(launch::segment_variable)));
    RankState& rank_state = segment.rank_state(rank);
    for (int i = 1; i < argc; ++i) {
        std::string word = argv[i], next = i + 1 < argc ? argv[i + 1] : "";
        if (word == "only") i += next == std::to_string(rank) ? 1 : 3;
        else if (word == "init")
            rank_state.pid.store(getpid()), rank_state.state.store(RankPhase::initialised, std::memory_order_release);
        else if (word == "finalise") rank_state.state.store(RankPhase::finalised, std::memory_order_release);
        else if (word == "orphan") leave_orphan(next.c_str()), ++i;
        else if (word == "await") await(segment.rank_state(static_cast<unsigned>(std::stoi(next)))), ++i;
        else if (word == "place") print_place(segment, rank);
        else if (word == "abort") abort_job(rank_state, std::stoi(next));
        else if (word == "overwrite") overwrite(segment, std::stoi(next)), ++i;
        else if (word == "exit") _exit(std::stoi(next));
        else if (word == "signal") raise(std::stoi(next));
        else if (word == "sleep") usleep(static_cast<useconds_t>(std::stod(next) * 1e6)), ++i;
        else if (word == "wait") wait_with_reason(rank_state, next.c_str());
        else return std::fprintf(stderr, "launcher_rank: '%s' is not an argument\n", word.c_str()), 99;
    }
    return 0;
}
