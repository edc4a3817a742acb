// SPDX-License-Identifier: BSD-3-Clause
// Values of options as text. Each throws Complaint, which names the option (`what`), the value and what it may be.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tutti::launcher {

/// A whole number from `least` to a million.
int number(std::string_view what, std::string const& text, int least);
/// Seconds, also with a fraction, from `least` to `most`.
std::chrono::milliseconds seconds(std::string_view what, std::string const& text, double least,
                                  int most = 1'000'000'000);
/// What stands between commas.
std::vector<std::string> split_list(std::string_view text);
/// yes, no, true, false, t, f, 1, 0 and the like.
bool boolean(std::string_view what, std::string const& text);
/// Seconds, or [[days:]hours:]minutes:seconds.
std::chrono::milliseconds clock_time(std::string_view what, std::string const& text);
/// None: auto.
std::optional<bool> yes_no_auto(std::string_view what, std::string const& text);
/// Is it the word for yes? The only other one is that for no.
bool one_of(std::string_view what, std::string const& text, std::string_view yes, std::string_view no);

}   // namespace tutti::launcher
