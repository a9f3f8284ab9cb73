//go:build unix

package compiled

import (
	"os"
	"syscall"
)

// own says that a file or folder belongs to the user that this process runs as.
func own(info os.FileInfo) bool {
	stat, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(stat.Uid) == os.Geteuid()
}

// open opens a file for reading, but no symbolic link, and does not wait for the other end of a pipe.
func open(path string) (*os.File, error) {
	return os.OpenFile(path, os.O_RDONLY|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0)
}
