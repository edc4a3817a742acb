// SPDX-License-Identifier: BSD-3-Clause
// Splits bytes into lines, and adds prefixes.
#include "launcher/supervise/lines.hpp"

#include <chrono>
#include <cstdio>
#include <ctime>

namespace tutti::launcher {

// The time is local: "2026-11-22 10:42:13.123 ".
std::string LinePrefix::now() const {
    if (!time) return text;
    using namespace std::chrono;
    auto const since = system_clock::now().time_since_epoch();
    std::time_t const second = duration_cast<std::chrono::seconds>(since).count();
    std::tm parts{};
    char date[32], all[48];
    std::strftime(date, sizeof date, "%Y-%m-%d %H:%M:%S", localtime_r(&second, &parts));
    auto const milli = static_cast<int>(duration_cast<milliseconds>(since).count() % 1000);
    std::snprintf(all, sizeof all, "%s.%03d ", date, milli);
    return all + text;
}

/// `piece` holds any number of whole lines, perhaps followed by the beginning of one more.
void LineSplitter::append_lines(std::string_view piece, std::string& out) {
    if (piece.empty()) return;
    if (prefix_.empty()) {
        out += piece;
        in_line_ = piece.back() != '\n';
        return;
    }
    std::string const prefix = prefix_.now();   // the same for all lines that arrived together
    while (!piece.empty()) {
        if (!in_line_) out += prefix;
        std::size_t end = piece.find('\n');
        in_line_ = end == std::string_view::npos;
        std::size_t length = in_line_ ? piece.size() : end + 1;
        out += piece.substr(0, length);
        piece.remove_prefix(length);
    }
}

void LineSplitter::add(std::string_view bytes, std::string& out) {
    std::size_t last = bytes.rfind('\n');
    if (last != std::string_view::npos) {
        if (!unfinished_.empty()) {
            std::size_t first = bytes.find('\n') + 1;
            unfinished_ += bytes.substr(0, first);
            append_lines(unfinished_, out);
            unfinished_.clear();
            append_lines(bytes.substr(first, last + 1 - first), out);
        } else {
            append_lines(bytes.substr(0, last + 1), out);
        }
        bytes.remove_prefix(last + 1);
    }
    unfinished_ += bytes;
    if (unfinished_.size() > limit_) show_unfinished(out);
}

void LineSplitter::show_unfinished(std::string& out) {
    append_lines(unfinished_, out);
    unfinished_.clear();
}

void LineSplitter::finish(std::string& out) {
    show_unfinished(out);
    if (in_line_ && !prefix_.empty()) out += '\n';
    in_line_ = false;
}

}   // namespace tutti::launcher
