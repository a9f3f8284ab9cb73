//go:build !unix

package compiled

import "os"

// owned returns false: the owner of a file is known only on Unix, and XLA runs only there.
func owned(os.FileInfo) bool { return false }

func open(path string) (*os.File, error) { return os.Open(path) }
