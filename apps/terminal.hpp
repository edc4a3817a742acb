// SPDX-License-Identifier: BSD-3-Clause
// Terminals: their width, whether they show colours, and the progress of long work with an estimate of the time that
// remains. Used by all programs with a help, and by mpiexec. Needs only the standard library and POSIX.
#pragma once

#include <sys/ioctl.h>
#include <unistd.h>
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

namespace apps {

/// Returns the number of columns of the terminal at this descriptor, or 0 if there is none.
inline std::size_t terminal_columns(int descriptor) {
    winsize size{};
    return isatty(descriptor) && ioctl(descriptor, TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
}

/// Returns the width of lines on standard output: COLUMNS, or that of the terminal, but at most 110; 110 if neither is
/// known.
inline std::size_t text_width() {
    constexpr long least = 40, most = 110;
    char const* const columns = std::getenv("COLUMNS");
    long width = columns ? std::atol(columns) : 0;
    if (width <= 0) width = long(terminal_columns(STDOUT_FILENO));
    return std::size_t(width <= 0 ? most : std::clamp(width, least, most));
}

/// False if escape sequences would appear as text on the terminal.
inline bool has_escapes(bool terminal) {
    char const* const kind = std::getenv("TERM");
    return terminal && !(kind && std::string_view(kind) == "dumb");
}

/// True if text for this terminal may have colours: NO_COLOR (https://no-color.org) is not set, or empty.
inline bool has_colours(bool terminal) {
    char const* const none = std::getenv("NO_COLOR");
    return has_escapes(terminal) && !(none && *none);
}

/// Returns "7 s", "12:30 min" or "1:05 h", rounded up.
inline std::string duration_text(double seconds) {
    long const all = long(std::ceil(std::max(0.0, seconds)));
    char text[32];
    if (all < 60) std::snprintf(text, sizeof text, "%ld s", all);
    else if (all < 3600) std::snprintf(text, sizeof text, "%ld:%02ld min", all / 60, all % 60);
    else std::snprintf(text, sizeof text, "%ld:%02ld h", all / 3600, all / 60 % 60);
    return text;
}

/// On a terminal, a bar that is redrawn in place and removed at the end; otherwise one line per tenth of the work,
/// unless the work is short. One thread.
class Progress {
public:
    /// Work that is expected to take less than this is short.
    static constexpr double short_seconds = 10;

    /// `expected`: the seconds that all the work is expected to take. `quiet`: show nothing.
    Progress(std::string program, double expected, bool quiet)
        : program_(std::move(program)), expected_(expected), quiet_(quiet) {}
    ~Progress() { clear(); }
    Progress(Progress const&) = delete;
    Progress& operator=(Progress const&) = delete;

    /// `part` of the work, from 0 to 1, is done; `current` says what is being done. Must not be called with a smaller
    /// part than before.
    void show(double part, std::string const& current) {
        if (quiet_) return;
        double const left = (1 - part) * (part < 0.05 ? expected_ : elapsed() / part);
        if (columns_) draw(part, duration_text(left) + " left, " + current);
        else if (int const tenth = int(part * 10 + 1e-9); tenth > tenth_ && tenth < 10 && expected_ >= short_seconds)
            std::fprintf(stderr, "%s: %d %% done, about %s left (%s)\n", program_.c_str(), 10 * (tenth_ = tenth),
                         duration_text(left).c_str(), current.c_str());
    }

    /// Removes the bar, so that other text can be printed; the next call of show() draws it again.
    void clear() {
        if (drawn_) std::fputs("\r\033[K", stderr);
        drawn_ = false;
    }

private:
    double elapsed() const { return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count(); }

    void draw(double part, std::string const& text) {
        constexpr int width = 20;
        int const full = std::clamp(int(part * width), 0, width);
        char percent[16];
        std::snprintf(percent, sizeof percent, "] %3.0f %%, ", 100 * part);
        std::string line =
            "[" + std::string(std::size_t(full), '#') + std::string(std::size_t(width - full), '-') + percent + text;
        line.resize(std::min(line.size(), columns_ - 1));   // a line that wraps could not be redrawn in place
        std::fprintf(stderr, "\r\033[K%s", line.c_str());
        drawn_ = true;
    }

    std::string program_;
    double expected_;
    bool quiet_, drawn_ = false;
    std::size_t columns_ = has_escapes(true) ? terminal_columns(STDERR_FILENO) : 0;   ///< 0: a line cannot be redrawn
    int tenth_ = 0;
    std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

}   // namespace apps
