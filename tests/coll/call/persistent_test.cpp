// SPDX-License-Identifier: BSD-3-Clause
// A persistent collective is set up once: from its second start on, no algorithm is chosen and no coroutine allocates
// from the system. The default algorithms on one node, for 8 bytes and for 1 MiB, allocate nothing at all.
#include <gmock/gmock.h>

#include <chrono>
#include <cstdlib>
#include <map>
#include <new>
#include <optional>
#include <thread>

#include "coll/call/request.hpp"
#include "coll/comm/create.hpp"
#include "tests/coll/world/allocations.hpp"
#include "tests/coll/world/calls.hpp"
#include "tests/coll/world/window.hpp"
#include "tests/coll/world/world.hpp"

using namespace std::chrono_literals;

namespace tutti::coll::test {
namespace {

Variables restart_variables() {
    Variables v;
    v.wait = "shared";
    v.staging = 8192;
    v.fragment = 0;   // the number of concurrent fragments would depend on timing
    return v;
}

/// Replaces the library's wait, which allocates memory to publish a long wait.
void run_once(Request& request) {
    for (request.start(); !request.complete; request.advance()) std::this_thread::sleep_for(10us);
}

/// Allocations by starts of a request.
struct Taken {
    std::size_t own_frames, frames, heap;
    Taken operator-(Taken const& before) const {
        return {own_frames - before.own_frames, frames - before.frames, heap - before.heap};
    }
};
Taken taken(Process& process, Request& request) {
    return {static_cast<CollectiveRequest&>(request).frame_allocations(), process.frames.allocations(), allocations};
}

bool is_default(AlgorithmRow const& row, CommState const& state) {
    for (std::size_t bytes : {std::size_t{8}, std::size_t{1} << 20})
        if (decide(row.collective, plain_traits(state, bytes), {}, [&](auto) -> Trees const& {
                return state.trees;
            }).algorithm == &row)
            return true;
    return false;
}

/// Runs a case as one request that is started several times.
struct Restart {
    Comm& comm;
    std::map<AlgorithmRow const*, std::size_t> allocated{};   ///< by three starts, after two that are not counted

    void operator()(AlgorithmRow const& row, AnyArgs args) {
        Setting setting;
        force(comm, row, args, setting);
        Ref<Request> const request = init_call(comm, row.collective, args);
        DecisionCache& choices = state_of(comm).decisions;
        choices.clear();
        for (int warm = 0; warm < 2; ++warm) run_once(*request);
        Taken const before = taken(comm.process, *request);
        for (int again = 0; again < 3; ++again) run_once(*request);
        Taken const more = taken(comm.process, *request) - before;
        std::string const name = std::string(name_of(row.collective)) + " " + row.name;
        EXPECT_EQ(more.own_frames, 0u) << name;
        EXPECT_EQ(more.frames, 0u) << name;
        bool const replaced = state_of(comm).counters_of(row.collective).algorithm != &row;   // it has refused
        if (!replaced) allocated[&row] += more.heap;
        std::visit(
            [&](auto const* bound) {
                auto known = *bound;
                complete(known);
                EXPECT_EQ(choices.at(row.collective, traits_of(state_of(comm), known)).algorithm, nullptr) << name;
            },
            args);
        EXPECT_EQ(request->status.error, ErrorClass::success) << request->error_text;
    }
};

/// For each algorithm a case that fits into slots and one that does not, if it has such cases, with elements without
/// gaps and built-in operators.
void keep_plain_ones(Suite& suite) {
    std::map<std::pair<AlgorithmRow const*, bool>, int> kept;
    std::erase_if(suite.cases, [&](Case const& c) {
        bool const barrier = c.algorithm->collective == Collective::barrier;
        bool const plain = suite.kind(c).type->dense(2) && suite.op(c).op->builtin != BuiltinOp::none;
        if (c.in_place || c.form != Form::equal || !plain || (c.bytes == 0) != barrier) return true;
        return ++kept[{c.algorithm, c.bytes > 8192}] > 1;
    });
}

struct Shape {
    int ranks;
    bool arenas;
};

class Persistent : public testing::TestWithParam<Shape> {};

TEST_P(Persistent, StartsChooseNoAlgorithmAndAllocateNothing) {
    auto const [ranks, arenas] = GetParam();
    Segment segment = Segment::create(static_cast<unsigned>(ranks));
    if (arenas && segment.layout().arena_bytes == 0)
        GTEST_SKIP() << "this system limits the length of files too much for the arenas";
    Suite suite(make_tree(ranks, 1), Area(nullptr, ranks).slot_bytes());
    add_cases(suite, static_cast<unsigned>(ranks));
    keep_plain_ones(suite);
    run_ranks(suite, [&, ranks = ranks, arenas = arenas](int rank) {
        std::optional<Window> window;
        std::optional<Arena> arena;
        if (arenas) {
            window.emplace(segment, rank);
            arena.emplace(window->room.first(64 << 20), rank, ranks);
        }
        Process process(segment, static_cast<unsigned>(rank), restart_variables());
        std::vector<std::string> errors;
        initialize(process, errors);
        EXPECT_THAT(errors, testing::IsEmpty());
        Suite own(state_of(*process.world).trees.hierarchy, suite.slot_bytes);
        own.cases = suite.cases;
        Restart restart{*process.world};
        run_cases(own, rank, std::ref(restart), arena ? &*arena : nullptr);
        for (auto const& [row, allocations] : restart.allocated)
            EXPECT_EQ(is_default(*row, state_of(*process.world)) ? allocations : 0, 0u)
                << name_of(row->collective) << " " << row->name;
        std::lock_guard lock(suite.mutex);
        suite.failures.insert(suite.failures.end(), own.failures.begin(), own.failures.end());
    });
}
INSTANTIATE_TEST_SUITE_P(Worlds, Persistent,
                         testing::Values(Shape{1, false}, Shape{2, false}, Shape{2, true}, Shape{4, false},
                                         Shape{4, true}),
                         [](auto const& info) {
                             return std::to_string(info.param.ranks) + "_ranks" + (info.param.arenas ? "_arenas" : "");
                         });

}   // namespace
}   // namespace tutti::coll::test
