// SPDX-License-Identifier: BSD-3-Clause
// The search. For each collective and number of ranks it first measures all algorithms; then, twice as long, the
// finalists: the winners, the default, and both with half and twice their sizes.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <map>
#include <ranges>
#include <span>
#include <string>
#include <vector>

#include "launcher/tune/plan.hpp"

// Chooses from times, taking noise into account. The default stays unless another setting is clearly faster, and the
// winner at one size stays at the next size unless another is clearly faster than it. A new winner is the fastest
// setting, or a simpler one that is about as fast.

namespace tutti::tune {

/// The measurements at one size, which represents all sizes above the previous one.
struct Sample {
    std::size_t bytes;                     ///< message size as the table of choices counts it; a power of two
    std::string standard;                  ///< the setting that runs without a tuning file
    std::map<std::string, double> times;   ///< by setting, including the standard
    double noise = 0;                      ///< relative difference of two measurements of the same setting
};

/// A range of adjacent sizes with the same choice.
struct Stretch {
    std::size_t bytes;   ///< the largest size
    std::string setting;
    std::string standard;   ///< the standard at the size with the greatest gain
    double gain;            ///< at that size: the fraction of the standard's time that is saved
};

/// Returns the choice at one size; `before` is the choice at the next smaller size, or empty.
inline std::string const& winner(Sample const& s, std::string const& before, double margin) {
    auto const best = std::ranges::min_element(s.times, {}, [](auto const& entry) { return entry.second; });
    double const bound = best->second / (1 - std::max(margin, s.noise));
    for (std::string const* incumbent : {&s.standard, &before})
        if (auto const found = s.times.find(*incumbent); found != s.times.end() && found->second <= bound)
            return found->first;
    std::string const* simplest = &best->first;   // a parameter that makes no difference is dropped
    for (auto const& [setting, time] : s.times)
        if (time <= bound && setting.size() < simplest->size()) simplest = &setting;
    return *simplest;
}

/// Returns the stretches. `samples` are ordered by size, each with at least its standard's time.
inline std::vector<Stretch> stretches(std::vector<Sample> const& samples, double margin) {
    std::vector<Stretch> all;
    for (Sample const& s : samples) {
        std::string const& chosen = winner(s, all.empty() ? std::string() : all.back().setting, margin);
        double const gain = 1 - s.times.at(chosen) / s.times.at(s.standard);
        if (all.empty() || all.back().setting != chosen) all.push_back({s.bytes, chosen, s.standard, gain});
        all.back().bytes = s.bytes;
        if (gain > all.back().gain) all.back().gain = gain, all.back().standard = s.standard;
    }
    return all;
}

/// True if a choice differs from what runs without a tuning file.
inline bool differs(std::vector<Stretch> const& stretches) {
    return std::ranges::any_of(stretches, [](Stretch const& s) { return s.gain > 0; });
}

struct Found {
    Contest const* contest;
    std::vector<Stretch> stretches;
};

class Search {
public:
    /// Measures. `contests` must outlive this object. Prints a progress line if standard error is a terminal. If
    /// `seconds` is 0, measures all contests, about usual_seconds each; otherwise starts no contest after that time.
    Search(std::vector<Contest> const& contests, double seconds);

    /// Returns the results by contest, without contests for which the time was too short.
    std::vector<Found> const& found() const { return found_; }
    /// Returns the names of these contests, such as "scan among 4 ranks, …"; empty if all have been measured.
    std::string const& left_out() const { return left_out_; }
    std::vector<std::string> const& complaints() const { return complaints_; }
    double elapsed() const;   ///< seconds

private:
    /// Measures the settings at all sizes of the contest; `worth` is the amount of work of this run.
    std::vector<Sample> sweep(Contest const& contest, std::vector<std::string> const& settings, double worth);
    std::vector<std::string> finalists(Contest const& contest, std::vector<Sample> const& samples) const;
    void show(Contest const& contest, std::size_t size) const;
    /// Records in left_out_ that these contests have not been measured.
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

/// Maximum number of settings in the second run of a contest.
inline constexpr std::size_t most_finalists = 10;
/// A setting must be faster by more than this fraction (or than the noise, if that is greater) to count as faster.
inline constexpr double margin = 0.03;

// The output of tutti-tune: the plan, and the file.

/// Returns the list of what would be measured.
std::string plan_text(std::vector<Contest> const& contests, topo::Machine const& machine, Options const& options);
/// Throws Complaint if options.output cannot be written. Creates its folder if necessary.
void check_output(Options const& options);
/// Writes options.output and keeps the lines of an older file for collectives that were not measured. Throws
/// Complaint.
void write_table(Search const& search, topo::Machine const& machine, Options const& options);

}   // namespace tutti::tune
