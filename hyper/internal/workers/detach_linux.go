package workers

import (
	"os/exec"
	"syscall"
)

// Detach keeps the terminal's Ctrl-C from a worker, and has the kernel kill the worker when the thread that started it
// ends.
func Detach(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}
