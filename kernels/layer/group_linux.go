package layer

import (
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// ownGroup puts a child into its own process group, and kills the child when its parent dies.
func ownGroup() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}

// mayStay is like ownGroup, for a cell's program that may survive its parent: see [frontend.Conn.Stay]. The signal of
// the parent's death is set here because the child cannot change it: the signal belongs to the thread that started the
// program.
func mayStay() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGHUP}
}

func killGroup(group int) { syscall.Kill(-group, syscall.SIGKILL) }

func signalGroup(group int, s os.Signal) {
	if number, ok := s.(syscall.Signal); ok {
		syscall.Kill(-group, number)
	}
}

func makePipe(path string) error { return syscall.Mkfifo(path, 0o600) }

// packets makes each write to a pipe arrive as a separate read.
func packets(pipe *os.File) {
	if flags, err := unix.FcntlInt(pipe.Fd(), unix.F_GETFL, 0); err == nil {
		_, _ = unix.FcntlInt(pipe.Fd(), unix.F_SETFL, flags|unix.O_DIRECT)
	}
}
