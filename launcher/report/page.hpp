// SPDX-License-Identifier: BSD-3-Clause
// The report as one self-contained HTML file: the page (launcher/report/page/), the sums as JSON, and all calls,
// messages and collectives as packed numbers, which the page draws.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "launcher/diagnosis/report.hpp"
#include "launcher/report/summary.hpp"

namespace tutti::launcher {

/// Variable-length numbers for the page: seven bits per byte, the lowest first; the top bit marks that a byte follows.
/// Most numbers are small.
class PackedNumbers {
public:
    void add(std::uint64_t value) {
        for (; value >= 128; value >>= 7) bytes_ += static_cast<char>(value | 128);
        bytes_ += static_cast<char>(value);
    }
    /// Adds a signed number in zigzag form: 0, −1, 1, −2, … become 0, 1, 2, 3, …
    void add_signed(std::int64_t value) {
        add(static_cast<std::uint64_t>(value) << 1 ^ static_cast<std::uint64_t>(value >> 63));
    }
    /// Adds a length; one that is negative because clocks differ slightly becomes 0.
    void add_length(std::int64_t value) { add(value < 0 ? 0 : static_cast<std::uint64_t>(value)); }
    std::string_view bytes() const { return bytes_; }

private:
    std::string bytes_;
};

/// Returns the bytes in Base64 (RFC 4648, section 4).
std::string base64(std::string_view bytes);

/// The contents of a report besides the recording.
struct ReportContext {
    std::string command;   ///< as given to mpiexec
    std::string date;      ///< when the job ended
    std::string failure;   ///< why the job failed, with a full stop; empty: it succeeded
    int exit_code = 0;
    std::vector<Report> reports;   ///< errors and warnings
    std::vector<RecordedNode> nodes;
};

/// Returns the whole HTML page.
std::string page_of(Recording const& recording, Timeline const& timeline, Summary const& summary,
                    ReportContext const& context);

/// The files of the page (launcher/report/page/), embedded by CMake.
extern char const page_html[], page_css[], page_js[];

}   // namespace tutti::launcher
