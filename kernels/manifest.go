package main

import (
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
)

// manifest lists the files that install has written in one of Jupyter's data folders, so that uninstall removes only
// these. It is stored next to the kernel.
type manifest struct {
	data    string            // the data folder
	Files   map[string]string `json:"files"`   // sha256 by path relative to the data folder
	Folders []string          `json:"folders"` // folders that install has made, outer ones first
}

func manifestPath(data string) string {
	return filepath.Join(data, "kernels", kernelName, "install.json")
}

// errNotInstalled means that install has written nothing in the data folder.
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

// add writes a new file and adds it to the manifest.
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

// addFolder makes a folder and missing folders above it, and adds the new ones to the manifest.
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

// write writes the manifest.
func (m *manifest) write() error {
	text, err := json.MarshalIndent(m, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(manifestPath(m.data), append(text, '\n'), 0o644)
}

// remove removes the files that have not changed since install wrote them, and folders that are empty then.
func (m *manifest) remove() error {
	for name, sum := range m.Files {
		path := filepath.Join(m.data, filepath.FromSlash(name))
		data, err := os.ReadFile(path)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			continue
		case err == nil && digest(data) != sum:
			say("kept %s: it has changed since its installation", path)
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
		os.Remove(dir) // This fails if the folder has other files, as it should.
	}
	return nil
}

func digest(data []byte) string { return fmt.Sprintf("%x", sha256.Sum256(data)) }
