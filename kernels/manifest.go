package main

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
)

// manifest is what install has written below one of Jupyter's data folders, so that uninstall removes that and no more.
// It lies beside the kernel itself.
type manifest struct {
	data    string            // the data folder
	Files   map[string]string `json:"files"`   // sha256 by path, from the data folder
	Folders []string          `json:"folders"` // that did not exist before, outer ones first
}

func manifestPath(data string) string {
	return filepath.Join(data, "kernels", kernelName, "install.json")
}

// errNotInstalled means that install has written nothing there.
var errNotInstalled = errors.New("the kernel is not installed there")

func readManifest(data string) (manifest, error) {
	m := manifest{data: data, Files: map[string]string{}}
	text, err := os.ReadFile(manifestPath(data))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return m, errNotInstalled
	case err != nil:
		return m, err
	}
	if err := json.Unmarshal(text, &m); err != nil {
		return m, fmt.Errorf("%s is damaged: %w", manifestPath(data), err)
	}
	return m, nil
}

// add writes a file, which must not be there, and notes it.
func (m *manifest) add(name string, data []byte) error {
	path := filepath.Join(m.data, name)
	if err := m.addFolder(filepath.Dir(path)); err != nil {
		return err
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	m.Files[name] = digest(data)
	_, err = f.Write(data)
	return errors.Join(err, f.Close())
}

// addFolder makes a folder and those above it, and notes which were missing.
func (m *manifest) addFolder(dir string) error {
	if _, err := os.Stat(dir); err == nil || dir == filepath.Dir(dir) {
		return nil
	}
	if err := m.addFolder(filepath.Dir(dir)); err != nil {
		return err
	}
	m.Folders = append(m.Folders, dir)
	return os.Mkdir(dir, 0o755)
}

// write writes the manifest itself.
func (m *manifest) write() error {
	text, err := json.MarshalIndent(m, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(manifestPath(m.data), append(text, '\n'), 0o644)
}

// remove removes what is as install wrote it. A file that somebody has changed stays, and so do folders with others'.
func (m *manifest) remove() error {
	for name, sum := range m.Files {
		path := filepath.Join(m.data, filepath.FromSlash(name))
		data, err := os.ReadFile(path)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			continue
		case err == nil && digest(data) != sum:
			say("kept %s: it was changed after it was installed", path)
			continue
		case err == nil:
			err = os.Remove(path)
		}
		if err != nil {
			return err
		}
	}
	if err := os.Remove(manifestPath(m.data)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	for _, dir := range slices.Backward(m.Folders) {
		os.Remove(dir) // Fails, as it should, when something else is in there.
	}
	return nil
}

func digest(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}
