package wrapper

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
)

// readCall is the number of the system call read.
var readCall = map[string]string{"amd64": "0", "arm64": "63"}[runtime.GOARCH]

// waits reports whether a process, or one of its descendants, is reading from a pipe.
func waits(process int, pipe *os.File) (bool, error) {
	info, err := os.Readlink(fmt.Sprintf("/proc/self/fd/%d", pipe.Fd()))
	if err != nil || readCall == "" {
		return false, fmt.Errorf("no input: %w", os.ErrInvalid)
	}
	return reads(strconv.Itoa(process), info)
}

func reads(process, pipe string) (bool, error) {
	threads, err := filepath.Glob("/proc/" + process + "/task/*")
	if err != nil {
		return false, err
	}
	for _, thread := range threads {
		call, err := os.ReadFile(thread + "/syscall")
		if err != nil {
			if os.IsPermission(err) {
				return false, err
			}
			continue // The thread has ended.
		}
		f := strings.Fields(string(call))
		if len(f) > 1 && f[0] == readCall {
			fd, err := strconv.ParseUint(f[1], 0, 32)
			if err != nil {
				continue
			}
			if at, err := os.Readlink(fmt.Sprintf("/proc/%s/fd/%d", process, fd)); err == nil && at == pipe {
				return true, nil
			}
		}
		children, _ := os.ReadFile(thread + "/children")
		for child := range strings.FieldsSeq(string(children)) {
			if found, err := reads(child, pipe); found || err != nil {
				return found, err
			}
		}
	}
	return false, nil
}
