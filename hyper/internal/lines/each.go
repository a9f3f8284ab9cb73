package lines

import (
	"bufio"
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/hypermodels/hypermodels/hyper/internal/strict"
)

// Form describes how a file that a person or another program wrote is converted to values, one for each line. The
// extension of the file name determines the format: CSV with a header (.csv), or one JSON object on each line (.jsonl
// or .ndjson), without null. A line is read as a T, and then converted to a Value.
type Form[T, Value any] struct {
	// Columns returns a function that reads a row of CSV. names are the names in the header, each of which occurs once.
	Columns func(names []string) (func(cells []string) (T, error), error)
	// Value returns the value of a line, counted from 1, or an error that says what is wrong with the line.
	Value func(line int, parsed T) (Value, error)
}

// CheckName returns an error if the extension of a file name is not a known format.
func CheckName(path string) error {
	switch filepath.Ext(path) {
	case ".csv", ".jsonl", ".ndjson":
		return nil
	}
	return fmt.Errorf("%s: want a file name that ends in .csv or .jsonl, which states the format", path)
}

// Each reads the values of a file, without empty lines. An error names the file and the line, and ends the sequence.
func (f Form[T, Value]) Each(path string) iter.Seq2[Value, error] {
	return func(yield func(Value, error) bool) {
		var none Value
		if err := CheckName(path); err != nil {
			yield(none, err)
			return
		}
		file, err := os.Open(path)
		if err != nil {
			yield(none, err)
			return
		}
		defer file.Close()
		read := f.objects
		if filepath.Ext(path) == ".csv" {
			read = f.table
		}
		line := 1
		for one, err := range read(file, &line) {
			value := none
			if err == nil {
				value, err = f.Value(line, one)
			}
			if err != nil {
				value, err = none, fmt.Errorf("%s: line %d: %w", path, line, err)
			}
			if !yield(value, err) || err != nil {
				return
			}
		}
	}
}

// objects reads JSON lines.
func (f Form[T, Value]) objects(file io.Reader, line *int) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		in := bufio.NewScanner(file)
		for ; in.Scan(); *line++ {
			if len(bytes.TrimSpace(in.Bytes())) == 0 {
				continue
			}
			var v T
			if err := strict.WithoutNull(in.Bytes(), &v); !yield(v, err) {
				return
			}
		}
		err := in.Err()
		if errors.Is(err, bufio.ErrTooLong) {
			err = fmt.Errorf("the line has more than %d bytes", bufio.MaxScanTokenSize)
		}
		if err != nil {
			var none T
			yield(none, err)
		}
	}
}

// table reads CSV.
func (f Form[T, Value]) table(file io.Reader, line *int) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		var none T
		in := csv.NewReader(file)
		in.ReuseRecord = true
		names, err := header(in)
		var row func([]string) (T, error)
		if err == nil {
			row, err = f.Columns(names)
		}
		for err == nil {
			var cells []string
			v := none
			if cells, err = in.Read(); err == io.EOF {
				return
			}
			if wrong, ok := errors.AsType[*csv.ParseError](err); ok {
				*line, err = wrong.Line, wrong.Err
			} else if err == nil {
				*line, _ = in.FieldPos(0)
				v, err = row(cells)
			}
			if !yield(v, err) || err != nil {
				return
			}
		}
		yield(none, err)
	}
}

// header reads the names of the columns.
func header(in *csv.Reader) (names []string, err error) {
	cells, err := in.Read()
	if err == io.EOF {
		return nil, errors.New("the file is empty: want a header with the names of the columns")
	}
	if err != nil {
		return nil, err
	}
	for i, name := range cells {
		if i == 0 {
			name = strings.TrimPrefix(name, "\ufeff") // a byte order mark
		}
		if name = strings.TrimSpace(name); slices.Contains(names, name) {
			return nil, fmt.Errorf("the header has the column %.40q twice", name)
		}
		names = append(names, name)
	}
	return names, nil
}
