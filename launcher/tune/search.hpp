// SPDX-License-Identifier: BSD-3-Clause
// The search: for each collective and number of ranks first all algorithms; then, twice as long, what was or may become
// the best: the winners, what runs by default, and both with half and twice their sizes.
#pragma once

#include <chrono>
#include <span>
#include <string>
#include <vector>

#include "launcher/tune/plan.hpp"
#include "launcher/tune/winners.hpp"

namespace tutti::tune {

struct Found {
    Contest const* contest;
    std::vector<Stretch> stretches;
};

class Search {
public:
    /// Measures; `contests` must outlive it. A progress line on standard error where that is a terminal. `seconds` 0:
    /// all contests, about usual_seconds each; else no contest begins when they are over.
    Search(std::vector<Contest> const& contests, double seconds);

    /// By contest, without those for which the time was too short.
    std::vector<Found> const& found() const { return found_; }
    /// Those, as "scan among 4 ranks, …"; empty when all have been measured.
    std::string const& left_out() const { return left_out_; }
    std::vector<std::string> const& complaints() const { return complaints_; }
    double elapsed() const;   ///< seconds

private:
    /// Measures the settings at all sizes of the contest; `worth` is the run's part of all the work.
    std::vector<Sample> sweep(Contest const& contest, std::vector<std::string> const& settings, double worth);
    std::vector<std::string> finalists(Contest const& contest, std::vector<Sample> const& samples) const;
    void show(Contest const& contest, std::size_t size) const;
    /// Tells which contests have not been measured: those from `first` on.
    void leave_out(std::span<Contest const> rest);

    bool const limited_;
    double const seconds_;
    std::chrono::steady_clock::time_point const start_ = std::chrono::steady_clock::now();
    double work_ = 0, done_ = 0;   ///< in settings × sizes × length
    bool const terminal_;
    std::vector<Found> found_;
    std::vector<std::string> complaints_;
    std::string left_out_;
};

/// How many settings the second run of a contest has at most.
inline constexpr std::size_t most_finalists = 10;
/// Who is not faster by this part is not faster.
inline constexpr double margin = 0.03;

}   // namespace tutti::tune
