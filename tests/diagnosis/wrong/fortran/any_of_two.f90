! SPDX-License-Identifier: BSD-3-Clause
! Results are received from any source in order of arrival.
! ranks: 3
! expect: warning T12 ranks 0
! mpiexec: --check
program any_of_two
  use mpi_f08
  implicit none
  integer :: rank
  integer :: x, i
  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  x = rank
  if (rank == 0) then
    call sleep(1)
    do i = 1, 2
      call MPI_Recv(x, 1, MPI_INTEGER, MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE)   ! HERE 0
    end do
  else
    call MPI_Send(x, 1, MPI_INTEGER, 0, 0, MPI_COMM_WORLD)
  end if
  call MPI_Finalize()
end program any_of_two
