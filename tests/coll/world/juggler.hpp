// SPDX-License-Identifier: BSD-3-Clause
// Runs the generic cases with several operations of a rank in flight at once: each case sits on a thread of its own
// that starts its request and gives way; the rank goes on with the next, and ends them in an order of its own choice.
// Of a rank's threads only one runs at a time, as in a program with one thread.
#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <random>
#include <semaphore>
#include <thread>

#include "coll/call/collectives.hpp"
#include "coll/call/fragments.hpp"
#include "coll/choice/decision.hpp"
#include "tests/coll/world/world.hpp"

namespace tutti::coll::test {

enum class Call { blocking, nonblocking, persistent };

/// The case list takes calls that it reckons to suit the algorithm: the library, which sees the call, must agree.
template <class Args>
void expect_suits(CommState const& state, AlgorithmRow const& algorithm, Args const& args) {
    CallTraits traits = traits_of(state, args);
    traits.two_groups = args.first_group_size > 0;
    EXPECT_TRUE(traits.suits(algorithm)) << name_of(algorithm.collective) << " " << algorithm.name << ", "
                                         << traits.bytes << " bytes";
}

/// The algorithm that the communicator's next call of this kind and size gets.
template <class Args>
void force(Comm const& comm, AlgorithmRow const& algorithm, Args args, Setting& setting) {
    setting = {};
    setting.algorithm = &algorithm;
    for (std::size_t p = 0; p < setting.algorithm->parameters.size(); ++p)
        for (int level = 0; level < max_levels; ++level) setting.values.set(p, args.parameters.at(p, level), level);
    CommState& state = state_of(comm);
    complete(args);
    expect_suits(state, algorithm, args);
    Fragments<Args> const cut(args, comm.process.variables.fragment);
    for (unsigned k : {0u, cut.count() - 1, 0u}) {
        Args const part = cut.count() == 1 ? args : cut.cut(args, k);
        state.choices.at(setting.algorithm->collective, traits_of(state, part)) = {
            setting.algorithm, &setting, &state.trees, nullptr, &state.use_of(setting.algorithm->collective)};
    }
    Args const& whole = args;   // a blocking call is not cut
    state.choices.at(setting.algorithm->collective, traits_of(state, whole)) = {
        setting.algorithm, &setting, &state.trees, nullptr, &state.use_of(setting.algorithm->collective)};
}

class Juggler {
public:
    /// `suite` is the rank's own: requests hold references to its datatypes. `at` hears of each case that begins.
    Juggler(Comm& comm, Suite& suite, std::atomic<std::size_t>& at, int rank, std::size_t hands,
            std::span<std::byte> arena = {})
        : comm_(comm), suite_(suite), at_(at), rank_(rank), hands_(hands), arena_(arena),
          random_(static_cast<unsigned>(rank) * 7919u + static_cast<unsigned>(hands)) {}

    void run() {
        std::vector<std::unique_ptr<Ball>> balls;
        for (std::size_t i = 0; i < hands_; ++i) balls.push_back(std::make_unique<Ball>(*this, i));
        std::vector<Ball*> free, up;
        for (auto& b : balls) free.push_back(b.get());
        for (std::size_t next = 0; next < suite_.cases.size() || !up.empty();) {
            bool const may_throw = next < suite_.cases.size() && !free.empty();
            if (may_throw && (up.empty() || random_() % 4 != 0)) {
                if (rank_ == 0) at_ = next;
                Ball* const b = free.back();
                free.pop_back();
                (b->begin(next++) ? up : free).push_back(b);
            } else {
                std::size_t const which = random_() % up.size();
                Ball* const b = up[which];
                b->end();
                up.erase(up.begin() + static_cast<std::ptrdiff_t>(which));
                free.push_back(b);
            }
        }
    }

private:
    /// One case under way, and its thread.
    class Ball {
    public:
        Ball(Juggler& juggler, std::size_t index) : juggler_(juggler), thread_([this, index] { live(index); }) {}
        ~Ball() {
            over_ = true;
            mine_.release();
            thread_.join();
        }
        /// Starts a case; false: it was over at once.
        bool begin(std::size_t case_number) {
            case_ = case_number;
            hand_over();
            return static_cast<bool>(request_);
        }
        void end() {
            Request& r = *request_;
            juggler_.comm_.process.waiter.until(
                [&] {
                    if (!r.complete) r.advance();
                    return r.complete;
                },
                {"the test"});
            hand_over();
        }

        /// What a check calls: runs the algorithm in one of the three forms.
        template <class Args>
        void operator()(AlgorithmRow const& algorithm, Args const& args) {
            Comm& comm = juggler_.comm_;
            Collective const collective = algorithm.collective;
            force(comm, algorithm, args, setting_);
            Args own = args;
            switch (static_cast<Call>((case_ * 5 + case_ / 7) % 8 % 3)) {
            case Call::blocking: return coll::run(coll::BoundCall{comm, collective, own});
            case Call::nonblocking: request_ = coll::start(coll::BoundCall{comm, collective, args}); break;
            case Call::persistent:
                request_ = coll::init(coll::BoundCall{comm, collective, args});
                request_->start();
                break;
            }
            back_.release();
            mine_.acquire();
            if (request_->status.error != ErrorClass::success)
                juggler_.suite_.fail(juggler_.suite_.cases[case_], juggler_.rank_, request_->error_text);
            request_ = {};
        }

    private:
        void hand_over() {
            mine_.release();
            back_.acquire();
        }
        void live(std::size_t index) {
            std::vector<Operator> const operators = make_operators();
            std::size_t const room = juggler_.arena_.size() / juggler_.hands_;
            std::optional<Arena> arena;
            if (room > 0)
                arena.emplace(juggler_.arena_.subspan(index * room, room), juggler_.rank_, juggler_.suite_.ranks);
            for (mine_.acquire(); !over_; mine_.acquire()) {
                Suite& suite = juggler_.suite_;
                if (arena) arena->begin(case_);
                check(Turn<Ball>{suite, suite.cases[case_], juggler_.rank_, *this, operators});
                back_.release();
            }
        }

        Juggler& juggler_;
        std::size_t case_ = 0;
        bool over_ = false;
        Setting setting_;
        Ref<Request> request_;
        std::binary_semaphore mine_{0}, back_{0};
        std::thread thread_;
    };

    Comm& comm_;
    Suite& suite_;
    std::atomic<std::size_t>& at_;
    int const rank_;
    std::size_t const hands_;
    std::span<std::byte> const arena_;
    std::mt19937 random_;
};

}   // namespace tutti::coll::test
