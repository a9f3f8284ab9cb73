package durable

import (
	"errors"
	"io"
	"path/filepath"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// virtual is a disk in one of Pebble's file systems, which can fail, and can lose writes that were not synced.
type virtual struct{ vfs.FS }

func (v virtual) MkdirAll(dir string) error           { return v.FS.MkdirAll(dir, 0o700) }
func (v virtual) List(dir string) ([]string, error)   { return v.FS.List(dir) }
func (v virtual) Lock(path string) (io.Closer, error) { return v.FS.Lock(path) }

func (v virtual) Read(path string) ([]byte, error) {
	f, err := v.FS.Open(path)
	if err != nil {
		return nil, err
	}
	data, err := io.ReadAll(f)
	return data, errors.Join(err, f.Close())
}

func (v virtual) Create(path string) (file, error) {
	return v.FS.Create(path, vfs.WriteCategoryUnspecified)
}

func (v virtual) Sync(path string) error {
	if path == "." {
		path = "" // the root
	}
	open := func() (vfs.File, error) { return v.FS.OpenReadWrite(path, vfs.WriteCategoryUnspecified) }
	if filepath.Ext(path) != suffix {
		open = func() (vfs.File, error) { return v.FS.OpenDir(path) }
	}
	f, err := open()
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}
