package sheet

import (
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"strings"
)

// readCSV reads the header and the cells. It stops with an error when there are more cells than a table may have. The
// CSV reader requires the same number of fields in each row as in the header.
func readCSV(contents []byte) (*Sheet, error) {
	contents = bytes.TrimPrefix(contents, []byte("\ufeff")) // a byte order mark
	if !bytes.Contains(contents, []byte("\n")) {
		contents = bytes.ReplaceAll(contents, []byte("\r"), []byte("\n")) // as old programs end lines
	}
	if bytes.IndexByte(contents, 0) >= 0 {
		return nil, errors.New("has zero bytes, as a file in UTF-16 has: save it as UTF-8")
	}
	if len(bytes.TrimSpace(contents)) == 0 {
		return nil, errors.New("is empty: it needs a header and rows")
	}
	for line := range bytes.Lines(contents) { // before the reader allocates memory for each column
		if bytes.Count(line, []byte(",")) > MostCells {
			return nil, fmt.Errorf("has a line with more than %d columns: use fewer", MostCells)
		}
	}
	s, r := &Sheet{}, csv.NewReader(bytes.NewReader(contents))
	for {
		record, err := r.Read()
		if s.Header == nil && (err != nil || len(record) < 2) {
			if err := otherSeparator(contents); err != nil {
				return nil, err
			}
		}
		switch {
		case err == io.EOF && len(s.Rows) < 2:
			return nil, fmt.Errorf("has %d rows after the header, but needs at least 2", len(s.Rows))
		case err == io.EOF:
			return s, nil
		case err != nil:
			return nil, fmt.Errorf("cannot be read: %w", err)
		}
		for i, cell := range record {
			record[i] = strings.TrimSpace(cell)
		}
		if s.Header == nil {
			if s.Header = record; len(record) < 2 {
				return nil, errors.New("needs at least two columns, separated by commas: a context and a target")
			}
			continue
		}
		line, _ := r.FieldPos(0)
		s.Rows, s.Lines = append(s.Rows, record), append(s.Lines, line)
		if len(s.Rows)*(len(s.Header)-1) > MostCells {
			return nil, fmt.Errorf("has more than %d numbers at line %d: use fewer rows or columns", MostCells, line)
		}
	}
}

// otherSeparator returns an error if the first line has no comma, but a character that separates columns in other
// files.
func otherSeparator(contents []byte) error {
	header, _, _ := bytes.Cut(bytes.TrimLeft(contents, "\r\n"), []byte("\n"))
	at := bytes.IndexAny(header, ";\t|")
	if at < 0 || bytes.Contains(header, []byte(",")) {
		return nil
	}
	return fmt.Errorf("has no comma in the header: the separator seems to be %q: write commas between columns", header[at])
}
