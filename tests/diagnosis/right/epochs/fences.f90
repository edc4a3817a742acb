! SPDX-License-Identifier: BSD-3-Clause
! Half of the ranks put data, and all call the fences.
! ranks: 2 3
program fences
  use mpi_f08
  implicit none
  integer :: rank, step
  integer, asynchronous :: memory(4)
  type(MPI_Win) :: window
  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Win_create(memory, 16_MPI_ADDRESS_KIND, 4, MPI_INFO_NULL, MPI_COMM_WORLD, window)
  call MPI_Win_fence(MPI_MODE_NOPRECEDE, window)
  do step = 1, 5
    if (rank == 1) call MPI_Put(step, 1, MPI_INTEGER, 0, 0_MPI_ADDRESS_KIND, 1, MPI_INTEGER, window)
    call MPI_Win_fence(merge(MPI_MODE_NOSUCCEED, 0, step == 5), window)
  end do
  call MPI_Win_free(window)
  call MPI_Finalize()
end program fences
