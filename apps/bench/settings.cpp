// SPDX-License-Identifier: BSD-3-Clause
// The command line.
#include "settings.hpp"

#include "operation.hpp"

#include <cctype>
#include <cstdlib>
#include <sstream>

namespace bench {
namespace {

std::string help()
{
    std::ostringstream out;
    out << "Usage: mpiexec -n N tutti-bench [options] [operation ...]\n\n"
           "Measures each operation by itself: buffers written anew, a barrier over a shared page (not MPI's), then\n"
           "one call, of which the slowest rank's time counts. Reports the median, least and greatest over the\n"
           "iterations. Results are checked. A size is what one rank contributes (to each other rank, where that\n"
           "differs).\n\n"
           "  --sizes FROM:TO     bytes, doubling in between; K and M are understood (8:1M)\n"
           "  --iterations N      at most so many per line (1000)\n"
           "  --warmup N          iterations before measuring (20)\n"
           "  --seconds S         at most so long per line (1)\n"
           "  --root R            of rooted operations: a rank, or 'every' for each in turn (every)\n"
           "  --warm              leave the buffers as they are between iterations\n"
           "  --no-check          do not look at the results\n"
           "  --limit             two columns more: the time of a kernel of the same memory traffic between the same\n"
           "                      ranks, written by hand over shared memory, and the operation's time divided by it\n"
           "  --csv               lines of operation,ranks,bytes,iterations,median,least,greatest in microseconds,\n"
           "                      with --limit two fields more, empty where there is no kernel\n\n"
           "Operations (all when none is named):\n";
    for (auto &operation : operations())
        out << "  " << operation.name << std::string(22 - std::string(operation.name).size(), ' ') << operation.sentence
            << "\n";
    return out.str();
}

bool read_bytes(const std::string &text, std::size_t &bytes)
{
    char *end = nullptr;
    bytes = std::strtoull(text.c_str(), &end, 10);
    if (end == text.c_str())
        return false;
    switch (std::toupper(*end)) {
    case '\0': return true;
    case 'K': bytes <<= 10; return !end[1];
    case 'M': bytes <<= 20; return !end[1];
    default: return false;
    }
}

bool read_sizes(const std::string &text, Settings &settings)
{
    auto colon = text.find(':');
    return read_bytes(text.substr(0, colon), settings.smallest) &&
           read_bytes(colon == std::string::npos ? text : text.substr(colon + 1), settings.largest) &&
           settings.smallest <= settings.largest && settings.largest <= (1u << 30);
}

bool read_value(const std::string &word, const std::string &value, Settings &settings, bool &known)
{
    known = true;
    if (word == "--sizes")
        return read_sizes(value, settings);
    if (word == "--root" && value == "every") {
        settings.root = -1;
        return true;
    }
    char *end = nullptr;
    double number = std::strtod(value.c_str(), &end);
    bool good = !value.empty() && !*end && number >= 0 && number < 1e9;
    if (word == "--iterations")
        settings.iterations = good ? int(number) : 0;
    else if (word == "--warmup")
        settings.warmup = int(number);
    else if (word == "--seconds")
        settings.seconds = number;
    else if (word == "--root")
        settings.root = int(number);
    else
        known = false;
    return good && settings.iterations > 0;
}

bool is_operation(const std::string &word)
{
    for (auto &operation : operations())
        if (operation.name == word)
            return true;
    return false;
}

} // namespace

std::string parse(int argc, char **argv, Settings &settings, bool &failed)
{
    failed = true;
    for (int i = 1; i < argc; ++i) {
        std::string word = argv[i];
        bool known = true;
        if (word == "--help" || word == "-h") {
            failed = false;
            return help();
        }
        if (word == "--csv")
            settings.csv = true;
        else if (word == "--limit")
            settings.limit = true;
        else if (word == "--warm")
            settings.alter = false;
        else if (word == "--no-check")
            settings.check = false;
        else if (word[0] != '-' && is_operation(word))
            settings.operations.push_back(word);
        else if (word[0] != '-')
            return "tutti-bench: no operation " + word + "; --help lists them\n";
        else if (!read_value(word, i + 1 < argc ? argv[i + 1] : "", settings, known))
            return known ? "tutti-bench: " + word + " needs another value; see --help\n"
                         : "tutti-bench: no option " + word + "; --help lists them\n";
        else if (!known)
            return "tutti-bench: no option " + word + "; --help lists them\n";
        else
            ++i;
    }
    failed = false;
    return "";
}

} // namespace bench
