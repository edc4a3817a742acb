// SPDX-License-Identifier: BSD-3-Clause
// Each case in flight has a thread of its own that starts its request and returns control to the rank, which goes on
// with the next case. Only one of a rank's threads runs at a time, as in a program with one thread.
#include "tests/coll/world/overlapped_cases.hpp"

#include <memory>
#include <optional>
#include <random>
#include <semaphore>
#include <thread>

namespace tutti::coll::test {
namespace {

class Juggler {
public:
    Juggler(Comm& comm, Suite& suite, std::atomic<std::size_t>& at, int rank, std::size_t hands,
            std::span<std::byte> arena)
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
        void operator()(AlgorithmRow const& algorithm, AnyArgs args) {
            request_ = start_call(juggler_.comm_, algorithm, args, static_cast<Call>((case_ * 5 + case_ / 7) % 8 % 3),
                                  setting_);
            if (!request_) return;
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
            Execute const execute = std::ref(*this);
            for (mine_.acquire(); !over_; mine_.acquire()) {
                Suite& suite = juggler_.suite_;
                if (arena) arena->begin(case_);
                check({suite, suite.cases[case_], juggler_.rank_, execute, operators});
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

}   // namespace

void run_overlapped_cases(Comm& comm, Suite& own, std::atomic<std::size_t>& at, int rank, std::size_t most,
                          std::span<std::byte> arena) {
    Juggler(comm, own, at, rank, most, arena).run();
}

}   // namespace tutti::coll::test
