package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
)

const modulePath = "github.com/hypermodels/hypermodels"

// checkout is the root folder of the repository.
type checkout string

// findCheckout looks for the repository in dir and the folders above it.
func findCheckout(dir string) (checkout, error) {
	start, err := filepath.Abs(dir)
	if err != nil {
		return "", err
	}
	for dir := start; ; dir = filepath.Dir(dir) {
		mod, err := os.ReadFile(filepath.Join(dir, "go.mod"))
		if err == nil && bytes.Contains(mod, []byte("module "+modulePath+"\n")) {
			return checkout(dir), nil
		}
		if dir == filepath.Dir(dir) {
			return "", badInput(fmt.Errorf("%s is not inside a checkout of %s: start it from the repository's folder", start, modulePath))
		}
	}
}

// here is the checkout around the working folder.
func here() (checkout, error) { return findCheckout(".") }

// path of something in the repository, given relative to its root.
func (c checkout) path(parts ...string) string {
	return filepath.Join(append([]string{string(c)}, parts...)...)
}

// read returns the contents of files of the repository, one after the other.
func (c checkout) read(names ...string) ([]byte, error) {
	var all []byte
	for _, name := range names {
		data, err := os.ReadFile(c.path(filepath.FromSlash(name)))
		if err != nil {
			return nil, fmt.Errorf("the checkout is not complete: %w", err)
		}
		all = append(all, data...)
	}
	return all, nil
}
