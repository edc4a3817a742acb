! SPDX-License-Identifier: BSD-3-Clause
! The count is that of another array.
! ranks: 2
! expect: warning T17 ranks 1
! mpiexec: --check
program more_room_than_memory
  use mpi_f08
  implicit none
  integer :: rank
  integer :: x(10)
  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  x = rank
  if (rank == 0) then
    call MPI_Send(x, 10, MPI_INTEGER, 1, 0, MPI_COMM_WORLD)
  else
    call MPI_Recv(x, 2000000000, MPI_INTEGER, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE)   ! HERE 1
  end if
  call MPI_Finalize()
end program more_room_than_memory
