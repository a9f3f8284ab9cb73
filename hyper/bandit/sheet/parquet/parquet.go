// Package parquet makes package sheet read Parquet files in programs that import it:
//
//	import _ "github.com/hypermodels/hypermodels/hyper/bandit/sheet/parquet"
//
// It is a separate package, because it makes a program 1 MB larger.
//
// A table must be flat: its columns are numbers, booleans or strings, which may use dictionaries. Numbers and booleans
// become the text that a CSV file would have. A null becomes an empty cell, which package sheet reports as an error.
// Pages may be compressed with Zstandard, Snappy, gzip, Brotli or LZ4_RAW.
//
// All sizes that a file declares are checked before they are used. A page may have at most 17 MB, all pages of a file
// together 1 GB without compression, and all texts of a file 256 MB.
package parquet

import (
	"fmt"
	"strings"

	"github.com/hypermodels/hypermodels/hyper/bandit/sheet"
)

func init() { sheet.Register(".parquet", read) }

const (
	// mostPage is the largest number of bytes of a page, before and after compression: enough for all numbers of the
	// largest table in one page.
	mostPage = 8*sheet.MostCells + 1<<20
	// mostRead is the largest number of bytes of all pages of a file without compression.
	mostRead = 4 * sheet.MostBytes
	// mostCell is the largest number of bytes of a cell, and of the name of a column.
	mostCell = 4096
	// mostHeader is the largest number of bytes of the header of a page, which may hold some cells.
	mostHeader = 1 << 16
	// mostFooter is the largest number of bytes of the footer of a file.
	mostFooter = 1 << 26
)

// read reads a file. The decoder of Thrift may panic if a file violates the format; read returns such a panic as an
// error.
func read(contents []byte) (s *sheet.Sheet, err error) {
	defer func() {
		if r := recover(); r != nil {
			s, err = nil, fmt.Errorf("cannot be read as Parquet: %v", r)
		}
	}()
	f, err := readFooter(contents)
	if err != nil {
		return nil, fmt.Errorf("cannot be read as Parquet: %w", err)
	}
	columns, err := columnsOf(f.Schema)
	if err != nil {
		return nil, err
	}
	rows, err := rowsOf(f.Groups, len(columns))
	if err != nil {
		return nil, err
	}
	s = &sheet.Sheet{}
	for _, c := range columns {
		s.Header = append(s.Header, strings.Clone(c.Name)) // because Name shares the bytes of the file
	}
	s.Rows = make([][]string, rows)
	cells := make([]string, rows*len(columns))
	for r := range s.Rows {
		s.Rows[r] = cells[r*len(columns) : (r+1)*len(columns) : (r+1)*len(columns)]
	}
	if err := (&table{contents: contents}).readGroups(f.Groups, columns, s.Rows); err != nil {
		return nil, err
	}
	return s, nil
}

// rowsOf counts the rows of a file with the given number of columns. It returns an error if they are too many for a
// table.
func rowsOf(groups []*group, columns int) (rows int, err error) {
	most := sheet.MostCells / (columns - 1)
	for i, g := range groups {
		switch n := g.Rows; {
		case n < 0 || len(g.Columns) != columns:
			return 0, fmt.Errorf("cannot be read as Parquet: row group %d declares %d rows of %d columns", i, n,
				len(g.Columns))
		case n > int64(most-rows):
			return 0, fmt.Errorf("has more than %d numbers, in more than %d rows of %d columns: use fewer rows or columns",
				sheet.MostCells, most, columns)
		}
		rows += int(g.Rows)
	}
	if rows < 2 {
		return 0, fmt.Errorf("has %d rows, but needs at least 2", rows)
	}
	return rows, nil
}

// readGroups reads all cells.
func (t *table) readGroups(groups []*group, columns []column, rows [][]string) error {
	for i, g := range groups {
		own := rows[:g.Rows]
		rows = rows[g.Rows:]
		for j, c := range columns {
			if err := t.readChunk(c, g.Columns[j], own, j); err != nil {
				return fmt.Errorf("cannot be read as Parquet: row group %d, column %d (%q): %w", i, j+1, c.Name, err)
			}
		}
	}
	return nil
}
