// SPDX-License-Identifier: BSD-3-Clause
// Writes the manual pages of the functions of MPI: write_manual MPI_H VERSION FOLDER ERRORS TEXT…
// Signatures come from mpi.h, everything else from the texts. Texts that do not fit mpi.h are refused: a function
// without a page, a parameter without a description, a name that mpi.h does not define. For the tests, ERRORS gets a
// row ERROR(function, "parameter", class) for each error that a page states; without a parameter if it is not of one.
#include <algorithm>
#include <cstdio>
#include <iterator>
#include <stdexcept>
#include <utility>

#include "mpi_h/manual/texts.hpp"

namespace tutti::manual {
namespace {

std::string one_line(std::string_view text) {
    std::string out(topo::trimmed(text));
    std::ranges::replace(out, '\n', ' ');
    return out;
}

/// Formats text as roff. Reports names that mpi.h does not define and quotations that are not parameters.
class Formatter {
public:
    Formatter(Header const& header, Problems& problems) : header_(header), problems_(problems) {}

    /// The following texts are of this function, and problems in them are of this place; null: of no function.
    void begin(std::string const& place, Function const* function) {
        place_ = place;
        function_ = function;
    }

    std::string line(std::string_view text) const {
        std::string out = text.starts_with('.') || text.starts_with('\'') ? "\\&" : "";
        for (std::size_t i = 0; i < text.size();) {
            std::size_t end = i + 1;
            if (text[i] == '`') {
                end = std::min(text.find('`', i + 1), text.size());
                out += quoted(text.substr(i + 1, end++ - i - 1));
            } else if (is_mpi_name(text, i)) {
                end = end_of_word(text, i);
                out += named(text.substr(i, end - i));
            } else {
                out += escaped(text[i]);
            }
            i = end;
        }
        return out;
    }

    /// Paragraphs, items of lists ("- ") and code (indented by four spaces), for the begin of a section.
    std::string paragraphs(std::string_view text) const {
        std::string out;
        enum { outside, in_text, in_item, in_code } where = outside;
        for (std::string const& each : lines(text)) {
            bool const code = each.starts_with("    ");
            if (where == in_code && !code) out += ".fi\n.RE\n", where = outside;
            if (code) {
                if (where != in_code) out += begin_paragraph(out) + ".RS 4\n.nf\n", where = in_code;
                if (each.size() > 71) problems_.add(place_, "a line of code has more than 67 characters: " + each);
                out += line(each.substr(4)) + '\n';
            } else if (each.empty()) {
                where = outside;
            } else if (each.starts_with("- ")) {
                out += ".IP \\(bu 2\n" + line(each.substr(2)) + '\n', where = in_item;
            } else {
                // One line per paragraph: at the end of a line of text, troff would print two spaces after a full stop.
                if (where == outside) out += begin_paragraph(out), where = in_text;
                else out.back() = ' ';
                out += line(topo::trimmed(each)) + '\n';
            }
        }
        if (where == in_code) out += ".fi\n.RE\n";
        return out;
    }

private:
    /// The first paragraph of a section needs no macro.
    static std::string begin_paragraph(std::string const& before) { return before.empty() ? "" : ".PP\n"; }

    static std::vector<std::string> lines(std::string_view text) {
        std::vector<std::string> all;
        for (std::size_t at = 0; at < text.size();) {
            std::size_t const end = std::min(text.find('\n', at), text.size());
            all.emplace_back(text.substr(at, end - at));
            at = end + 1;
        }
        while (!all.empty() && all.back().empty()) all.pop_back();
        return all;
    }

    static std::string escaped(char c) { return c == '-' ? "\\-" : c == '\\' ? "\\e" : std::string(1, c); }

    std::string named(std::string_view name) const {
        if (!header_.names.contains(std::string(name)) && !name.ends_with('_'))
            problems_.add(place_, std::string(name) + " is not defined in mpi.h");
        return "\\fB" + std::string(name) + "\\fR";
    }

