// Package kept stores the values that cells of notebooks keep for later cells, see [notebook.Keep].
//
// [notebook.Keep]: https://pkg.go.dev/github.com/hypermodels/hypermodels/hyper/notebook#Keep
package kept

import (
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/hypermodels/hypermodels/hyper/backend"
)

// Entry describes a kept value.
type Entry struct {
	Name    string
	Key     string // hash of the code and the inputs that made the value
	Type    string
	Made    time.Time
	Seconds float64 // time of the computation
	Bytes   int64
}

// Folder is the folder of kept values. Several processes may call its methods at the same time: values are replaced
// atomically.
type Folder string

// Of returns the folder for the notebooks in a folder: $HYPERMODELS_KEPT, or a subfolder of [backend.Home]. It returns
// an error if there is no home folder.
func Of(notebooks string) (Folder, error) {
	if dir := os.Getenv("HYPERMODELS_KEPT"); dir != "" {
		return Folder(dir), nil
	}
	home := backend.Home()
	if home == "" {
		return "", errors.New("there is no home folder for kept values: set HOME, or set HYPERMODELS_KEPT to a folder")
	}
	notebooks, err := filepath.Abs(notebooks)
	return Folder(filepath.Join(home, "kept", hash(notebooks))), err
}

func hash(text string) string { return fmt.Sprintf("%x", sha256.Sum256([]byte(text)))[:16] }

const (
	entryFile = "entry.json"
	valueFile = "value"
)

// Find returns the entry of a name and the file with its value. ok is false if nothing is kept under the name.
func (f Folder) Find(name string) (e Entry, value string, ok bool) {
	dir := filepath.Join(string(f), hash(name))
	e, err := read(dir)
	return e, filepath.Join(dir, valueFile), err == nil && e.Name == name
}

func read(dir string) (e Entry, err error) {
	text, err := os.ReadFile(filepath.Join(dir, entryFile))
	if err == nil {
		err = json.Unmarshal(text, &e)
	}
	return e, err
}

// Put stores a value. write must write it to the file path. An earlier value of the name is removed.
func (f Folder) Put(e Entry, write func(path string) error) error {
	if err := os.MkdirAll(string(f), 0o700); err != nil {
		return err
	}
	dir, err := os.MkdirTemp(string(f), ".new-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	path := filepath.Join(dir, valueFile)
	if err := write(path); err != nil {
		return err
	}
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	e.Bytes = info.Size()
	text, err := json.Marshal(e)
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(dir, entryFile), text, 0o600); err != nil {
		return err
	}
	return f.replace(dir, filepath.Join(string(f), hash(e.Name)))
}

// replace renames a folder, and removes an earlier folder of the final name. Another process may do the same at the
// same time.
func (f Folder) replace(dir, final string) error {
	for range 3 {
		if os.Rename(dir, final) == nil {
			return nil
		}
		old := dir + ".old"
		if err := os.Rename(final, old); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		if err := os.RemoveAll(old); err != nil {
			return err
		}
	}
	return os.Rename(dir, final)
}

// All returns all entries, ordered by name.
func (f Folder) All() ([]Entry, error) {
	dirs, err := os.ReadDir(string(f))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	var all []Entry
	for _, d := range dirs {
		if e, err := read(filepath.Join(string(f), d.Name())); err == nil && !strings.HasPrefix(d.Name(), ".") {
			all = append(all, e)
		}
	}
	slices.SortFunc(all, func(a, b Entry) int { return strings.Compare(a.Name, b.Name) })
	return all, err
}

// Remove removes the value of a name. It returns an error if nothing is kept under the name.
func (f Folder) Remove(name string) error {
	if _, _, ok := f.Find(name); !ok {
		return fmt.Errorf("nothing is kept under the name %q", name)
	}
	return os.RemoveAll(filepath.Join(string(f), hash(name)))
}
