package durable

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// copied returns a folder with the files of a log as they are now, for reading beside the process that writes it, and
// what removes the folder. Tables, which do not change, are links, beside the log where that can be written, and the
// files that grow are copies. First comes the list of tables, so that none is missing that it names but those that have
// gone since, which opening notices. The last records may be missing, where the writer was moving them to a table.
func copied(fs vfs.FS, dir string) (to string, remove func() error, err error) {
	if _, err := fs.Stat(dir); err != nil {
		return "", nil, fmt.Errorf("opening the log: %w", err)
	}
	if to, err = os.MkdirTemp(filepath.Dir(dir), ".reading-*"); err != nil {
		to, err = os.MkdirTemp("", "log-*")
	}
	if err != nil {
		return "", nil, err
	}
	remove = func() error { return os.RemoveAll(to) }
	for _, part := range []func(string) bool{isList, func(f string) bool { return !isList(f) }} {
		files, err := fs.List(dir)
		if err != nil {
			return "", nil, errors.Join(err, remove())
		}
		for _, file := range files {
			if !part(file) || file == "LOCK" {
				continue
			}
			from, at := fs.PathJoin(dir, file), filepath.Join(to, file)
			if strings.HasSuffix(file, ".sst") {
				err = vfs.LinkOrCopy(fs, from, at)
			} else {
				err = vfs.Copy(fs, from, at)
			}
			if err != nil && !errors.Is(err, os.ErrNotExist) {
				return "", nil, errors.Join(fmt.Errorf("reading the log %s: %w", dir, err), remove())
			}
		}
	}
	return to, remove, nil
}

// isList tells whether a file has the list of tables, or says which one has.
func isList(file string) bool {
	return strings.HasPrefix(file, "MANIFEST") || strings.HasPrefix(file, "marker")
}
