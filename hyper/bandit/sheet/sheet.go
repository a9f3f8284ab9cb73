// Package sheet reads tables: from CSV files, from built-in data sets, and from other kinds of files if a package
// registers a reader for them, as package parquet does.
package sheet

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
)

// Sheet is the text of a table. No cell is empty.
type Sheet struct {
	Name   string     // name of the file or of the data set
	Sum    string     // SHA-256 of its contents, in hex
	Header []string   // names of the columns, at least 2
	Rows   [][]string // at least 2 rows, each with as many cells as Header
	Lines  []int      // line at which each row begins, counted from 1; nil if the file has no lines
}

// The largest size of a file in bytes, and the largest number of cells of a table without its target, which is one
// column.
const (
	MostBytes = 256 << 20
	MostCells = 2_000_000
)

// MostErrors is the largest number of errors of one kind that are reported.
const MostErrors = 10

// Reader makes a Sheet with Header, Rows and, if the file has lines, Lines, from the contents of a file.
type Reader func(contents []byte) (*Sheet, error)

// readers maps the extension of a file name to the Reader for such files.
var readers = struct {
	sync.RWMutex
	by map[string]Reader
}{by: map[string]Reader{}}

// Register sets the Reader for files with an extension such as .parquet. Files with other extensions are read as CSV.
// Register is safe for concurrent use; packages call it from init.
func Register(extension string, r Reader) {
	readers.Lock()
	defer readers.Unlock()
	readers.by[extension] = r
}

// readerOf returns the Reader for a file.
func readerOf(file string) (Reader, error) {
	extension := strings.ToLower(filepath.Ext(file))
	readers.RLock()
	defer readers.RUnlock()
	switch r := readers.by[extension]; {
	case r != nil:
		return r, nil
	case extension == ".parquet":
		return nil, fmt.Errorf("file: this program cannot read %s: import hyper/bandit/sheet/parquet in the program, "+
			"or save the table as CSV", file)
	}
	return readCSV, nil
}

// Read reads a regular file of at most MostBytes, and returns all faults.
func Read(file string) (*Sheet, error) {
	contents, err := readFile(file)
	if err != nil {
		return nil, err
	}
	read, err := readerOf(file)
	if err != nil {
		return nil, err
	}
	s, err := read(contents)
	if err != nil {
		return nil, fmt.Errorf("file: %s %w", file, err)
	}
	s.Name, s.Sum = file, digest(contents)
	return s, s.missing()
}

func readFile(file string) ([]byte, error) {
	if file == "" {
		return nil, fmt.Errorf("file is missing: choose a built-in data set by --set data=NAME, with NAME one of %s, or "+
			"name a CSV or Parquet file with a header by --set file=FILE", strings.Join(Sets(), ", "))
	}
	info, err := os.Stat(file)
	switch {
	case err != nil:
		return nil, fmt.Errorf("file: %w", err)
	case !info.Mode().IsRegular():
		return nil, fmt.Errorf("file: %s is not a regular file", file)
	case info.Size() > MostBytes:
		return nil, fmt.Errorf("file: %s has %d bytes, but at most %d are allowed", file, info.Size(), MostBytes)
	}
	f, err := os.Open(file)
	if err != nil {
		return nil, fmt.Errorf("file: %w", err)
	}
	defer f.Close()
	contents := make([]byte, info.Size())
	if _, err := io.ReadFull(f, contents); err != nil {
		return nil, fmt.Errorf("file: %s became shorter while being read: %w", file, err)
	}
	return contents, nil
}

func digest(contents []byte) string { return fmt.Sprintf("%x", sha256.Sum256(contents)) }

// missing returns an error for each cell without a value, with its row and column.
func (s *Sheet) missing() error {
	var errs []error
	for r, row := range s.Rows {
		for i, cell := range row {
			why := ""
			switch strings.ToLower(cell) {
			case "":
				why = "is missing: fill it in, or remove the row"
			case "na", "n/a", "#n/a", "nan", "null", "?":
				why = "is missing, as this word says: fill it in, remove the row, or write another word"
			case "inf", "-inf", "+inf", "infinity", "-infinity", "+infinity":
				why = "is not a finite number: correct it, or remove the row"
			}
			if why != "" {
				errs = append(errs, fmt.Errorf("%s: %s, column %d (%q): the value %q %s", s.Name, s.Place(r), i+1,
					s.Header[i], cell, why))
			}
			if len(errs) > MostErrors {
				return Some(errs)
			}
		}
	}
	return Some(errs)
}

// Place describes the position of a row, which counts from 0: its line, or its number if the file has no lines.
func (s *Sheet) Place(row int) string {
	if s.Lines == nil {
		return fmt.Sprintf("row %d", row+1)
	}
	return fmt.Sprintf("line %d", s.Lines[row])
}

// Some joins the first MostErrors errors.
func Some(errs []error) error {
	if len(errs) > MostErrors {
		errs = append(errs[:MostErrors:MostErrors], errors.New("and more errors like these"))
	}
	return errors.Join(errs...)
}
