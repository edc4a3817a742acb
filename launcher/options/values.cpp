// SPDX-License-Identifier: BSD-3-Clause
// Values of options as text, and what is wrong with them.
#include "launcher/options/values.hpp"

#include <charconv>
#include <cstdlib>

#include "launcher/allocation/hosts.hpp"
#include "launcher/base/job.hpp"
#include "launcher/options/options.hpp"
#include "runtime/base/error.hpp"
#include "runtime/settings/setting_text.hpp"
#include "topo/base/words.hpp"

namespace tutti::launcher {

int number(std::string_view what, std::string const& text, int least) {
    constexpr int most = 1'000'000;
    int value = 0;
    auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc{} || end != text.data() + text.size() || value < least || value > most)
        throw Complaint(join(what, " must be a whole number, at least ", least, " and at most ", most, ", not '",
                             shown(text), "'"));
    return value;
}

std::chrono::milliseconds seconds(std::string_view what, std::string const& text, double least, int most) {
    char* end = nullptr;
    double value = std::strtod(text.c_str(), &end);
    if (text.empty() || *end != 0 || !(value >= least && value <= most))
        throw Complaint(
            join(what, " must be a number of seconds from ", least, " to ", most, ", not '", shown(text), "'"));
    return std::chrono::milliseconds(static_cast<long long>(value * 1000));
}

std::vector<std::string> split_list(std::string_view text) {
    std::vector<std::string> words;
    while (!text.empty()) {
        std::size_t comma = std::min(text.find(','), text.size());
        if (comma > 0) words.emplace_back(text.substr(0, comma));
        text.remove_prefix(std::min(comma + 1, text.size()));
    }
    return words;
}

bool boolean(std::string_view what, std::string const& text) {
    bool value = false;
    std::string const word = topo::lower(text);
    if (word == "t" || word == "f") return word == "t";
    if (parse_setting(word, value)) return value;
    throw Complaint(join(what, " must be true or false, not '", shown(text), "'"));
}

std::chrono::milliseconds clock_time(std::string_view what, std::string const& text) {
    constexpr int units[] = {1, 60, 3600, 86'400};   // seconds, from the end of the text on
    std::vector<std::string> const parts = topo::split_words(text, ":");
    if (parts.size() == 1) return seconds(what, text, 0);
    long sum = 0;
    for (std::size_t i = 0; i < parts.size(); ++i) {
        auto const part = topo::whole_number(parts[parts.size() - 1 - i]);
        if (i >= std::size(units) || !part)
            throw Complaint(join(what, " must be seconds or days:hours:minutes:seconds, not '", shown(text), "'"));
        sum += long{*part} * units[i];
    }
    return seconds(what, std::to_string(sum), 0);
}

std::optional<bool> yes_no_auto(std::string_view what, std::string const& text) {
    bool value = false;
    if (text == "auto") return {};
    if (parse_setting(text, value)) return value;
    throw Complaint(join(what, " must be yes, no or auto, not '", text, "'"));
}

bool one_of(std::string_view what, std::string const& text, std::string_view yes, std::string_view no) {
    if (text == yes || text == no) return text == yes;
    throw Complaint(join(what, " must be ", yes, " or ", no, ", not '", shown(text), "'"));
}

}   // namespace tutti::launcher
