// SPDX-License-Identifier: BSD-3-Clause
// Tests concurrent accumulates by several threads on the same elements: no update is lost for any type, operator and
// alignment.
#include "rma/accumulate.hpp"

#include <complex>
#include <csignal>
#include <cstring>
#include <memory>
#include <numeric>
#include <string>

#include <sys/wait.h>
#include <unistd.h>

#include "runtime/base/flag.hpp"
#include "runtime/base/process_identity.hpp"
#include "tests/rma/world.hpp"

using namespace tutti;
using namespace tutti::rma;
using namespace tutti::rma::ranks_as_threads;

namespace {

constexpr int threads = 4, rounds = 300;

struct Memory {
    explicit Memory(std::size_t bytes, std::size_t shift = 0, bool fenced = false)
        : controls(threads), room(bytes + 64) {
        for (std::size_t t = 0; t < threads; ++t) {
            for (Control& control : controls) members[t].controls.push_back(&control);
            members[t].own_control = &controls[t];
            members[t].own_index = t;
            members[t].has_remote_fences = fenced;
        }
        first = reinterpret_cast<std::byte*>((reinterpret_cast<std::uintptr_t>(room.data()) + 63) / 64 * 64 + shift);
    }
    /// The last member's memory, as member `thread` accesses it.
    SharedMemory shared(bool uses_atomics, int thread = 0) const {
        return {first,
                reinterpret_cast<std::uint64_t>(first),
                &members[static_cast<std::size_t>(thread)],
                threads - 1,
                nullptr,
                0,
                uses_atomics};
    }
    std::vector<Control> controls;
    std::vector<NodeMembers> members{threads};
    std::vector<std::byte> room;
    std::byte* first;
};

template <class Body>
void side_by_side(Body&& body) {
    std::vector<std::thread> all;
    for (int t = 0; t < threads; ++t) all.emplace_back([&, t] { body(t); });
    for (auto& t : all) t.join();
}

/// All threads add 1 to each of `n` elements, `rounds` times.
template <class T>
void expect_sums(Basic kind, std::size_t n, std::size_t shift, bool uses_atomics, bool fenced = false) {
    SCOPED_TRACE(testing::Message() << "kind " << static_cast<int>(kind) << ", " << n << " elements, shifted by "
                                    << shift << (uses_atomics ? ", by atomic instructions" : ", under stripes"));
    Memory memory(n * sizeof(T), shift, fenced);
    side_by_side([&](int t) {   // each thread has its own objects, as ranks do
        Operator const sum(BuiltinOp::sum);
        auto const type = type_of(kind);
        Accumulation const how(sum, *type);
        std::vector<T> const ones(n, T(1));
        for (int i = 0; i < rounds; ++i)
            how.run(memory.shared(uses_atomics, t), reinterpret_cast<std::byte const*>(ones.data()), nullptr,
                    n * sizeof(T));
    });
    for (std::size_t i = 0; i < n; ++i) {
        T value;
        std::memcpy(&value, memory.first + i * sizeof(T), sizeof value);
        ASSERT_EQ(value, T(threads * rounds)) << i;
    }
}

TEST(Accumulation, nothing_is_lost) {
    for (std::size_t n : {1, 3, 700})
        for (bool uses_atomics : {true, false}) {
            expect_sums<std::int32_t>(Basic::int32, n, 0, uses_atomics);
            expect_sums<std::uint16_t>(Basic::uint16, n, 0, uses_atomics);
            expect_sums<std::int64_t>(Basic::int64, n, 0, uses_atomics);
            expect_sums<double>(Basic::float64, n, 0, uses_atomics);
            expect_sums<float>(Basic::float32, n, 0, uses_atomics);
            expect_sums<std::complex<double>>(Basic::complex64, n, 0, uses_atomics);
            expect_sums<long double>(Basic::float80, n, 0, uses_atomics);
        }
}

TEST(Accumulation, elements_may_have_any_alignment) {
    expect_sums<std::int64_t>(Basic::int64, 600, 3, true);
    expect_sums<double>(Basic::float64, 600, 5, true);
    expect_sums<std::complex<double>>(Basic::complex64, 600, 9, true);
}

/// Two threads add to all elements, while the others add to a few.
template <class T>
void expect_sums_of_many_and_few(Basic kind, bool fenced) {
    SCOPED_TRACE(testing::Message() << "kind " << static_cast<int>(kind) << (fenced ? ", fenced by others" : ""));
    constexpr std::size_t n = 3000;
    if (fenced) { ASSERT_TRUE(register_for_fences()); }
    Memory memory(n * sizeof(T), 0, fenced);
    side_by_side([&](int t) {
        Operator const sum(BuiltinOp::sum);
        auto const type = type_of(kind);
        Accumulation const how(sum, *type);
        std::vector<T> const ones(n, T(1));
        auto const* const in = reinterpret_cast<std::byte const*>(ones.data());
        for (int i = 0; i < rounds; ++i) {
            SharedMemory const all = memory.shared(true, t);
            if (t < 2) how.run(all, in, nullptr, n * sizeof(T));
            else
                for (std::size_t e = 0; e < n; e += 64)
                    how.run(all.at(std::int64_t(e * sizeof(T))), in, nullptr, 4 * sizeof(T));
        }
    });
    for (std::size_t i = 0; i < n; ++i) {
        T value;
        std::memcpy(&value, memory.first + i * sizeof(T), sizeof value);
        ASSERT_EQ(value, T(rounds * (i % 64 < 4 ? threads : 2))) << i;
    }
}

TEST(Accumulation, atomics_and_stripes_exclude_each_other) {
    for (bool fenced : {true, false}) {
        expect_sums_of_many_and_few<std::int32_t>(Basic::int32, fenced);
        expect_sums_of_many_and_few<std::int64_t>(Basic::int64, fenced);
    }
}

TEST(Accumulation, stripes_wait_for_other_access_methods) {
    std::size_t const n = many_elements, bytes = n * sizeof(std::int32_t);
    Memory memory(bytes);
    Control& owner = memory.controls.back();
    std::atomic<bool> done{false};
    std::thread with_many;
    {
        AtomicAccess const access(memory.members[0], threads - 1);
        ASSERT_TRUE(access.granted());
        with_many = std::thread([&] {
            std::vector<std::int32_t> const ones(n, 1);
            Accumulation(Operator(BuiltinOp::sum), *type_of(Basic::int32))
                .run(memory.shared(true, 1), reinterpret_cast<std::byte const*>(ones.data()), nullptr, bytes);
            done = true;
        });
        while (owner.atomics_disabled.word == Control::no && !done) std::this_thread::yield();
        EXPECT_FALSE(done);
        EXPECT_EQ(*memory.first, std::byte{0});
    }
    with_many.join();
    EXPECT_EQ(*memory.first, std::byte{1});
    EXPECT_EQ(owner.atomics_disabled.word, Control::yes);
    EXPECT_FALSE(AtomicAccess(memory.members[0], threads - 1).granted());
    EXPECT_TRUE(AtomicAccess(memory.members[0], 0).granted()) << "the other parts are as they were";
}

/// Returns the identity of a process that has ended and been reaped.
ProcessIdentity ended_process() {
    pid_t const child = fork();
    if (child == 0) {
        pause();
        _exit(0);
    }
    ProcessIdentity const identity = ProcessIdentity::of(child);
    kill(child, SIGKILL);
    waitpid(child, nullptr, 0);
    return identity;
}

TEST(Accumulation, fails_if_a_member_ended_during_an_accumulate) {
    double const one = 1;
    Memory memory(1024);
    Accumulation const sum(Operator(BuiltinOp::sum), *type_of(Basic::float64));
    auto const add = [&] { sum.run(memory.shared(true), reinterpret_cast<std::byte const*>(&one), nullptr, 8); };
    Control& ended = memory.controls[1];
    ended.process = ended_process().word();
    ended.pid_namespace = pid_namespace();
    ended.world_rank = 17;
    for (LineWord& stripe : memory.controls.back().stripe) stripe.word = 2;   // the index of members[1], plus one
    try {
        add();
        ADD_FAILURE() << "the accumulate did not fail";
    } catch (Error const& error) {
        EXPECT_NE(std::string(error.what()).find("rank 17 has ended"), std::string::npos) << error.what();
    }
    for (LineWord& stripe : memory.controls.back().stripe) stripe.word = 0;
    ended.atomic_access.word = threads;   // it was in an atomic access to the last member's part
    EXPECT_THROW(disable_atomics(memory.members[0], threads - 1), Error);
}

/// Accumulates of few elements never disable atomic access.
TEST(Accumulation, few_elements_use_atomic_instructions) {
    Memory memory(1024);
    std::vector<std::int64_t> const ones(many_elements - 1, 1);
    Accumulation(Operator(BuiltinOp::sum), *type_of(Basic::int64))
        .run(memory.shared(true), reinterpret_cast<std::byte const*>(ones.data()), nullptr, 8 * ones.size());
    EXPECT_EQ(memory.controls.back().atomics_disabled.word, Control::no);
}

TEST(Accumulation, the_old_value_is_fetched_once) {
    Memory memory(8);
    std::vector<std::vector<std::int64_t>> got(threads);
    side_by_side([&](int t) {
        Operator const sum(BuiltinOp::sum);
        auto const type = type_of(Basic::int64);
        Accumulation const how(sum, *type);
        std::int64_t const one = 1;
        for (int i = 0; i < rounds; ++i) {
            std::int64_t old;
            how.run(memory.shared(true, t), reinterpret_cast<std::byte const*>(&one),
                    reinterpret_cast<std::byte*>(&old), 8);
            got[static_cast<std::size_t>(t)].push_back(old);
        }
    });
    std::vector<std::int64_t> all, expected(threads * rounds);
    for (auto const& g : got) {
        EXPECT_TRUE(std::ranges::is_sorted(g));
        all.insert(all.end(), g.begin(), g.end());
    }
    std::ranges::sort(all);
    std::iota(expected.begin(), expected.end(), 0);
    EXPECT_EQ(all, expected);
}

/// A lock built from compare-and-swap gives mutual exclusion.
TEST(Accumulation, compare_and_swap_makes_a_lock) {
    for (bool uses_atomics : {true, false}) {
        Memory memory(8);
        long inside = 0;
        side_by_side([&](int t) {
            auto const type = type_of(Basic::int32);
            for (int i = 0; i < rounds; ++i) {
                std::int32_t const free = 0, mine = t + 1;
                std::int32_t was;
                do compare_and_swap(memory.shared(uses_atomics, t), *type, &free, &mine, &was);
                while (was != 0);
                ++inside;
                compare_and_swap(memory.shared(uses_atomics, t), *type, &mine, &free, &was);
                ASSERT_EQ(was, mine);
            }
        });
        EXPECT_EQ(inside, long{threads} * rounds);
    }
}

TEST(Accumulation, every_operator) {
    struct Case {
        BuiltinOp op;
        std::int32_t before, in, after;
    };
    for (Case const& c :
         {Case{BuiltinOp::sum, 5, 7, 12}, Case{BuiltinOp::prod, 5, 7, 35}, Case{BuiltinOp::max, 5, 7, 7},
          Case{BuiltinOp::min, 5, 7, 5}, Case{BuiltinOp::band, 6, 3, 2}, Case{BuiltinOp::bor, 6, 3, 7},
          Case{BuiltinOp::bxor, 6, 3, 5}, Case{BuiltinOp::land, 6, 0, 0}, Case{BuiltinOp::lor, 0, 3, 1},
          Case{BuiltinOp::lxor, 2, 3, 0}, Case{BuiltinOp::replace, 6, 3, 3}, Case{BuiltinOp::no_op, 6, 3, 6}})
        for (bool uses_atomics : {true, false}) {
            Memory memory(4);
            std::memcpy(memory.first, &c.before, 4);
            std::int32_t old = -1, after;
            Accumulation(Operator(c.op), *type_of(Basic::int32))
                .run(memory.shared(uses_atomics), reinterpret_cast<std::byte const*>(&c.in),
                     reinterpret_cast<std::byte*>(&old), 4);
            std::memcpy(&after, memory.first, 4);
            EXPECT_EQ(old, c.before);
            EXPECT_EQ(after, c.after) << static_cast<int>(c.op);
        }
}

TEST(Accumulation, pairs_keep_their_gaps) {
    struct Pair {
        double value;
        int index;
    };
    auto const type =
        TypeBuilder::pair("MPI_DOUBLE_INT", Basic::double_int, elementary(Basic::float64), elementary(Basic::int32));
    Memory memory(2 * sizeof(Pair));
    std::memset(memory.first, 0x77, 2 * sizeof(Pair));
    Pair const before[2] = {{3, 1}, {9, 4}};
    for (int i = 0; i < 2; ++i) std::memcpy(memory.first + i * sizeof(Pair), &before[i], 12);
    std::byte in[24];
    double const values[2] = {5, 9};
    int const indices[2] = {7, 2};
    for (int i = 0; i < 2; ++i) {
        std::memcpy(in + 12 * i, &values[i], 8);
        std::memcpy(in + 12 * i + 8, &indices[i], 4);
    }
    Accumulation const how(Operator(BuiltinOp::maxloc), *type);
    how.run_typed(memory.shared(true), 2, *type, 0, in, nullptr, 24);
    Pair after[2];
    std::memcpy(after, memory.first, sizeof after);
    EXPECT_EQ(after[0].value, 5);
    EXPECT_EQ(after[0].index, 7);
    EXPECT_EQ(after[1].value, 9);
    EXPECT_EQ(after[1].index, 2);   // for equal values, the lower index
    EXPECT_EQ(std::to_integer<int>(memory.first[12]), 0x77);
}

TEST(Accumulation, undefined_combinations_are_reported) {
    expect_error(ErrorClass::op, [] { Accumulation(Operator(BuiltinOp::band), *type_of(Basic::float64)); });
    expect_error(ErrorClass::op, [] { Accumulation(Operator(BuiltinOp::none), *type_of(Basic::float64)); });
    auto const a = type_of(Basic::float64), b = type_of(Basic::int32);
    std::int64_t const blocks[] = {1, 1}, places[] = {0, 8};
    Datatype const* const types[] = {a.get(), b.get()};
    auto const mixed = TypeBuilder::structure(blocks, places, types);
    TypeRecipe recipe{Combiner::struct_, {}, {}, {a, b}};
    TypeBuilder::set_recipe(*mixed, recipe);
    expect_error(ErrorClass::type, [&] { Accumulation(Operator(BuiltinOp::sum), *mixed); });
}

}   // namespace
