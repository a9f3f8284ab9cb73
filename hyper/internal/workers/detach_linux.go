package workers

import (
	"os/exec"
	"syscall"
)

// Detach prevents the terminal's Ctrl-C from reaching a worker, and lets the kernel kill the worker when the thread
// that started it ends.
func Detach(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}
