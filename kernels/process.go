package main

import (
	"os"
	"slices"
	"strconv"
)

// process is a row of the machine's process table.
type process struct {
	pid, parent int
	guard       bool // a guard of this program
	dead        bool // the process or its first thread has ended; it may still have children
}

// descendants returns the living descendants of pid. With spare, it leaves out those below a guard.
func descendants(pid int, spare bool) []process {
	children := map[int][]process{}
	for _, p := range processes() {
		children[p.parent] = append(children[p.parent], p)
	}
	found := slices.Clone(children[pid])
	for i := 0; i < len(found); i++ { // found grows in the loop.
		if p := found[i]; !spare || !p.guard {
			found = append(found, children[p.pid]...)
		}
	}
	return slices.DeleteFunc(found, func(p process) bool { return p.dead })
}

// isGuard reports whether a command line belongs to a guard of this program.
func isGuard(argv []string) bool { return len(argv) > 1 && argv[1] == guardVerb }

// jupyterPid returns the process of the Jupyter that started this kernel, or 0.
func jupyterPid() int {
	pid, err := strconv.Atoi(os.Getenv("JPY_PARENT_PID"))
	if err != nil {
		return 0
	}
	return pid
}