    std::string quoted(std::string_view name) const {
        if (function_ &&
            std::ranges::find(function_->parameters, name, &Parameter::name) == function_->parameters.end())
            problems_.add(place_, "`" + std::string(name) + "` is not a parameter of " + function_->name);
        return "\\fI" + std::string(name) + "\\fR";
    }

    Header const& header_;
    Problems& problems_;
    std::string place_;
    Function const* function_ = nullptr;
};

class Manual {
public:
    Manual(Header header, std::string version, Texts const& texts, Problems& problems)
        : header_(std::move(header)), version_(std::move(version)), texts_(texts), problems_(problems),
          format_(header_, problems_) {}

    /// Writes all pages into a folder, which must exist, and the errors that they state into a file.
    void write(std::string const& folder, std::string const& errors_file) {
        for (Chapter const& chapter : texts_.chapters)
            for (Block const& block : chapter.functions)
                if (!pages_.try_emplace(block.name, Page{&chapter, &block, merged(block)}).second)
                    problems_.add(block.place, block.name + " is described twice");
        check_names();
        for (auto const& [name, page] : pages_)
            if (Function const* f = header_.find(name)) save(folder + "/" + name + ".3", function_page(*f, page));
        save(folder + "/MPI.3", overview());
        save(errors_file, stated_errors_);
        for (auto const& [key, text] : texts_.parameters)
            if (!used_parameters_.contains(key)) problems_.add("parameters", "no page uses what is said about " + key);
        for (auto const& [name, text] : texts_.semantics)
            if (!used_semantics_.contains(name)) problems_.add("semantics", "no page uses @semantics " + name);
    }

private:
    struct Page {
        Chapter const* chapter;
        Block const* own;
        Block all;   ///< with its families
    };

    Block merged(Block const& own) {
        Block all;
        all.text = own.lead;
        for (std::string const& name : own.uses) {
            auto const family = texts_.families.find(name);
            if (family == texts_.families.end()) problems_.add(own.place, "there is no family " + name);
            else all.append(family->second), used_families_.insert(name);
        }
        all.append(own);
        return all;
    }

    void check_names() {
        for (Function const& f : header_.functions)
            if (!pages_.contains(f.name)) problems_.add("mpi.h", f.name + " has no page");
        for (auto const& [name, page] : pages_) {
            if (!header_.find(name)) problems_.add(page.own->place, "mpi.h declares no function " + name);
            for (std::string const& other : page.all.see)
                if (!pages_.contains(other)) problems_.add(page.own->place, "@see " + other + ", which has no page");
            if (page.own->purpose.empty() || page.own->purpose.size() > 70 || page.own->purpose.ends_with('.'))
                problems_.add(page.own->place, "the purpose must have 1 to 70 characters and no full stop");
        }
        for (auto const& [name, family] : texts_.families)
            if (!used_families_.contains(name)) problems_.add(family.place, "no function uses the family " + name);
    }

    std::string title(std::string const& name, std::string const& purpose) const {
        return ".\\\" Generated from mpi.h and the texts beside write_manual.cpp.\n.TH " + name + " 3 \"\" \"Tutti " +
               version_ + "\" \"MPI\"\n.nh\n.ad l\n.SH NAME\n" + name + " \\- " + format_.line(purpose) + "\n";
    }

    /// The declaration as in mpi.h, in lines that fit a page of 80 columns, whose text has an indent of 7.
    static std::string signature(Function const& f) {
        std::string out = "\\fB" + f.result + (f.result.ends_with('*') ? "" : " ") + f.name + "(\\fR";
        std::size_t width = f.result.size() + f.name.size() + 2;
        std::vector<std::pair<std::string, std::string>> parts;   // text; the same formatted
        for (Parameter const& p : f.parameters) {
            std::size_t const at = p.declaration.rfind(p.name);
            parts.emplace_back(p.declaration, "\\fB" + p.declaration.substr(0, at) + "\\fI" + p.name + "\\fB" +
                                                  p.declaration.substr(at + p.name.size()));
        }
        if (f.is_variadic) parts.emplace_back("...", "\\fB...");
        if (parts.empty()) parts.emplace_back("void", "\\fBvoid");
        for (std::size_t i = 0; i < parts.size(); ++i) {
            bool const last = i + 1 == parts.size();
            std::size_t const length = parts[i].first.size() + (last ? 2 : 1);
            if (width + 1 + length > 71) out += "\n    ", width = 4;
            else if (i > 0) out += ' ', ++width;
            out += parts[i].second + (last ? ");" : ",") + "\\fR";
            width += length;
        }
        return out + "\n";
    }

