# SPDX-License-Identifier: BSD-3-Clause
# The libraries find the program's own pthread_create.
if(TARGET ranks_threads_no_thread)
  set_target_properties(ranks_threads_no_thread PROPERTIES ENABLE_EXPORTS ON)
endif()
