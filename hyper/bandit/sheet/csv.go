package sheet

import (
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"strings"
)

// readCSV reads header and cells, no more than a table may have. The reader wants as many fields in each row as in the
// header.
func readCSV(contents []byte) (*Sheet, error) {
	s, r := &Sheet{}, csv.NewReader(bytes.NewReader(bytes.TrimPrefix(contents, []byte("\ufeff")))) // a byte order mark
	for {
		record, err := r.Read()
		switch {
		case err == io.EOF && len(s.Rows) < 2:
			return nil, fmt.Errorf("has %d rows below a header; it needs 2 at least", len(s.Rows))
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
				return nil, errors.New("needs two columns at least: a context and a target")
			}
			continue
		}
		line, _ := r.FieldPos(0)
		s.Rows, s.Lines = append(s.Rows, record), append(s.Lines, line)
		if len(s.Rows)*(len(s.Header)-1) > MostCells {
			return nil, fmt.Errorf("has more than %d numbers by line %d: use fewer rows or columns", MostCells, line)
		}
	}
}