    /// The description of a parameter by type, by name, by both, and of the function itself; later ones replace
    /// earlier ones.
    ParameterText describe(Parameter const& p, Block const& block) {
        ParameterText text;
        std::string text_key, errors_key;   // where they come from in the list of parameters
        auto const add = [&](std::map<std::string, ParameterText> const& from, std::string const& key) {
            auto const found = from.find(key);
            if (found == from.end()) return;
            std::string const listed = &from == &texts_.parameters ? key : "";
            if (!topo::trimmed(found->second.text).empty()) text.text = found->second.text, text_key = listed;
            if (found->second.replaces_errors) text.wrong = found->second.wrong, errors_key = listed;
        };
        for (std::string const& key : {"* " + p.type, p.name, p.name + " " + p.type}) add(texts_.parameters, key);
        for (std::string const& key : {std::string("*"), p.name}) add(block.parameters, key);
        used_parameters_.insert({text_key, errors_key});
        return text;
    }

    std::string function_page(Function const& f, Page const& page) {
        format_.begin(page.own->place, &f);
        Block const& block = page.all;
        std::string out = title(f.name, page.own->purpose) + ".SH SYNOPSIS\n.nf\n\\fB#include <mpi.h>\\fR\n.PP\n" +
                          signature(f) + ".fi\n.SH DESCRIPTION\n" + format_.paragraphs(block.text) + semantics(page);
        std::map<std::string, std::string> errors;   // by class
        std::string parameters;
        for (Parameter const& p : f.parameters) {
            ParameterText const text = describe(p, block);
            if (topo::trimmed(text.text).empty())
                problems_.add(page.own->place, p.name + " (" + p.type + ") is not described");
            parameters += ".TP\n\\fI" + p.name + "\\fR\n" + format_.line(one_line(text.text)) + '\n';
            for (ErrorText const& e : text.wrong) {
                errors[e.error_class] += format_.line("`" + p.name + "` " + one_line(e.text) + ".") + "\n.br\n";
                add_stated(f.name, p.name, e.error_class);
            }
        }
        for (auto const& [name, text] : page.own->parameters)
            if (name != "*" && std::ranges::find(f.parameters, name, &Parameter::name) == f.parameters.end())
                problems_.add(page.own->place, f.name + " has no parameter " + name);
        for (ErrorText const& e : block.errors) {
            errors[e.error_class] += format_.line(one_line(e.text)) + "\n.br\n";
            add_stated(f.name, "", e.error_class);
        }
        if (!parameters.empty()) out += ".SH PARAMETERS\n" + parameters;
        std::string const& usual = page.chapter->result.empty() ? texts_.chapters.front().result : page.chapter->result;
        out += ".SH RETURN VALUE\n" + format_.paragraphs(block.result.empty() ? usual : block.result);
        if (!errors.empty()) out += ".SH ERRORS\n";
        for (auto const& [name, text] : errors)
            out += ".TP\n" + format_.line(name) + '\n' + text.substr(0, text.size() - 4);
        if (!block.note.empty()) out += ".SH NOTES\n" + format_.paragraphs(block.note);
        if (block.standard.empty()) problems_.add(page.own->place, "has no @standard");
        bool const other = block.standard.starts_with("MPI"), chapter = block.standard.find('.') == std::string::npos;
        std::string const standard =
            other ? block.standard : std::string(chapter ? "MPI 4.1, chapter " : "MPI 4.1, section ") + block.standard;
        out += ".SH STANDARDS\n" + format_.line(standard) + ".\n";
        return out + see_also(f.name, page);
    }

