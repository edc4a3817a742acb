// SPDX-License-Identifier: BSD-3-Clause
// Accumulates of several threads at once on the same elements: nothing is lost, whatever the kind, the operator and the
// place of the elements.
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
            members[t].mine = &controls[t];
            members[t].me = t;
            members[t].fenced = fenced;
        }
        first = reinterpret_cast<std::byte*>((reinterpret_cast<std::uintptr_t>(room.data()) + 63) / 64 * 64 + shift);
    }
    /// The memory of the last one, as one of them sees it.
    SharedMemory shared(bool by_processor, int thread = 0) const {
        return {first,
                reinterpret_cast<std::uint64_t>(first),
                &members[static_cast<std::size_t>(thread)],
                threads - 1,
                nullptr,
                0,
                by_processor};
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

/// Everybody adds 1 to each of `n` elements, `rounds` times.
template <class T>
void expect_sums(Basic kind, std::size_t n, std::size_t shift, bool by_processor, bool fenced = false) {
    SCOPED_TRACE(testing::Message() << "kind " << static_cast<int>(kind) << ", " << n << " elements, shifted by "
                                    << shift << (by_processor ? ", by processor" : ", under stripes"));
    Memory memory(n * sizeof(T), shift, fenced);
    side_by_side([&](int t) {   // each with objects of its own, as ranks have
        Operator const sum(BuiltinOp::sum);
        auto const type = type_of(kind);
        Accumulation const how(sum, *type);
        std::vector<T> const ones(n, T(1));
        for (int i = 0; i < rounds; ++i)
            how.run(memory.shared(by_processor, t), reinterpret_cast<std::byte const*>(ones.data()), nullptr,
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
        for (bool by_processor : {true, false}) {
            expect_sums<std::int32_t>(Basic::int32, n, 0, by_processor);
            expect_sums<std::uint16_t>(Basic::uint16, n, 0, by_processor);
            expect_sums<std::int64_t>(Basic::int64, n, 0, by_processor);
            expect_sums<double>(Basic::float64, n, 0, by_processor);
            expect_sums<float>(Basic::float32, n, 0, by_processor);
            expect_sums<std::complex<double>>(Basic::complex64, n, 0, by_processor);
            expect_sums<long double>(Basic::float80, n, 0, by_processor);
        }
}

TEST(Accumulation, elements_may_lie_anywhere) {
    expect_sums<std::int64_t>(Basic::int64, 600, 3, true);
    expect_sums<double>(Basic::float64, 600, 5, true);
    expect_sums<std::complex<double>>(Basic::complex64, 600, 9, true);
}

/// Two threads add to all elements at once, the others to a few.
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

TEST(Accumulation, the_two_ways_do_not_meet) {
    for (bool fenced : {true, false}) {
        expect_sums_of_many_and_few<std::int32_t>(Basic::int32, fenced);
        expect_sums_of_many_and_few<std::int64_t>(Basic::int64, fenced);
    }
}

TEST(Accumulation, stripes_wait_for_who_works_otherwise) {
    std::size_t const n = many_elements, bytes = n * sizeof(std::int32_t);
    Memory memory(bytes);
    Control& owner = memory.controls.back();
    std::atomic<bool> done{false};
    std::thread with_many;
    {
        ByProcessor const way(memory.members[0], threads - 1);
        ASSERT_TRUE(way.granted());
        with_many = std::thread([&] {
            std::vector<std::int32_t> const ones(n, 1);
            Accumulation(Operator(BuiltinOp::sum), *type_of(Basic::int32))
                .run(memory.shared(true, 1), reinterpret_cast<std::byte const*>(ones.data()), nullptr, bytes);
            done = true;
        });
        while (owner.stripes_only.word == Control::no && !done) std::this_thread::yield();
        EXPECT_FALSE(done);
        EXPECT_EQ(*memory.first, std::byte{0});
    }
    with_many.join();
    EXPECT_EQ(*memory.first, std::byte{1});
    EXPECT_EQ(owner.stripes_only.word, Control::yes);
    EXPECT_FALSE(ByProcessor(memory.members[0], threads - 1).granted());
    EXPECT_TRUE(ByProcessor(memory.members[0], 0).granted()) << "the other parts are as they were";
}

/// A process that has ended and is a zombie no more.
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

TEST(Accumulation, fails_where_a_member_has_ended_in_the_middle_of_one) {
    double const one = 1;
    Memory memory(1024);
    Accumulation const sum(Operator(BuiltinOp::sum), *type_of(Basic::float64));
    auto const add = [&] { sum.run(memory.shared(true), reinterpret_cast<std::byte const*>(&one), nullptr, 8); };
    Control& gone = memory.controls[1];
    gone.process = ended_process().word();
    gone.pid_namespace = pid_namespace();
    gone.world_rank = 17;
    for (LineWord& stripe : memory.controls.back().stripe) stripe.word = 2;   // the number of members[1]
    try {
        add();
        ADD_FAILURE() << "it has not failed";
    } catch (Error const& error) {
        EXPECT_NE(std::string(error.what()).find("rank 17 has ended"), std::string::npos) << error.what();
    }
    for (LineWord& stripe : memory.controls.back().stripe) stripe.word = 0;
    gone.by_processor.word = threads;   // it was combining in the last member's part
    EXPECT_THROW(use_stripes_only(memory.members[0], threads - 1), Error);
}

/// A few at a time never change the way.
TEST(Accumulation, a_few_elements_are_left_to_the_processor) {
    Memory memory(1024);
    std::vector<std::int64_t> const ones(many_elements - 1, 1);
    Accumulation(Operator(BuiltinOp::sum), *type_of(Basic::int64))
        .run(memory.shared(true), reinterpret_cast<std::byte const*>(ones.data()), nullptr, 8 * ones.size());
    EXPECT_EQ(memory.controls.back().stripes_only.word, Control::no);
}

TEST(Accumulation, what_was_there_is_fetched_once) {
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

/// A lock made of compare-and-swap keeps others out.
TEST(Accumulation, compare_and_swap_lets_one_in) {
    for (bool by_processor : {true, false}) {
        Memory memory(8);
        long inside = 0;
        side_by_side([&](int t) {
            auto const type = type_of(Basic::int32);
            for (int i = 0; i < rounds; ++i) {
                std::int32_t const free = 0, mine = t + 1;
                std::int32_t was;
                do compare_and_swap(memory.shared(by_processor, t), *type, &free, &mine, &was);
                while (was != 0);
                ++inside;
                compare_and_swap(memory.shared(by_processor, t), *type, &mine, &free, &was);
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
        for (bool by_processor : {true, false}) {
            Memory memory(4);
            std::memcpy(memory.first, &c.before, 4);
            std::int32_t old = -1, after;
            Accumulation(Operator(c.op), *type_of(Basic::int32))
                .run(memory.shared(by_processor), reinterpret_cast<std::byte const*>(&c.in),
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
    how.typed(memory.shared(true), 2, *type, 0, in, nullptr, 24);
    Pair after[2];
    std::memcpy(after, memory.first, sizeof after);
    EXPECT_EQ(after[0].value, 5);
    EXPECT_EQ(after[0].index, 7);
    EXPECT_EQ(after[1].value, 9);
    EXPECT_EQ(after[1].index, 2);   // the lower one of equals
    EXPECT_EQ(std::to_integer<int>(memory.first[12]), 0x77);
}

TEST(Accumulation, what_is_not_defined_is_told) {
    expect_error(ErrorClass::op, [] { Accumulation(Operator(BuiltinOp::band), *type_of(Basic::float64)); });
    expect_error(ErrorClass::op, [] { Accumulation(Operator(BuiltinOp::none), *type_of(Basic::float64)); });
    auto const a = type_of(Basic::float64), b = type_of(Basic::int32);
    std::int64_t const blocks[] = {1, 1}, places[] = {0, 8};
    Datatype const* const types[] = {a.get(), b.get()};
    auto const mixed = TypeBuilder::structure(blocks, places, types);
    TypeRecipe recipe{Combiner::struct_, {}, {}, {a, b}};
    TypeBuilder::remember(*mixed, recipe);
    expect_error(ErrorClass::type, [&] { Accumulation(Operator(BuiltinOp::sum), *mixed); });
}

}   // namespace
