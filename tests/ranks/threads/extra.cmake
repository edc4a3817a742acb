# SPDX-License-Identifier: BSD-3-Clause
# Exports the program's pthread_create, so that the libraries call it.
if(TARGET ranks_threads_no_thread)
  set_target_properties(ranks_threads_no_thread PROPERTIES ENABLE_EXPORTS ON)
endif()
