// SPDX-License-Identifier: BSD-3-Clause
// The place of a script out of its interpreter's words.
#include "runtime/state/call_site.hpp"

#include <gtest/gtest.h>

namespace tutti {
namespace {

constexpr char traceback[] = R"(Stack (most recent call first):
  File "/usr/lib/python3/dist-packages/mpi4py/util/pool.py", line 7 in recv
  File "/home/me/my programs/ring.py", line 12 in pass_on
  File "/home/me/my programs/ring.py", line 30 in <module>
)";

TEST(ScriptPlace, IsTheInnermostOfTheProgram) {
    EXPECT_EQ(script_place_in(traceback), "ring.py:12 in pass_on()");
    EXPECT_EQ(script_place_in("Stack (most recent call first):\n  File \"a.py\", line 3 in <module>\n"),
              "a.py:3 in <module>");
}

TEST(ScriptPlace, IsEmptyWhereNothingIsKnown) {
    EXPECT_EQ(script_place_in(""), "");
    EXPECT_EQ(script_place_in("Stack (most recent call first):\n  <no Python frame>\n"), "");
    EXPECT_EQ(script_place_in("  File \"cut off"), "");
    EXPECT_EQ(script_place(), "") << "this is no interpreter";
}

}   // namespace
}   // namespace tutti
