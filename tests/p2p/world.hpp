// SPDX-License-Identifier: BSD-3-Clause
// A small world for tests: ranks are threads of this process, each with its engine and a world communicator, on one
// node, or on several nodes with a segment each and TCP between them.
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
#include <utility>
#include <vector>

#include "p2p/p2p.hpp"
#include "p2p/request.hpp"
#include "runtime/datatype/builder.hpp"
#include "runtime/job/interfaces.hpp"

namespace tutti::p2p::test {

inline Variables shared_wait() {
    Variables v;
    v.wait = "shared";   // the tests have more ranks than the machine has cores
    v.sleep_after = 5;
    return v;
}

struct Rank {
    Rank(Segment& segment, unsigned place, Variables const& v, Cluster const& cluster,
         std::vector<int> const& listeners = {})
        : process(segment, place, v, cluster) {
        start(process, listeners);
        std::vector<int> all(static_cast<std::size_t>(size()));
        std::iota(all.begin(), all.end(), 0);
        comm = Ref<Comm>::adopt(new Comm(process, Ref<Group>::adopt(new Group(all, me())), 7));
        self = Ref<Comm>::adopt(new Comm(process, Ref<Group>::adopt(new Group({me()}, me())), 9));
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
        process.waiter.wait_until([&] { return process.waiter.progress(), request.complete; }, {"wait"});
    }
    void barrier() {
        int token = 0;
        for (int step = 1; step < size(); step *= 2)
            sendrecv_bytes(*comm, &token, sizeof token, (me() + step) % size(), &token, sizeof token,
                           (me() - step + size()) % size(), 1000 + step, "barrier");
    }

    /// Zeroed memory for a message, valid until the next call of drop(), in this rank's arena or outside it.
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
    /// The rank's window of the segment's file, mapped as its arena would map it.
    struct Window {
        explicit Window(Process& process) : bytes(process.segment.layout().arena_bytes) {
            Segment const& segment = process.segment;
            void* p = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, segment.descriptor(),
                           static_cast<off_t>(segment.arena(process.local_rank())));
            EXPECT_NE(p, MAP_FAILED);
            base = static_cast<std::byte*>(p);
            process.rank_state().arena_base = reinterpret_cast<std::uint64_t>(base);
        }
        ~Window() { munmap(base, bytes); }
        std::size_t bytes, used = 0;
        std::byte* base;
    };
    std::unique_ptr<Window> arena;
    std::deque<std::vector<std::byte>> elsewhere;
};

/// The placement of a world's ranks on nodes.
enum class Layout {
    one_node,
    alternating,   ///< on two nodes in turn, which communicate over IPv4
    last_apart,    ///< the last rank on its own node, reached over IPv6 if available
};

inline bool has_ipv6() {
    static bool const found = !select_interfaces(interfaces(), "::1").empty();
    return found;
}

inline Listener listen_on_loopback() { return listen_on({"127.0.0.1", "::1"}); }

inline Cluster cluster_of(Layout layout, unsigned ranks, int here, std::vector<Listener> const& listeners) {
    if (layout == Layout::one_node) return Cluster::one_node(static_cast<int>(ranks));
    bool const turns = layout == Layout::alternating;
    std::vector<std::string> const addresses = {turns || !has_ipv6() ? "127.0.0.1/8" : "::1/128"};
    std::vector<Cluster::Rank> all(ranks);
    int places[2] = {};
    for (unsigned r = 0; r < ranks; ++r) {
        int const node = turns ? static_cast<int>(r % 2) : r + 1 == ranks;
        all[r] = {node, places[node]++, listeners[r].port};
    }
    JobKey key{};
    key[0] = std::byte{42};
    return Cluster({{"first", addresses}, {"second", addresses}}, all, here, key);
}

/// All ranks of a world; does not run them.
struct World {
    World(unsigned ranks, Layout layout, Variables const& variables) {
        bool const apart = layout != Layout::one_node;
        std::vector<Listener> listeners(ranks);
        if (apart)
            for (Listener& l : listeners) l = listen_on_loopback();
        Cluster const map = cluster_of(layout, ranks, 0, listeners);
        for (int node = 0; node < map.nodes(); ++node) {
            Cluster const cluster = cluster_of(layout, ranks, node, listeners);
            segments.push_back(Segment::create(static_cast<unsigned>(cluster.local_size()), {}, {}, cluster.to_text()));
        }
        for (unsigned r = 0; r < ranks; ++r) {
            int const rank = static_cast<int>(r), node = map.node_of(rank);
            all.push_back(std::make_unique<Rank>(segments[static_cast<std::size_t>(node)],
                                                 static_cast<unsigned>(map.local_rank_of(rank)), variables,
                                                 cluster_of(layout, ranks, node, listeners), listeners[r].descriptors));
        }
    }
    std::deque<Segment> segments;
    std::vector<std::unique_ptr<Rank>> all;
};

/// Runs `body` on every rank; returns when all ranks have drained their sends.
inline void run(unsigned ranks, std::function<void(Rank&)> const& body, Variables const& variables = shared_wait(),
                Layout layout = Layout::one_node) {
    World world(ranks, layout, variables);
    std::vector<std::thread> threads;
    for (auto& rank : world.all)
        threads.emplace_back([&] {
            body(*rank);
            for (int round = 0; round < 2; ++round) {
                rank->barrier();
                drain_sends(rank->process, "finish");
            }
            shut_down(rank->process, "leave");
        });
    for (auto& t : threads) t.join();
}

/// Base of tests that run on every layout.
class OnEveryLayout : public testing::TestWithParam<Layout> {
protected:
    static void run(unsigned ranks, std::function<void(Rank&)> const& body,
                    Variables const& variables = shared_wait()) {
        test::run(ranks, body, variables, GetParam());
    }
};

inline std::string name_of(Layout layout) {
    return layout == Layout::one_node ? "one_node" : layout == Layout::alternating ? "alternating" : "last_apart";
}
inline auto const every_layout = testing::Values(Layout::one_node, Layout::alternating, Layout::last_apart);
inline std::string layout_name(testing::TestParamInfo<Layout> const& info) { return name_of(info.param); }

/// n consecutive numbers from which the seed can be recognized.
inline std::vector<int> numbers(std::size_t n, int seed) {
    std::vector<int> v(n);
    std::iota(v.begin(), v.end(), seed * 1000);
    return v;
}

}   // namespace tutti::p2p::test
