// SPDX-License-Identifier: BSD-3-Clause
// From times to choices, with noise in mind: who is chosen without a tuning file stays where nobody is clearly faster,
// and who has won at one size stays at the next where nobody is clearly faster than that. A new winner is the fastest,
// or a simpler one that is about as fast.
#pragma once

#include <algorithm>
#include <cstddef>
#include <map>
#include <ranges>
#include <string>
#include <vector>

namespace tutti::tune {

/// What was measured at one size, which stands for all sizes above the one before.
struct Sample {
    std::size_t bytes;                     ///< of the message as the choice counts it; a power of two
    std::string standard;                  ///< what runs without a tuning file
    std::map<std::string, double> times;   ///< by setting, that of the standard among them
    double noise = 0;                      ///< by how much two measurements of the same differed
};

/// Neighbouring sizes with one choice.
struct Stretch {
    std::size_t bytes;   ///< the largest size
    std::string setting;
    std::string standard;   ///< at the size where most is gained
    double gain;            ///< there: the part of the standard's time that is saved
};

/// Who is chosen at one size; `before` is the choice at the next smaller one, or empty.
inline std::string const& winner(Sample const& s, std::string const& before, double margin) {
    auto const best = std::ranges::min_element(s.times, {}, [](auto const& entry) { return entry.second; });
    double const bound = best->second / (1 - std::max(margin, s.noise));
    for (std::string const* incumbent : {&s.standard, &before})
        if (auto const found = s.times.find(*incumbent); found != s.times.end() && found->second <= bound)
            return found->first;
    std::string const* simplest = &best->first;   // a parameter that makes no difference is none
    for (auto const& [setting, time] : s.times)
        if (time <= bound && setting.size() < simplest->size()) simplest = &setting;
    return *simplest;
}

/// `samples` by growing size, each with at least its standard's time.
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

/// Does any choice differ from what runs without a tuning file?
inline bool differs(std::vector<Stretch> const& stretches) {
    return std::ranges::any_of(stretches, [](Stretch const& s) { return s.gain > 0; });
}

}   // namespace tutti::tune
