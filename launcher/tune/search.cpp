// SPDX-License-Identifier: BSD-3-Clause
// The search.
#include "launcher/tune/search.hpp"

#include <cmath>

#include "launcher/tune/plan.hpp"
#include "runtime/base/error.hpp"

namespace tutti::tune {
namespace {

constexpr double shortest = 0.001, longest = 1;   // seconds for one setting at one size

double work_of(TuningCase const& tuning_case, std::size_t settings) {
    return static_cast<double>(tuning_case.sizes().size() * (settings + 1));
}

/// The second run is estimated at its maximum number of settings, which are measured twice as long.
double work_of(TuningCase const& tuning_case) {
    return work_of(tuning_case, tuning_case.candidates().size()) + 2 * work_of(tuning_case, max_finalists);
}

/// The default was measured twice, once by its name: the difference is noise.
Sample sample_of(TuningCase const& tuning_case, std::size_t size, std::map<std::string, double> const& times) {
    Sample s{tuning_case.message_bytes(size), tuning_case.default_setting(size), {}, 0};
    double const plain = times.at(default_series);
    for (auto const& [setting, time] : times)
        if (setting != default_series && tuning_case.can_execute(setting, size)) s.times[setting] = time;
    auto const [named, fresh] = s.times.try_emplace(s.default_setting, plain);
    if (!fresh) {
        s.noise = std::abs(named->second - plain) / std::max(named->second, plain);
        named->second = std::min(named->second, plain);
    }
    return s;
}

}   // namespace

Search::Search(std::vector<TuningCase> const& tuning_cases, double seconds, bool quiet)
    : limited_(seconds > 0), seconds_(limited_ ? seconds : default_seconds * static_cast<double>(tuning_cases.size())),
      progress_("tutti-tune", seconds_, quiet) {
    for (TuningCase const& tuning_case : tuning_cases) work_ += work_of(tuning_case);
    for (TuningCase const& tuning_case : tuning_cases) {
        if (limited_ && elapsed() > seconds_ && !results_.empty()) {
            mark_unmeasured(
                std::span(tuning_cases).subspan(static_cast<std::size_t>(&tuning_case - tuning_cases.data())));
            break;
        }
        double const before = done_;
        auto samples =
            sweep(tuning_case, tuning_case.candidates(), work_of(tuning_case, tuning_case.candidates().size()));
        if (!samples.empty())
            samples = sweep(tuning_case, finalists(tuning_case, samples), 2 * work_of(tuning_case, max_finalists));
        if (!samples.empty()) results_.push_back({&tuning_case, size_ranges(samples, margin)});
        done_ = before + work_of(tuning_case);
    }
    progress_.clear();
}

void Search::mark_unmeasured(std::span<TuningCase const> rest) {
    for (TuningCase const& tuning_case : rest)
        unmeasured_ +=
            join(unmeasured_.empty() ? "" : ", ", tuning_case.name(), " among ", tuning_case.ranks(), " ranks");
    std::size_t const all = results_.size() + rest.size();
    constexpr std::size_t most_named = 3;
    std::string const cases = rest.size() <= most_named
                                  ? unmeasured_
                                  : join(rest.size(), " of ", all, " cases, which a comment in the output lists");
    double const enough = elapsed() * work_ / std::max(1.0, done_);
    diagnostics_.push_back(join("the ", std::lround(seconds_),
                                " seconds of --time ended before all cases were measured; ", "not measured: ", cases,
                                "; --time ", std::lround(std::ceil(enough / 60)), "m would be enough"));
}

double Search::elapsed() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
}

std::vector<Sample> Search::sweep(TuningCase const& tuning_case, std::vector<std::string> const& settings,
                                  double work) {
    // seconds per unit of work
    double const left = std::max(0.0, seconds_ - elapsed()) / std::max(1.0, work_ - done_);
    double const each = left * work / work_of(tuning_case, settings.size());
    Measurements const measured =
        measure(tuning_case, settings, std::clamp(each, shortest, longest), [&](std::size_t size) {
            done_ += work / static_cast<double>(tuning_case.sizes().size());
            progress_.show(done_ / work_, join(tuning_case.name(), " among ", tuning_case.ranks(), " ranks, ",
                                               coll::text_of(size), " bytes"));
        });
    diagnostics_.insert(diagnostics_.end(), measured.diagnostics.begin(), measured.diagnostics.end());
    std::vector<Sample> samples;
    for (auto const& [size, times] : measured.times)
        if (times.contains(default_series)) samples.push_back(sample_of(tuning_case, size, times));
    return samples;
}

std::vector<std::string> Search::finalists(TuningCase const& tuning_case, std::vector<Sample> const& samples) const {
    std::vector<std::string> all;
    auto add = [&](std::string const& setting) {
        if (all.size() < max_finalists && std::ranges::find(all, setting) == all.end()) all.push_back(setting);
    };
    for (SizeRange const& s : size_ranges(samples, margin)) add(s.setting);
    for (Sample const& s : samples) add(s.default_setting);
    for (std::size_t i = 0, bases = all.size(); i < bases; ++i)
        for (std::string const& variant : tuning_case.variants(all[i])) add(variant);
    return all;
}

}   // namespace tutti::tune
