// SPDX-License-Identifier: BSD-3-Clause
// Text that the library reads and writes. A program may set a global C++ locale that groups digits, and a C locale with
// a decimal comma or other capitals; what ranks exchange, settings and messages must not change with it. So the library
// uses these streams, std::from_chars, and topo::lower and topo::upper (topo/base/words.hpp); tests/tree_check.py finds
// what depends on a locale.
#pragma once

#include <fstream>
#include <locale>
#include <sstream>
#include <utility>

namespace tutti {

/// A standard stream that formats and parses by the classic locale, whatever the global one is.
template <class Stream>
class Classic : public Stream {
public:
    template <class... Arguments>
    explicit Classic(Arguments&&... arguments) : Stream(std::forward<Arguments>(arguments)...) {
        this->imbue(std::locale::classic());
    }
};

using TextWriter = Classic<std::ostringstream>;
using TextReader = Classic<std::istringstream>;
using FileReader = Classic<std::ifstream>;

}   // namespace tutti
