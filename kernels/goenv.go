package main

import (
	"os"
	"runtime"
)

// ownGo sets what the user may have set for other projects, by variables or by `go env -w`: vendored modules, GOPATH
// mode, a workspace that may be gone, another system to compile for. An empty variable would be as good as none.
func ownGo() []string {
	return []string{"GO111MODULE=on", "GOFLAGS=-mod=readonly", "GOWORK=off", "GOOS=" + runtime.GOOS,
		"GOARCH=" + runtime.GOARCH}
}

// goEnv is the environment of the Go commands that this program runs, with some variables set.
func goEnv(set ...string) []string { return mergeEnv(mergeEnv(os.Environ(), ownGo()...), set...) }
