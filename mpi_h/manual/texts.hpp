// SPDX-License-Identifier: BSD-3-Clause
// The texts of the manual: chapters, families, functions and parameters, as README.md beside this file describes them.
#pragma once

#include <map>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "mpi_h/manual/mpi_header.hpp"
#include "topo/text.hpp"
#include "topo/text_streams.hpp"

namespace tutti::manual {

/// All that is wrong in the texts: "file:line: description".
class Problems {
public:
    void add(std::string const& place, std::string const& what) { list.push_back(place + ": " + what); }
    std::vector<std::string> list;
};

struct ErrorText {
    std::string error_class, text;
};

struct ParameterText {
    std::string text;
    bool replaces_errors = false;   ///< `wrong` is meant, although it may be empty
    std::vector<ErrorText> wrong;   ///< text: a predicate, "is negative"
};

/// What a function or a family has.
struct Block {
    std::string place, name, purpose;
    std::string standard, semantics;        ///< semantics: a name in Texts::semantics
    std::string lead, text, note, result;   ///< lead: the text before `@uses`
    std::vector<std::string> uses, see;
    std::map<std::string, ParameterText> parameters;
    std::vector<ErrorText> errors;

    /// Adds the content of another block behind that of this one; what only one can be is replaced.
    void append(Block const& other) {
        auto join = [](std::string& to, std::string const& more) { to += (to.empty() ? "" : "\n") + more; };
        if (!other.standard.empty()) standard = other.standard;
        if (!other.semantics.empty()) semantics = other.semantics;
        if (!other.result.empty()) result = other.result;
        if (!other.text.empty()) join(text, other.text);
        if (!other.note.empty()) join(note, other.note);
        see.insert(see.end(), other.see.begin(), other.see.end());
        errors.insert(errors.end(), other.errors.begin(), other.errors.end());
        for (auto const& [key, value] : other.parameters) {
            ParameterText& mine = parameters[key];
            if (!value.text.empty()) mine.text = value.text;
            if (value.replaces_errors) mine.wrong = value.wrong, mine.replaces_errors = true;
        }
    }
};

struct Section {
    std::string title, text;
};

struct Chapter {
    std::string title, text, result;
    std::vector<Block> functions;
    std::vector<Section> sections;   ///< of the page MPI, only in the first text
};

struct Texts {
    std::vector<Chapter> chapters;
    std::map<std::string, Block> families;
    std::map<std::string, ParameterText> parameters;   ///< by name, or by name and type: "size int *"
    std::map<std::string, std::string> semantics;      ///< by name
};

/// Reads one file of text; each line belongs to the directive before it.
class TextParser {
public:
    TextParser(std::string path, Texts& to, Problems& problems)
        : path_(std::move(path)), texts_(to), problems_(problems) {
        texts_.chapters.emplace_back();
    }

    void parse() {
        FileReader file(path_);
        if (!file) throw std::runtime_error("cannot read " + path_);
        for (std::string line; ++line_, std::getline(file, line);) {
            if (line.size() > 120) add_problem("has more than 120 characters");
            for (char c : line)
                if (c < ' ' || c > '~') return add_problem("has a character that is not ASCII");
            if (line.starts_with('#')) continue;
            if (line.starts_with('@')) directive(line);
            else if (to_ && (!line.empty() || !to_->empty())) *to_ += line + '\n';
        }
    }

private:
    Chapter& chapter() { return texts_.chapters.back(); }
    std::string place() const { return path_.substr(path_.rfind('/') + 1) + ":" + std::to_string(line_); }
    void add_problem(std::string const& what) { problems_.add(place(), what); }

    void directive(std::string const& line) {
        std::size_t const space = std::min(line.find(' '), line.size());
        std::string const which = line.substr(1, space - 1), rest(topo::trimmed(line.substr(space)));
        std::size_t const after = std::min(rest.find(' '), rest.size());
        std::string const first = rest.substr(0, after), second(topo::trimmed(rest.substr(after)));
        if (which == "chapter") chapter().title = rest, to_ = &chapter().text;
        else if (which == "section") to_ = &chapter().sections.emplace_back(Section{rest, {}}).text;
        else if (which == "function" || which == "family") begin(which == "family", first, second);
        else if (which == "return") to_ = block_ ? &block_->result : &chapter().result;
        else if (which == "parameter") begin_parameter(rest);
        else if (which == "wrong") wrong(first, second);
        else if (which == "semantics" && !block_) to_ = &texts_.semantics[rest];
        else if (!block_) add_problem("@" + which + " is not inside a function or family");
        else if (which == "uses") block_->lead = std::exchange(block_->text, ""), append_names(block_->uses, rest);
        else if (which == "see") append_names(block_->see, rest);
        else if (which == "standard") block_->standard = rest, to_ = &block_->text;
        else if (which == "semantics") block_->semantics = rest, to_ = &block_->text;
        else if (which == "note") to_ = &block_->note;
        else if (which == "error") to_ = &block_->errors.emplace_back(ErrorText{first, second + '\n'}).text;
        else add_problem("there is no directive @" + which);
    }

    void begin(bool family, std::string const& name, std::string const& purpose) {
        parameter_ = nullptr;
        if (family && texts_.families.contains(name)) add_problem("there are two families " + name);
        block_ = family ? &texts_.families[name] : &chapter().functions.emplace_back();
        block_->place = place(), block_->name = name, block_->purpose = purpose;
        to_ = &block_->text;
    }

    void begin_parameter(std::string const& name) {
        auto& all = block_ ? block_->parameters : texts_.parameters;
        if (all.contains(name)) add_problem("describes " + name + " twice");
        parameter_ = &all[name];
        to_ = &parameter_->text;
    }

    void wrong(std::string const& error_class, std::string const& predicate) {
        if (!parameter_) return add_problem("@wrong does not follow @parameter");
        parameter_->replaces_errors = true;
        if (error_class != "none") to_ = &parameter_->wrong.emplace_back(ErrorText{error_class, predicate + '\n'}).text;
    }

    void append_names(std::vector<std::string>& to, std::string const& names) {
        for (std::string const& name : topo::split_words(names, " ")) to.push_back(name);
        to_ = &block_->text;
    }

    std::string path_;
    Texts& texts_;
    Problems& problems_;
    int line_ = 0;
    Block* block_ = nullptr;               ///< the current function or family
    ParameterText* parameter_ = nullptr;   ///< the current parameter
    std::string* to_ = nullptr;            ///< where the next line of text belongs
};

}   // namespace tutti::manual