    /// The section about which ranks make the call, when, and whether it waits.
    std::string semantics(Page const& page) {
        std::string const& name = page.all.semantics;
        auto const found = texts_.semantics.find(name);
        if (found == texts_.semantics.end()) {
            problems_.add(page.own->place, name.empty() ? "has no @semantics" : "there is no @semantics " + name);
            return "";
        }
        used_semantics_.insert(name);
        return ".SH SEMANTICS\n" + format_.paragraphs(found->second);
    }

    void add_stated(std::string const& function, std::string const& parameter, std::string const& error_class) {
        stated_errors_ += "ERROR(" + function + ", \"" + parameter + "\", " + error_class + ")\n";
    }

    std::string see_also(std::string const& name, Page const& page) {
        std::set<std::string> also(page.all.see.begin(), page.all.see.end());
        if (!page.own->uses.empty())
            for (auto const& [other, its] : pages_)
                if (!its.own->uses.empty() && its.own->uses.front() == page.own->uses.front()) also.insert(other);
        also.erase(name);
        std::string out = ".SH SEE ALSO\n";
        for (std::string const& each : also) out += ".BR " + each + " (3),\n";
        return out + ".BR MPI (3)\n";
    }

    /// The page MPI: the sections of the first text, and the functions by chapter.
    std::string overview() {
        Chapter const& first = texts_.chapters.front();
        format_.begin("overview", nullptr);
        std::string out = title("MPI", first.title) + ".SH DESCRIPTION\n" + format_.paragraphs(first.text);
        for (Section const& section : first.sections)
            out += ".SH " + section.title + "\n" + format_.paragraphs(section.text);
        out += ".SH FUNCTIONS\n";
        for (Chapter const& chapter : texts_.chapters) {
            if (chapter.functions.empty()) continue;
            out += ".SS " + chapter.title + "\n" + format_.paragraphs(chapter.text);
            std::string_view spacing = "";   // only before the first function
            for (Block const& block : chapter.functions) {
                out += ".TP 34\n.BR " + block.name + " (3)\n" + format_.line(block.purpose) + '\n';
                if (std::exchange(spacing, ".PD\n").empty()) out += ".PD 0\n";
            }
            out += spacing;
        }
        return out;
    }

    static void save(std::string const& path, std::string const& text) {
        std::FILE* const file = std::fopen(path.c_str(), "w");
        bool const written = file && std::fwrite(text.data(), 1, text.size(), file) == text.size();
        if (!file || std::fclose(file) != 0 || !written) throw std::runtime_error("cannot write " + path);
    }

    Header header_;
    std::string version_;
    Texts const& texts_;
    Problems& problems_;
    Formatter format_;
    std::map<std::string, Page> pages_;   ///< by the name of the function
    std::set<std::string> used_families_, used_parameters_, used_semantics_;
    std::string stated_errors_ = "// Generated by write_manual.cpp.\n";
};

std::string read(std::string const& path) {
    FileReader file(path);
    if (!file) throw std::runtime_error("cannot read " + path);
    return {std::istreambuf_iterator<char>(file), {}};
}

int write_manual(std::vector<std::string> const& arguments) {
    if (arguments.size() < 5) throw std::runtime_error("usage: write_manual MPI_H VERSION FOLDER ERRORS TEXT...");
    Problems problems;
    Texts texts;
    for (std::size_t i = 4; i < arguments.size(); ++i) TextParser(arguments[i], texts, problems).parse();
    Manual(parse_header(read(arguments[0])), arguments[1], texts, problems).write(arguments[2], arguments[3]);
    for (std::string const& each : problems.list) std::fprintf(stderr, "%s\n", each.c_str());
    return problems.list.empty() ? 0 : 1;
}

}   // namespace
}   // namespace tutti::manual

int main(int argc, char** argv) {
    try {
        return tutti::manual::write_manual({argv + 1, argv + argc});
    } catch (std::exception const& error) {
        std::fprintf(stderr, "write_manual: %s\n", error.what());
        return 1;
    }
}
