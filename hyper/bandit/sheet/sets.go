package sheet

import (
	"bytes"
	"compress/gzip"
	"embed"
	"fmt"
	"io"
	"path"
	"strings"

	"github.com/hypermodels/hypermodels/hyper/internal/nearest"
)

// files holds the built-in data sets. data/README.md names their sources and licences.
//
//go:embed data/*.csv.gz
var files embed.FS

const suffix = ".csv.gz"

// Sets returns the names of the built-in data sets, for [Set], in alphabetical order.
func Sets() []string {
	found, err := files.ReadDir("data")
	if err != nil {
		panic(err) // cannot happen, because the folder is embedded
	}
	var names []string
	for _, f := range found {
		names = append(names, strings.TrimSuffix(f.Name(), suffix))
	}
	return names
}

// Set reads a built-in data set. Its contents are CSV text.
func Set(name string) (*Sheet, error) {
	packed, err := files.ReadFile(path.Join("data", name+suffix))
	if err != nil {
		return nil, fmt.Errorf("data: unknown %q%s; choose one of %s, or give a file of your own by file=PATH", name,
			nearest.Hint(name, Sets()), strings.Join(Sets(), ", "))
	}
	text, err := unpack(packed)
	if err != nil {
		return nil, fmt.Errorf("data %s: %w", name, err)
	}
	s, err := readCSV(text)
	if err != nil {
		return nil, fmt.Errorf("data %s %w", name, err)
	}
	s.Name, s.Sum = name, digest(text)
	return s, s.missing()
}

func unpack(packed []byte) ([]byte, error) {
	r, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		return nil, err
	}
	return io.ReadAll(r)
}
