// SPDX-License-Identifier: BSD-3-Clause
#include "coll/match/report.hpp"

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include <time.h>
#include <unistd.h>

#include "runtime/base/error.hpp"

namespace tutti::coll {
namespace {

constexpr time_t longest_wait_s = 10;   // for a launcher that does not look

template <std::size_t n>
void put_text(char (&to)[n], std::string const& text) {
    std::size_t const length = std::min(text.size(), n - 1);
    std::memcpy(to, text.data(), length);
    to[length] = 0;
}

void fill(Finding& finding, Mistake const& mistake) {
    put_text(finding.code, mistake.code);
    put_text(finding.headline, mistake.headline);
    put_text(finding.help, mistake.help);
    finding.places = static_cast<std::uint32_t>(mistake.parts.size());
    for (std::size_t i = 0; i < mistake.parts.size(); ++i) {
        Mistake::Part const& part = mistake.parts[i];
        Finding::Place& place = finding.place[i];
        place.rank = part.rank;
        place.addresses = part.site != 0;
        place.stack[0] = part.site;
        put_text(place.call, part.call);
        put_text(place.remark, part.remark);
    }
}

std::string text_of(Mistake const& mistake) {
    std::string text = mistake.headline;
    for (Mistake::Part const& part : mistake.parts)
        text += join("\n  rank ", part.rank, ": ", part.call, part.remark.empty() ? "" : ": ", part.remark);
    return join(text, "\n  ", mistake.help, " (", mistake.code, ")");
}

/// Sleeps until the launcher ends the job. Where there is none that looks, the rank tells what it has found.
[[noreturn]] void wait_for_the_end(Process& process, Mistake const& mistake) {
    timespec left{longest_wait_s, 0};
    while (process.supervised && nanosleep(&left, &left) != 0) {}
    std::string const text = text_of(mistake);
    if (process.end_job) process.end_job(1, text);
    if (write(2, text.data(), text.size()) < 0) {}   // nobody to tell that nobody can be told
    std::abort();
}

}   // namespace

void report(Process& process, Mistake const& mistake) {
    Finding& finding = process.rank_state().finding;
    fill(finding, mistake);
    finding.valid.store(1, std::memory_order_release);
    wait_for_the_end(process, mistake);
}

}   // namespace tutti::coll
