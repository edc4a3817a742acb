// SPDX-License-Identifier: BSD-3-Clause
// Each case in flight has a thread that starts its request and returns control to the rank, which continues with the
// next case. Only one of a rank's threads runs at a time, as in a program with one thread.
#include "tests/coll/world/overlapped_cases.hpp"

#include <memory>
#include <optional>
#include <random>
#include <semaphore>
#include <thread>

namespace tutti::coll::test {
namespace {

class CaseScheduler {
public:
    CaseScheduler(Comm& comm, Suite& suite, std::atomic<std::size_t>& at, int rank, std::size_t max_in_flight,
                  std::span<std::byte> arena)
        : comm_(comm), suite_(suite), at_(at), rank_(rank), max_in_flight_(max_in_flight), arena_(arena),
          random_(static_cast<unsigned>(rank) * 7919u + static_cast<unsigned>(max_in_flight)) {}

    void run() {
        std::vector<std::unique_ptr<CaseInFlight>> cases;
        for (std::size_t i = 0; i < max_in_flight_; ++i) cases.push_back(std::make_unique<CaseInFlight>(*this, i));
        std::vector<CaseInFlight*> free, in_flight;
        for (auto& b : cases) free.push_back(b.get());
        for (std::size_t next = 0; next < suite_.cases.size() || !in_flight.empty();) {
            bool const may_begin = next < suite_.cases.size() && !free.empty();
            if (may_begin && (in_flight.empty() || random_() % 4 != 0)) {
                if (rank_ == 0) at_ = next;
                CaseInFlight* const b = free.back();
                free.pop_back();
                (b->begin(next++) ? in_flight : free).push_back(b);
            } else {
                std::size_t const which = random_() % in_flight.size();
                CaseInFlight* const b = in_flight[which];
                b->end();
                in_flight.erase(in_flight.begin() + static_cast<std::ptrdiff_t>(which));
                free.push_back(b);
            }
        }
    }

private:
    /// A case in flight and its thread.
    class CaseInFlight {
    public:
        CaseInFlight(CaseScheduler& scheduler, std::size_t index)
            : scheduler_(scheduler), thread_([this, index] { run_cases(index); }) {}
        ~CaseInFlight() {
            over_ = true;
            resumed_.release();
            thread_.join();
        }
        /// Starts a case. Returns false if it has already completed.
        bool begin(std::size_t case_number) {
            case_ = case_number;
            resume_thread();
            return static_cast<bool>(request_);
        }
        void end() {
            Request& r = *request_;
            scheduler_.comm_.process.waiter.wait_until(
                [&] {
                    if (!r.complete) r.advance();
                    return r.complete;
                },
                {"the test"});
            resume_thread();
        }

        /// Called by a check: runs the algorithm in one of the three forms.
        void operator()(AlgorithmRow const& algorithm, AnyArgs args) {
            request_ = start_call(scheduler_.comm_, algorithm, args, static_cast<Call>((case_ * 5 + case_ / 7) % 8 % 3),
                                  setting_);
            if (!request_) return;
            returned_.release();
            resumed_.acquire();
            if (request_->status.error != ErrorClass::success)
                scheduler_.suite_.fail(scheduler_.suite_.cases[case_], scheduler_.rank_, request_->error_text);
            request_ = {};
        }

    private:
        void resume_thread() {
            resumed_.release();
            returned_.acquire();
        }
        void run_cases(std::size_t index) {
            std::vector<Operator> const operators = make_operators();
            std::size_t const room = scheduler_.arena_.size() / scheduler_.max_in_flight_;
            std::optional<Arena> arena;
            if (room > 0)
                arena.emplace(scheduler_.arena_.subspan(index * room, room), scheduler_.rank_, scheduler_.suite_.ranks);
            Execute const execute = std::ref(*this);
            for (resumed_.acquire(); !over_; resumed_.acquire()) {
                Suite& suite = scheduler_.suite_;
                if (arena) arena->begin(case_);
                check({suite, suite.cases[case_], scheduler_.rank_, execute, operators});
                returned_.release();
            }
        }

        CaseScheduler& scheduler_;
        std::size_t case_ = 0;
        bool over_ = false;
        Setting setting_;
        Ref<Request> request_;
        std::binary_semaphore resumed_{0}, returned_{0};
        std::thread thread_;
    };

    Comm& comm_;
    Suite& suite_;
    std::atomic<std::size_t>& at_;
    int const rank_;
    std::size_t const max_in_flight_;
    std::span<std::byte> const arena_;
    std::mt19937 random_;
};

}   // namespace

void run_overlapped_cases(Comm& comm, Suite& own, std::atomic<std::size_t>& at, int rank, std::size_t most,
                          std::span<std::byte> arena) {
    CaseScheduler(comm, own, at, rank, most, arena).run();
}

}   // namespace tutti::coll::test
