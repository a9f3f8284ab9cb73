//go:build unix

package main

import (
	"os"
	"syscall"
)

func ownSession() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setsid: true} }

func kill(pid int) { syscall.Kill(pid, syscall.SIGKILL) }

func alive(pid int) bool { return syscall.Kill(pid, 0) != syscall.ESRCH }

// ownerOf returns the user who owns a file.
func ownerOf(info os.FileInfo) (uid int, known bool) {
	stat, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return 0, false
	}
	return int(stat.Uid), true
}

// reap waits for the children of this process, including inherited ones, and returns the exit status of one of them.
func reap(pid int) int {
	for {
		var status syscall.WaitStatus
		got, err := syscall.Wait4(-1, &status, 0, nil)
		switch {
		case err == syscall.EINTR:
		case err != nil:
			return 1
		case got == pid && status.Signaled():
			go reapRest()
			return 128 + int(status.Signal())
		case got == pid && status.Exited():
			go reapRest()
			return status.ExitStatus()
		}
	}
}

// reapRest waits for the remaining children.
func reapRest() {
	for {
		if _, err := syscall.Wait4(-1, nil, 0, nil); err != nil && err != syscall.EINTR {
			return
		}
	}
}
