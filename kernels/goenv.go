package main

import (
	"os"
	"runtime"
)

// ownGo returns values for variables that the user may have set for other projects, in the environment or by `go env
// -w`: vendored modules, GOPATH mode, a workspace that may be missing, another target system. An empty value would have
// no effect.
func ownGo() []string {
	return []string{"GO111MODULE=on", "GOFLAGS=-mod=readonly", "GOWORK=off", "GOOS=" + runtime.GOOS,
		"GOARCH=" + runtime.GOARCH}
}

// goEnv returns the environment of the Go commands that this program runs, with additional variables.
func goEnv(set ...string) []string { return mergeEnv(mergeEnv(os.Environ(), ownGo()...), set...) }
