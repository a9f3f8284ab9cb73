package main

import (
	"os"
	"syscall"
)

// The Go kernel runs on Windows only inside WSL. These functions let the module build there.

func ownSession() *syscall.SysProcAttr { return nil }

func becomeReaper() {}

func kill(pid int) {
	if p, err := os.FindProcess(pid); err == nil {
		p.Kill()
	}
}

func alive(int) bool { return true }

func ownerOf(os.FileInfo) (uid int, known bool) { return 0, false }

func reap(pid int) int {
	p, err := os.FindProcess(pid)
	if err != nil {
		return 1
	}
	state, err := p.Wait()
	if err != nil {
		return 1
	}
	return state.ExitCode()
}

func processes() []process { return nil }

func processArgs(int) []string { return nil }
