// SPDX-License-Identifier: BSD-3-Clause
#include "figure.hpp"

#include "complaint.hpp"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <sstream>

namespace bench {
namespace {

// Okabe and Ito's colours, which colour-blind readers tell apart; without yellow, which white paper swallows. Each
// series has its own mark as well, and the second seven have dashes: the figure survives a black-and-white printer.
constexpr const char *colours[] = {"#000000", "#D55E00", "#0072B2", "#009E73", "#CC79A7", "#E69F00", "#56B4E9"};
constexpr int marks_of_curves[] = {7, 5, 9, 13, 11, 4, 6, 8, 12, 10, 1, 2, 3};

void write_start(std::ostream &out, const std::string &file)
{
    out << "set encoding utf8\n"
        << "set terminal svg size 760,680 dynamic noenhanced background 'white' font 'Helvetica,15'\n"
        << "set output " << quoted(file) << "\n";
}

} // namespace

void check_plotter()
{
    if (find_in_path("gnuplot").empty())
        throw Complaint("--plot draws with gnuplot, which is not in PATH; Debian's package gnuplot-nox has it");
}

std::string colour_of(std::size_t number) { return colours[number % std::size(colours)]; }

std::string style_of(std::size_t number)
{
    std::ostringstream style;
    style << "linespoints lw 2 ps 0.8 pt " << marks_of_curves[number % std::size(marks_of_curves)] << " dt "
          << (number < std::size(colours) ? "1" : "(10,3)") << " lc rgb '" << colour_of(number) << "'";
    return style.str();
}

std::string style_of_limit() { return std::string("lines lw 2 dt (6,4) lc rgb '") + pale + "'"; }

std::string quoted(const std::string &text)
{
    std::string out = "\"";
    for (char c : text) {
        if (c == '"' || c == '\\')
            out += '\\';
        out += c;
    }
    return out + '"';
}

std::string size_name(std::size_t bytes)
{
    if (bytes >= 1 << 20 && bytes % (1 << 20) == 0)
        return std::to_string(bytes >> 20) + " MiB";
    if (bytes >= 1 << 10 && bytes % (1 << 10) == 0)
        return std::to_string(bytes >> 10) + " KiB";
    return std::to_string(bytes) + " B";
}

void write_title(std::ostream &out, const std::string &title)
{
    out << "set multiplot\nset label " << quoted(title) << " at screen 0.545,0.975 center\n";
}

double write_head(std::ostream &out, const std::vector<std::string> &titles, double first, double last)
{
    std::size_t longest = 0;
    for (auto &title : titles)
        longest = std::max(longest, title.size());
    const std::size_t column_width = 9 * longest + 89; // as gnuplot guesses it: more columns would not get the room
    const std::size_t columns = std::clamp<std::size_t>(646 / column_width, 1, 5);
    const std::size_t rows = (titles.size() + columns - 1) / columns;
    const double below_title = 0.955, row = 0.032;
    out << "set logscale x 2\nset logscale y 10\nset grid xtics ytics lc rgb '#DDDDDD' lt 1\n"
        << "set lmargin at screen 0.12\nset rmargin at screen 0.97\n"
        << "set key at screen 0.12," << below_title << " left top horizontal Left reverse maxcols " << columns
        << " samplen 2.5\nset xrange [" << first / 1.2 << ":" << last * 1.2 << "]\n";
    return below_title - 0.012 - row * double(rows);
}

void write_marks(std::ostream &out, const std::vector<std::pair<std::size_t, std::string>> &marks, bool named)
{
    const std::size_t step = (marks.size() + 9) / 10;
    out << "set xtics (";
    for (std::size_t i = 0; i < marks.size(); ++i)
        out << (i ? ", " : "") << quoted(!named || i % step ? "" : marks[i].second) << " " << marks[i].first << " "
            << (i % step != 0);
    out << ")\n";
}

void write_range(std::ostream &out, double least, double greatest)
{
    const bool wide = greatest / least > 300;
    out << "set yrange [" << least << ":" << greatest << "]\nset ytics (";
    const char *comma = "";
    for (double ten = std::pow(10, std::floor(std::log10(least))); ten <= greatest; ten *= 10)
        for (double step : {1, 2, 5})
            if (step == 1 || !wide) {
                out << comma << ten * step;
                comma = ", ";
            }
    out << ")\n";
}

void write_upper_frame(std::ostream &out, double top)
{
    out << "set tmargin at screen " << top << "\nset bmargin at screen 0.38\n";
}

void write_lower_frame(std::ostream &out, const std::string &below)
{
    out << "unset title\nunset key\nset tmargin at screen 0.35\nset bmargin at screen 0.11\nset xlabel "
        << quoted(below) << "\n";
}

void draw_figure(const std::string &file, const TemporaryFolder &folder,
                 const std::function<void(std::ostream &)> &write)
{
    const std::filesystem::path script = folder.path() / "plot.gnuplot";
    std::ofstream out(script);
    write_start(out, file);
    write(out);
    out << "unset multiplot\n";
    out.close();
    const Ending ending = run({{"gnuplot", script}, {}}, 60, folder);
    if (ending.code != 0)
        throw Complaint("gnuplot could not draw " + file + ":\n" + last_lines(ending.errors, 5));
}

} // namespace bench
