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

#include "apps/terminal.hpp"
#include "launcher/tune/plan.hpp"

// Chooses from times, taking noise into account. The default stays unless another setting is clearly faster, and the
// winner at one size stays at the next size unless another is clearly faster than it. A new winner is the fastest
// setting, or a simpler one that is about as fast.

namespace tutti::tune {

/// The measurements at one size, which represents all sizes above the previous one.
struct Sample {
    std::size_t bytes;                     ///< message size as the table of choices counts it; a power of two
    std::string default_setting;           ///< the setting that runs without a tuning file
    std::map<std::string, double> times;   ///< by setting, including the default
    double noise = 0;                      ///< relative difference of two measurements of the same setting
};

/// A range of adjacent sizes with the same choice.
struct SizeRange {
    std::size_t bytes;   ///< the largest size
    std::string setting;
    std::string default_setting;   ///< the default at the size with the greatest gain
    double gain;                   ///< at that size: the fraction of the default's time that is saved
};

/// Returns the choice at one size; `before` is the choice at the next smaller size, or empty.
inline std::string const& choose_setting(Sample const& s, std::string const& before, double margin) {
    auto const best = std::ranges::min_element(s.times, {}, [](auto const& entry) { return entry.second; });
    double const bound = best->second / (1 - std::max(margin, s.noise));
    for (std::string const* incumbent : {&s.default_setting, &before})
        if (auto const found = s.times.find(*incumbent); found != s.times.end() && found->second <= bound)
            return found->first;
    std::string const* simplest = &best->first;   // a parameter that makes no difference is dropped
    for (auto const& [setting, time] : s.times)
        if (time <= bound && setting.size() < simplest->size()) simplest = &setting;
    return *simplest;
}

/// Returns the ranges of sizes. `samples` are ordered by size, each with at least the default's time.
inline std::vector<SizeRange> size_ranges(std::vector<Sample> const& samples, double margin) {
    std::vector<SizeRange> all;
    for (Sample const& s : samples) {
        std::string const& chosen = choose_setting(s, all.empty() ? std::string() : all.back().setting, margin);
        double const gain = 1 - s.times.at(chosen) / s.times.at(s.default_setting);
        if (all.empty() || all.back().setting != chosen) all.push_back({s.bytes, chosen, s.default_setting, gain});
        all.back().bytes = s.bytes;
        if (gain > all.back().gain) all.back().gain = gain, all.back().default_setting = s.default_setting;
    }
    return all;
}

/// True if a choice differs from what runs without a tuning file.
inline bool has_gain(std::vector<SizeRange> const& size_ranges) {
    return std::ranges::any_of(size_ranges, [](SizeRange const& s) { return s.gain > 0; });
}

struct CaseResult {
    TuningCase const* tuning_case;
    std::vector<SizeRange> size_ranges;
};

class Search {
public:
    /// Measures. `tuning_cases` must stay valid as long as this object. Shows its progress unless it is `quiet`. If
    /// `seconds` is 0, measures all tuning cases, about default_seconds each; otherwise starts no case after that time.
    Search(std::vector<TuningCase> const& tuning_cases, double seconds, bool quiet);

    /// Returns the results by tuning case, without cases for which the time was too short.
    std::vector<CaseResult> const& results() const { return results_; }
    /// Returns the names of the unmeasured cases, such as "scan among 4 ranks, …"; empty if all have been measured.
    std::string const& unmeasured() const { return unmeasured_; }
    std::vector<std::string> const& diagnostics() const { return diagnostics_; }
    double elapsed() const;   ///< seconds

private:
    /// Measures the settings at all sizes of the case; `work` is the amount of work of this run.
    std::vector<Sample> sweep(TuningCase const& tuning_case, std::vector<std::string> const& settings, double work);
    std::vector<std::string> finalists(TuningCase const& tuning_case, std::vector<Sample> const& samples) const;
    /// Records in unmeasured_ that these cases have not been measured.
    void mark_unmeasured(std::span<TuningCase const> rest);

    bool const limited_;
    double const seconds_;
    std::chrono::steady_clock::time_point const start_ = std::chrono::steady_clock::now();
    double work_ = 0, done_ = 0;   ///< in settings × sizes × length
    apps::Progress progress_;
    std::vector<CaseResult> results_;
    std::vector<std::string> diagnostics_;
    std::string unmeasured_;
};

/// Maximum number of settings in the second run of a case.
inline constexpr std::size_t max_finalists = 10;
/// A setting must be faster by more than this fraction (or than the noise, if that is greater) to count as faster.
inline constexpr double margin = 0.03;

// The output of tutti-tune: the plan, and the file.

/// Returns in a few lines what will be measured, how long it will take, and where the results go.
std::string introduction(std::vector<TuningCase> const& tuning_cases, topo::Machine const& machine,
                         Options const& options);
/// Returns the list of what would be measured.
std::string plan_text(std::vector<TuningCase> const& tuning_cases, topo::Machine const& machine,
                      Options const& options);
/// Throws TuneError if options.output cannot be written, or is no tuning file. Creates its folder if necessary.
void check_output(Options const& options);
/// Writes options.output and keeps the lines of an older file for collectives that were not measured. Throws
/// TuneError.
void write_table(Search const& search, topo::Machine const& machine, Options const& options);

}   // namespace tutti::tune
