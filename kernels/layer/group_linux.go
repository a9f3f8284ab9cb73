package layer

import (
	"os"
	"syscall"
)

// ownGroup puts a child into a process group of its own, and lets it die with its parent.
func ownGroup() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}

func killGroup(group int) { syscall.Kill(-group, syscall.SIGKILL) }

func signalGroup(group int, s os.Signal) {
	if number, ok := s.(syscall.Signal); ok {
		syscall.Kill(-group, number)
	}
}

func makePipe(path string) error { return syscall.Mkfifo(path, 0o600) }
