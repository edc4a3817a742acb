// SPDX-License-Identifier: BSD-3-Clause
// Locale-independent streams for text that the library reads and writes. A program may set a global C++ locale that
// groups digits, and a C locale with a decimal comma or different case conversion; messages between ranks, settings and
// messages to users must not change with it. The library therefore uses these streams, std::from_chars, and topo::lower
// and topo::upper (topo/text.hpp). tests/tree_check.py finds code that depends on a locale.
#pragma once

#include <fstream>
#include <locale>
#include <sstream>
#include <utility>

namespace tutti {

/// A standard stream that formats and parses with the classic locale, whatever the global locale is.
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
