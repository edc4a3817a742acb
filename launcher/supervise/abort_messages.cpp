// SPDX-License-Identifier: BSD-3-Clause
// Finds, delays and merges the messages with which ranks end the job.
#include "launcher/supervise/abort_messages.hpp"

#include <algorithm>

#include "launcher/diagnosis/explanations/explanations.hpp"
#include "launcher/supervise/output.hpp"
#include "runtime/base/error.hpp"

namespace tutti::launcher {

std::string LastWords::line() const { return join("rank ", rank, ": ", sentence, "\n"); }

std::optional<LastWords> last_words_on(RankState const* rank_state) {
    if (!rank_state) return {};
    NotedWords::State const state = rank_state->last_words.state.load(std::memory_order_acquire);
    if (state != NotedWords::said && state != NotedWords::heard) return {};
    NotedWords const& noted = rank_state->last_words;
    std::size_t const addresses = std::min<std::size_t>(noted.addresses, NotedWords::most_addresses);
    return LastWords{.rank = rank_state->world_rank,
                     .sentence = text_in(noted.sentence),
                     .code = text_in(noted.code),
                     .call = text_in(noted.call),
                     .help = text_in(noted.help),
                     .stack = {noted.stack, noted.stack + addresses},
                     .place = {text_in(noted.script)}};
}

bool take_out(std::string& lines, LastWords const& words, LinePrefix const& prefix) {
    std::string const line = words.line();
    for (std::size_t at = lines.find(line); at != std::string::npos; at = lines.find(line, at + 1)) {
        std::size_t const begin = at == 0 ? 0 : lines.rfind('\n', at - 1) + 1;
        std::string_view const before = std::string_view(lines).substr(begin, at - begin);
        if (!before.ends_with(prefix.text) || (!prefix.time && before.size() != prefix.text.size())) continue;
        lines.erase(begin, at + line.size() - begin);
        return true;
    }
    return false;
}

Report report_of(LastWords const& words) {
    Report report{.code = words.code,
                  .headline = words.sentence,
                  .lines = {{{words.rank}, words.call, words.place.words}},
                  .help = words.help.empty() ? help_for(words.code) : words.help};
    if (words.place.without_g) report.notes.emplace_back(more_with_g);
    return report;
}

bool add_to(Report& report, LastWords const& words) {
    if (report.code != words.code || report.headline != words.sentence) return false;
    report.lines.push_back({{words.rank}, words.call, words.place.words});
    if (words.place.without_g && report.notes.empty()) report.notes.emplace_back(more_with_g);
    return true;
}

void HeldWords::add(Sink& sink, LastWords const& words, Clock::time_point now) {
    if (held_.empty()) since_ = now;
    bool const known = std::ranges::any_of(
        held_, [&](Held& one) { return one.sink == &sink && one.lines.empty() && add_to(one.report, words); });
    if (!known) held_.push_back({&sink, "", report_of(words)});
}

void HeldWords::add_lines(Sink& sink, std::string_view lines) { held_.push_back({&sink, std::string(lines)}); }

std::string HeldWords::text_of(Held const& one) const {
    if (!one.lines.empty()) return one.lines;
    return json_ ? json_of(one.report) : launcher::text_of(one.report, one.sink->terminal());
}

void HeldWords::write_all() {
    for (Held const& one : held_) one.sink->add(this, text_of(one));
    for (Held const& one : held_) one.sink->write_some();
    held_.clear();
}

}   // namespace tutti::launcher
