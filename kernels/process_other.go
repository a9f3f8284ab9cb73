//go:build unix && !linux

package main

import (
	"fmt"
	"os/exec"
	"strconv"
	"strings"
)

// becomeReaper does nothing: only on Linux a process can inherit its orphaned descendants.
func becomeReaper() {}

// processes reads the process table by ps.
func processes() []process {
	out, err := exec.Command("ps", "-A", "-o", "pid=,ppid=,args=").Output()
	if err != nil {
		return nil
	}
	var list []process
	for line := range strings.Lines(string(out)) {
		f := strings.Fields(line)
		if len(f) < 3 {
			continue
		}
		pid, _ := strconv.Atoi(f[0])
		parent, _ := strconv.Atoi(f[1])
		list = append(list, process{pid: pid, parent: parent, guard: isGuard(f[2:])})
	}
	return list
}

// processArgs returns the command line of a process, split at spaces.
func processArgs(pid int) []string {
	out, err := exec.Command("ps", "-p", fmt.Sprint(pid), "-o", "args=").Output()
	if err != nil {
		return nil
	}
	return strings.Fields(string(out))
}
