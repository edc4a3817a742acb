// SPDX-License-Identifier: BSD-3-Clause
// The search and its progress line.
#include "launcher/tune/search.hpp"

#include <cmath>
#include <cstdio>

#include <unistd.h>

#include "launcher/tune/plan.hpp"
#include "runtime/base/error.hpp"

namespace tutti::tune {
namespace {

constexpr double shortest = 0.001, longest = 1;   // seconds for one setting at one size

double work_of(Contest const& contest, std::size_t settings) {
    return static_cast<double>(contest.sizes().size() * (settings + 1));
}

/// The second run is estimated at its maximum number of settings, which are measured twice as long.
double work_of(Contest const& contest) {
    return work_of(contest, contest.candidates().size()) + 2 * work_of(contest, most_finalists);
}

/// The default was measured twice, once by its name: the difference is noise.
Sample sample_of(Contest const& contest, std::size_t size, std::map<std::string, double> const& times) {
    Sample s{contest.message(size), contest.standard(size), {}, 0};
    double const plain = times.at(by_default);
    for (auto const& [setting, time] : times)
        if (setting != by_default && contest.can(setting, size)) s.times[setting] = time;
    auto const [named, fresh] = s.times.try_emplace(s.standard, plain);
    if (!fresh) {
        s.noise = std::abs(named->second - plain) / std::max(named->second, plain);
        named->second = std::min(named->second, plain);
    }
    return s;
}

}   // namespace

Search::Search(std::vector<Contest> const& contests, double seconds)
    : limited_(seconds > 0), seconds_(limited_ ? seconds : usual_seconds * static_cast<double>(contests.size())),
      terminal_(isatty(2)) {
    for (Contest const& contest : contests) work_ += work_of(contest);
    for (Contest const& contest : contests) {
        if (limited_ && elapsed() > seconds_ && !found_.empty()) {
            leave_out(std::span(contests).subspan(static_cast<std::size_t>(&contest - contests.data())));
            break;
        }
        double const before = done_;
        auto samples = sweep(contest, contest.candidates(), work_of(contest, contest.candidates().size()));
        if (!samples.empty())
            samples = sweep(contest, finalists(contest, samples), 2 * work_of(contest, most_finalists));
        if (!samples.empty()) found_.push_back({&contest, stretches(samples, margin)});
        done_ = before + work_of(contest);
    }
    if (terminal_) std::fputs("\r\033[K", stderr);
}

void Search::leave_out(std::span<Contest const> rest) {
    for (Contest const& contest : rest)
        left_out_ += join(left_out_.empty() ? "" : ", ", contest.name(), " among ", contest.ranks(), " ranks");
    double const enough = elapsed() * work_ / std::max(1.0, done_);
    complaints_.push_back(join("the ", std::lround(seconds_), " seconds of --time were over before all was measured; ",
                               "left out: ", left_out_, "; --time ", std::lround(std::ceil(enough / 60)),
                               "m would be about enough"));
}

double Search::elapsed() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
}

std::vector<Sample> Search::sweep(Contest const& contest, std::vector<std::string> const& settings, double worth) {
    // seconds per unit of work
    double const left = std::max(0.0, seconds_ - elapsed()) / std::max(1.0, work_ - done_);
    double const each = left * worth / work_of(contest, settings.size());
    Measured const measured = measure(contest, settings, std::clamp(each, shortest, longest), [&](std::size_t size) {
        done_ += worth / static_cast<double>(contest.sizes().size());
        show(contest, size);
    });
    complaints_.insert(complaints_.end(), measured.complaints.begin(), measured.complaints.end());
    std::vector<Sample> samples;
    for (auto const& [size, times] : measured.times)
        if (times.contains(by_default)) samples.push_back(sample_of(contest, size, times));
    return samples;
}

std::vector<std::string> Search::finalists(Contest const& contest, std::vector<Sample> const& samples) const {
    std::vector<std::string> all;
    auto add = [&](std::string const& setting) {
        if (all.size() < most_finalists && std::ranges::find(all, setting) == all.end()) all.push_back(setting);
    };
    for (Stretch const& s : stretches(samples, margin)) add(s.setting);
    for (Sample const& s : samples) add(s.standard);
    for (std::size_t i = 0, bases = all.size(); i < bases; ++i)
        for (std::string const& variant : contest.variants(all[i])) add(variant);
    return all;
}

void Search::show(Contest const& contest, std::size_t size) const {
    if (!terminal_) return;
    double const part = done_ / work_, left = std::max(0.0, elapsed() * (1 - part) / std::max(part, 1e-3));
    std::fprintf(stderr, "\r\033[K%s, %d ranks, %s bytes: %.0f %%, %.0f:%02.0f left", contest.name(), contest.ranks(),
                 coll::text_of(size).c_str(), 100 * part, std::floor(left / 60), std::floor(std::fmod(left, 60)));
}

}   // namespace tutti::tune
