package compiled

import (
	"encoding/hex"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

const (
	unfinished = ".new-*" // pattern for files that are being written
	lockSuffix = ".lock"
)

// Content returns the number of programs in the cache, and their total size in bytes.
func (c *Cache) Content() (programs int, bytes int64) {
	files, bytes := c.files()
	return len(files), bytes
}

// files returns the programs, and removes files that dead processes left behind.
func (c *Cache) files() (programs []os.FileInfo, bytes int64) {
	entries, _ := os.ReadDir(c.Dir)
	for _, e := range entries {
		info, err := e.Info()
		switch {
		case err != nil || !info.Mode().IsRegular():
		case len(e.Name()) == keyLength:
			programs, bytes = append(programs, info), bytes+info.Size()
		case strings.HasPrefix(e.Name(), ".new-") || strings.HasSuffix(e.Name(), lockSuffix):
			if time.Since(info.ModTime()) > time.Hour {
				_ = os.Remove(filepath.Join(c.Dir, e.Name()))
			}
		}
	}
	return programs, bytes
}

// Clear removes all programs. It also removes the folder, unless the folder has other contents.
func (c *Cache) Clear() error {
	entries, err := os.ReadDir(c.Dir)
	errs := []error{err}
	for _, e := range entries {
		name := strings.TrimSuffix(e.Name(), lockSuffix)
		if _, err := hex.DecodeString(name); err == nil && len(name) == keyLength || strings.HasPrefix(name, ".new-") {
			errs = append(errs, os.Remove(filepath.Join(c.Dir, e.Name())))
		}
	}
	_ = os.Remove(c.Dir)
	return errors.Join(errs...)
}

// evict removes programs if the cache has more bytes than the limit, beginning with those that were not used for the
// longest time. It removes a tenth more than necessary, so that it need not run again at once.
func (c *Cache) evict() {
	programs, bytes := c.files()
	if bytes <= c.Limit {
		return
	}
	slices.SortFunc(programs, func(a, b os.FileInfo) int { return a.ModTime().Compare(b.ModTime()) })
	for _, p := range programs {
		if bytes <= c.Limit-c.Limit/10 {
			return
		}
		if os.Remove(filepath.Join(c.Dir, p.Name())) == nil {
			bytes -= p.Size()
		}
	}
}
