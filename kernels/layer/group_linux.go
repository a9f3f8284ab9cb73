package layer

import (
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// ownGroup puts a child into a process group of its own, and lets it die with its parent.
func ownGroup() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}

// mayStay is ownGroup for a cell's program, which may refuse to die: see [frontend.Conn.Stay]. What the parent's death
// sends cannot be changed by the child: it belongs to the thread that the program began with.
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

// packets has the reader of a pipe get each write for itself.
func packets(pipe *os.File) {
	if flags, err := unix.FcntlInt(pipe.Fd(), unix.F_GETFL, 0); err == nil {
		_, _ = unix.FcntlInt(pipe.Fd(), unix.F_SETFL, flags|unix.O_DIRECT)
	}
}
