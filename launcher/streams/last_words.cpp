// SPDX-License-Identifier: BSD-3-Clause
// Finding, holding and putting together what ranks say last.
#include "launcher/streams/last_words.hpp"

#include <algorithm>
#include <cstring>

#include "launcher/base/words.hpp"
#include "launcher/streams/output.hpp"
#include "runtime/base/error.hpp"

namespace tutti::launcher {

std::string LastWords::line() const { return join("rank ", rank, ": ", sentence, "\n"); }

std::optional<LastWords> last_words_on(RankState const* rank_state) {
    if (!rank_state || rank_state->said.load(std::memory_order_acquire) == 0) return {};
    char const* const text = rank_state->last_words;
    return LastWords{rank_state->world_rank, std::string(text, strnlen(text, sizeof rank_state->last_words))};
}

bool take_out(std::string& lines, LastWords const& words) {
    std::string const line = words.line();
    std::size_t at = lines.find(line);
    while (at != std::string::npos && at != 0 && lines[at - 1] != '\n') at = lines.find(line, at + 1);
    if (at == std::string::npos) return false;
    lines.erase(at, line.size());
    return true;
}

void HeldWords::add(Sink& sink, LastWords const& words, Clock::time_point now) {
    if (held_.empty()) since_ = now;
    auto const same = std::ranges::find_if(
        held_, [&](Held const& one) { return one.sink == &sink && !one.ranks.empty() && one.text == words.sentence; });
    if (same != held_.end()) same->ranks.push_back(words.rank);
    else held_.push_back({&sink, words.sentence, {words.rank}});
}

void HeldWords::add_lines(Sink& sink, std::string_view lines) { held_.push_back({&sink, std::string(lines), {}}); }

void HeldWords::write_all() {
    for (Held const& one : held_)
        one.sink->add(this, one.ranks.empty() ? one.text : join(rank_ranges(one.ranks), ": ", one.text, "\n"));
    for (Held const& one : held_) one.sink->write_some();
    held_.clear();
}

}   // namespace tutti::launcher
