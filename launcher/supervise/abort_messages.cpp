// SPDX-License-Identifier: BSD-3-Clause
// Finds, delays and merges the messages with which ranks end the job.
#include "launcher/supervise/abort_messages.hpp"

#include <algorithm>

#include "apps/terminal.hpp"
#include "launcher/base/text.hpp"
#include "launcher/diagnosis/explanations/explanations.hpp"
#include "launcher/supervise/output.hpp"
#include "runtime/base/error.hpp"

namespace tutti::launcher {

std::string RankAbortMessage::line() const { return join("rank ", call.rank, ": ", error.headline, "\n"); }

std::optional<RankAbortMessage> read_abort_message(RankState const* rank_state) {
    if (!rank_state) return {};
    AbortMessage::State const state = rank_state->abort_message.state.load(std::memory_order_acquire);
    if (state != AbortMessage::written && state != AbortMessage::read) return {};
    AbortMessage const& recorded = rank_state->abort_message;
    return RankAbortMessage{read_error(recorded.error), read_call(recorded.call, rank_state->world_rank)};
}

bool remove_message_line(std::string& lines, RankAbortMessage const& message, LinePrefix const& prefix) {
    std::string const line = message.line();
    for (std::size_t at = lines.find(line); at != std::string::npos; at = lines.find(line, at + 1)) {
        std::size_t const begin = at == 0 ? 0 : lines.rfind('\n', at - 1) + 1;
        std::string_view const before = std::string_view(lines).substr(begin, at - begin);
        if (!before.ends_with(prefix.text) || (!prefix.time && before.size() != prefix.text.size())) continue;
        lines.erase(begin, at + line.size() - begin);
        return true;
    }
    return false;
}

Report make_report(RankAbortMessage const& message) {
    ErrorText const& error = message.error;
    Report report{.code = error.code,
                  .headline = error.headline,
                  .lines = {},
                  .help = error.help.empty() ? help_for(error.code) : error.help};
    report.add(message.call);
    return report;
}

bool add_to(Report& report, RankAbortMessage const& message) {
    if (report.code != message.error.code || report.headline != message.error.headline) return false;
    report.add(message.call);
    return true;
}

void MessageMerger::add(Sink& sink, RankAbortMessage const& message, Clock::time_point now) {
    if (delayed_.empty()) since_ = now;
    bool const known = std::ranges::any_of(
        delayed_, [&](Delayed& one) { return one.sink == &sink && one.lines.empty() && add_to(one.report, message); });
    if (!known) delayed_.push_back({&sink, "", make_report(message)});
}

void MessageMerger::add_lines(Sink& sink, std::string_view lines) { delayed_.push_back({&sink, std::string(lines)}); }

std::string MessageMerger::text_of(Delayed const& one) const {
    if (!one.lines.empty()) return one.lines;
    return json_ ? json_of(one.report) : launcher::text_of(one.report, apps::has_colours(one.sink->terminal()));
}

void MessageMerger::write_all() {
    for (Delayed const& one : delayed_) one.sink->add(this, text_of(one));
    for (Delayed const& one : delayed_) one.sink->write_some();
    delayed_.clear();
}

}   // namespace tutti::launcher
