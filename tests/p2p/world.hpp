// SPDX-License-Identifier: BSD-3-Clause
// A small world for tests: the ranks of one segment as threads of this process, each with its engine and a world
// communicator.
#pragma once

#include <gtest/gtest.h>

#include <sys/mman.h>

#include <cstring>
#include <deque>
#include <functional>
#include <memory>
#include <numeric>
#include <string>
#include <thread>
#include <vector>

#include "p2p/p2p.hpp"
#include "p2p/request.hpp"
#include "runtime/type_builder.hpp"

namespace tutti::p2p::test {

inline Variables shared_wait() {
    Variables v;
    v.wait = "shared";   // the machine has fewer cores than the tests have ranks
    v.sleep_after = 5;
    return v;
}

struct Rank {
    Rank(Segment& segment, unsigned r, Variables const& v) : process(segment, r, v) {
        start(process);
        std::vector<int> all(segment.ranks());
        std::iota(all.begin(), all.end(), 0);
        comm = Ref<Comm>::adopt(new Comm(process, Ref<Group>::adopt(new Group(all, static_cast<int>(r))), 7));
        std::vector<int> mine = {static_cast<int>(r)};
        self = Ref<Comm>::adopt(new Comm(process, Ref<Group>::adopt(new Group(mine, static_cast<int>(r))), 9));
    }
    int me() const { return process.rank(); }
    int size() const { return process.size(); }

    void send(std::vector<int> const& v, int dest, int tag, Mode mode = Mode::standard) {
        p2p::send(*comm, Data::of_bytes(v.data(), v.size() * sizeof(int)), dest, tag, mode, "send");
    }
    std::vector<int> recv(std::size_t room, int source, int tag, Status* status = nullptr) {
        std::vector<int> v(room, -1);
        Status s;
        p2p::recv(*comm, Data::of_bytes(v.data(), room * sizeof(int)), source, tag, s, "recv");
        v.resize(s.bytes / sizeof(int));
        if (status) *status = s;
        return v;
    }
    void wait(Request& request) {
        process.waiter.until([&] { return process.waiter.progress(), request.complete; }, {"wait"});
    }
    void barrier() {
        int token = 0;
        for (int step = 1; step < size(); step *= 2)
            sendrecv_bytes(*comm, &token, sizeof token, (me() + step) % size(), &token, sizeof token,
                           (me() - step + size()) % size(), 1000 + step, "barrier");
    }

    /// Zeroed memory for a message, valid until the next call of drop(): in this rank's arena, or not.
    std::byte* memory(std::size_t bytes, bool in_arena) {
        if (!in_arena) return elsewhere.emplace_back(bytes).data();
        if (!arena) arena = std::make_unique<Window>(process);
        std::byte* p = arena->base + arena->used;
        arena->used += (bytes + 127) / 64 * 64;
        return std::memset(p, 0, bytes), p;
    }
    void drop() {
        elsewhere.clear();
        if (arena) arena->used = 0;
    }

    Process process;
    Ref<Comm> comm, self;

private:
    /// The rank's window of the segment's file, as its arena would map it.
    struct Window {
        explicit Window(Process& process) : bytes(process.segment.header().arena_bytes) {
            Segment const& segment = process.segment;
            void* p = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, segment.descriptor(),
                           static_cast<off_t>(segment.arena(static_cast<unsigned>(process.rank()))));
            EXPECT_NE(p, MAP_FAILED);
            base = static_cast<std::byte*>(p);
            process.card().arena_base = reinterpret_cast<std::uint64_t>(base);
        }
        ~Window() { munmap(base, bytes); }
        std::size_t bytes, used = 0;
        std::byte* base;
    };
    std::unique_ptr<Window> arena;
    std::deque<std::vector<std::byte>> elsewhere;
};

/// Runs `body` on every rank; ends when all have sent what they had to send.
inline void run(unsigned ranks, std::function<void(Rank&)> const& body, Variables const& variables = shared_wait()) {
    Segment segment = Segment::create(ranks);
    std::vector<std::unique_ptr<Rank>> world;
    for (unsigned r = 0; r < ranks; ++r) world.push_back(std::make_unique<Rank>(segment, r, variables));
    std::vector<std::thread> threads;
    for (auto& rank : world)
        threads.emplace_back([&] {
            body(*rank);
            rank->barrier();
            finish(rank->process, "finish");
        });
    for (auto& t : threads) t.join();
}

/// n numbers that tell where they come from.
inline std::vector<int> numbers(std::size_t n, int seed) {
    std::vector<int> v(n);
    std::iota(v.begin(), v.end(), seed * 1000);
    return v;
}

}  // namespace tutti::p2p::test
