// SPDX-License-Identifier: BSD-3-Clause
// The flattened form of a datatype: the position of its bytes in type map order. A tree with four kinds of nodes: one
// run of bytes; one layout repeated at a stride; a list of runs; a list of layouts. Adjacent runs are merged during
// construction, and repetitions are kept: a vector of a million blocks is one node above one run.
//
// Cost of moving n bytes from any packed position: the runs touched, plus a division or a binary search per level.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

namespace tutti {

struct TypeLayout {
    using Ref = std::shared_ptr<TypeLayout const>;
    enum class Form : std::uint8_t { run, repeat, runs, parts };
    struct Run {
        std::int64_t at;      ///< bytes from the element's origin
        std::int64_t start;   ///< packed position; a run ends where the next one starts
    };
    struct Part {
        std::int64_t at, start;   ///< as in Run
        Ref layout;
    };

    Form form = Form::run;
    std::int64_t size = 0;                ///< packed bytes; never 0
    std::int64_t at = 0;                  ///< run and repeat: offset of the first byte
    std::int64_t count = 1, stride = 0;   ///< repeat
    Ref child;                            ///< repeat
    std::vector<Run> runs;
    std::vector<Part> parts;

    static Ref run(std::int64_t at, std::int64_t bytes);
    /// Returns `count` copies of `child`, `stride` bytes apart, in the simplest form.
    static Ref repeat(Ref const& child, std::int64_t count, std::int64_t stride);
    static Ref shifted(Ref const& layout, std::int64_t by);

    std::int64_t run_end(std::size_t i) const { return i + 1 < runs.size() ? runs[i + 1].start : size; }
    std::int64_t part_end(std::size_t i) const { return i + 1 < parts.size() ? parts[i + 1].start : size; }
};

/// Concatenates layouts in packed order.
class LayoutList {
public:
    void add(TypeLayout::Ref const& layout, std::int64_t at);
    void add_run(std::int64_t at, std::int64_t bytes);
    /// Returns null if nothing was added.
    TypeLayout::Ref finish();

private:
    void convert_to_parts();
    TypeLayout::Ref finish_runs();

    std::vector<TypeLayout::Run> runs_;   ///< used as long as there are only runs
    std::vector<TypeLayout::Part> parts_;
    std::int64_t size_ = 0;
};

}   // namespace tutti
