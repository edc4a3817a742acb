! SPDX-License-Identifier: BSD-3-Clause
! In a ring, all ranks send synchronously, in a subroutine.
! ranks: 2 4
! expect: T01 ranks all
program ring_of_sends
  use mpi_f08
  implicit none
  integer :: rank, size
  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, size)
  call shift(real(rank))
  call MPI_Finalize()
contains
  subroutine shift(mine)
    real, intent(in) :: mine
    real :: theirs
    call MPI_Ssend(mine, 1, MPI_REAL, mod(rank + 1, size), 0, MPI_COMM_WORLD)   ! HERE all
    call MPI_Recv(theirs, 1, MPI_REAL, mod(rank + size - 1, size), 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE)
  end subroutine
end program
