//go:build unix

package compiled

import (
	"os"
	"syscall"
)

// owned reports whether a file or folder belongs to the user of this process.
func owned(info os.FileInfo) bool {
	stat, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(stat.Uid) == os.Geteuid()
}

// open opens a file for reading. It refuses a symbolic link, and does not wait for the other end of a pipe.
func open(path string) (*os.File, error) {
	return os.OpenFile(path, os.O_RDONLY|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0)
}
