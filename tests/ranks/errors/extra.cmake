# SPDX-License-Identifier: BSD-3-Clause
# arguments.cpp compares what calls return with what their manual pages state.
add_dependencies(ranks_errors_arguments manual)
