! SPDX-License-Identifier: BSD-3-Clause
! Both ranks put to the same element.
! ranks: 2
! expect: warning T14 ranks 0-1
! mpiexec: --check
program two_puts
  use mpi_f08
  implicit none
  integer :: rank
  integer, asynchronous :: memory(4)
  integer :: x
  type(MPI_Win) :: window
  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  x = rank
  call MPI_Win_create(memory, 16_MPI_ADDRESS_KIND, 4, MPI_INFO_NULL, MPI_COMM_WORLD, window)
  call MPI_Win_fence(0, window)
  call MPI_Put(x, 1, MPI_INTEGER, 0, 1_MPI_ADDRESS_KIND, 1, MPI_INTEGER, window)   ! HERE 0-1
  call MPI_Win_fence(0, window)
  call MPI_Win_free(window)
  call MPI_Finalize()
end program two_puts
