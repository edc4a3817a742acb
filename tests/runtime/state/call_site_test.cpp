// SPDX-License-Identifier: BSD-3-Clause
// The location in a script, parsed from its interpreter's traceback.
#include "runtime/state/call_site.hpp"

#include <gtest/gtest.h>

namespace tutti {
namespace {

constexpr char traceback[] = R"(Stack (most recent call first):
  File "/usr/lib/python3/dist-packages/mpi4py/util/pool.py", line 7 in recv
  File "/home/me/my programs/ring.py", line 12 in pass_on
  File "/home/me/my programs/ring.py", line 30 in <module>
)";

TEST(ScriptPlace, IsTheInnermostFrameOfTheProgram) {
    EXPECT_EQ(parse_script_location(traceback), "ring.py:12 in pass_on()");
    EXPECT_EQ(parse_script_location("Stack (most recent call first):\n  File \"a.py\", line 3 in <module>\n"),
              "a.py:3 in <module>");
}

TEST(ScriptPlace, IsEmptyIfUnknown) {
    EXPECT_EQ(parse_script_location(""), "");
    EXPECT_EQ(parse_script_location("Stack (most recent call first):\n  <no Python frame>\n"), "");
    EXPECT_EQ(parse_script_location("  File \"cut off"), "");
    EXPECT_EQ(script_location(), "") << "this process is no interpreter";
}

}   // namespace
}   // namespace tutti
