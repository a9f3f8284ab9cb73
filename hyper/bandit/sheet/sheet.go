// Package sheet reads tables: of CSV files, of data sets that come along, and of files of other kinds, whose packages
// register how to read them, as package parquet does.
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

// Sheet is the text of a table, no cell of which is empty.
type Sheet struct {
	Name   string     // of the file, or of the data set
	Sum    string     // SHA-256 of its contents, in hex
	Header []string   // names of the columns, 2 or more
	Rows   [][]string // of as many cells each, 2 rows or more
	Lines  []int      // that each row begins at, from 1; nil where a file has none
}

// A table may have so many bytes as a file, and so many cells besides those of one column.
const (
	MostBytes = 256 << 20
	MostCells = 2_000_000
)

// MostErrors is how many errors of one kind are told.
const MostErrors = 10

// Reader makes a Sheet of the contents of a file: Header, Rows and, if there are any, Lines.
type Reader func(contents []byte) (*Sheet, error)

// readers are those of files, by how their names end.
var readers = struct {
	sync.RWMutex
	by map[string]Reader
}{by: map[string]Reader{}}

// Register says how files are read whose names end in an extension, as .parquet. What has no other way is read as CSV.
// It may be called from several goroutines; packages call it when they begin.
func Register(extension string, r Reader) {
	readers.Lock()
	defer readers.Unlock()
	readers.by[extension] = r
}

// readerOf is the Reader of a file.
func readerOf(file string) (Reader, error) {
	extension := strings.ToLower(filepath.Ext(file))
	readers.RLock()
	defer readers.RUnlock()
	switch r := readers.by[extension]; {
	case r != nil:
		return r, nil
	case extension == ".parquet":
		return nil, fmt.Errorf("file: this program cannot read %s: import hyper/bandit/sheet/parquet in it, "+
			"or save the table as CSV", file)
	}
	return readCSV, nil
}

// Read reads a regular file that is not too large, and reports everything that is wrong with it.
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
		return nil, errors.New("file is missing: name a CSV file with a header")
	}
	info, err := os.Stat(file)
	switch {
	case err != nil:
		return nil, fmt.Errorf("file: %w", err)
	case !info.Mode().IsRegular():
		return nil, fmt.Errorf("file: %s is no regular file", file)
	case info.Size() > MostBytes:
		return nil, fmt.Errorf("file: %s has %d bytes; at most %d are read", file, info.Size(), MostBytes)
	}
	f, err := os.Open(file)
	if err != nil {
		return nil, fmt.Errorf("file: %w", err)
	}
	defer f.Close()
	contents := make([]byte, info.Size())
	if _, err := io.ReadFull(f, contents); err != nil {
		return nil, fmt.Errorf("file: %s became shorter while it was read: %w", file, err)
	}
	return contents, nil
}

func digest(contents []byte) string { return fmt.Sprintf("%x", sha256.Sum256(contents)) }

// missing reports cells without a value, by row and column.
func (s *Sheet) missing() error {
	var errs []error
	for r, row := range s.Rows {
		for i, cell := range row {
			switch strings.ToLower(cell) {
			case "", "na", "n/a", "nan", "null", "?", "inf", "-inf", "+inf":
				errs = append(errs, fmt.Errorf("%s: %s, column %d (%q): the value %q is missing or no number: "+
					"fill it in, or remove the row", s.Name, s.place(r), i+1, s.Header[i], cell))
			}
			if len(errs) > MostErrors {
				return Some(errs)
			}
		}
	}
	return Some(errs)
}

// place says where a row is.
func (s *Sheet) place(row int) string {
	if s.Lines == nil {
		return fmt.Sprintf("row %d", row+1)
	}
	return fmt.Sprintf("line %d", s.Lines[row])
}

// Some joins the first errors.
func Some(errs []error) error {
	if len(errs) > MostErrors {
		errs = append(errs[:MostErrors:MostErrors], errors.New("and more like these"))
	}
	return errors.Join(errs...)
}
