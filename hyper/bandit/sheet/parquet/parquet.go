// Package parquet makes package sheet read Parquet files in programs that import it:
//
//	import _ "github.com/hypermodels/hypermodels/hyper/bandit/sheet/parquet"
//
// It is a separate package, because it makes a program about 30 MB larger.
//
// A table must be flat: its columns are numbers, booleans or strings, which may use dictionaries. Numbers and booleans
// become the text that a CSV file would have. A null becomes an empty cell, which package sheet reports as an error.
// All sizes that a file declares are checked before they are used.
package parquet

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/file"
	"github.com/apache/arrow-go/v18/parquet/schema"

	"github.com/hypermodels/hypermodels/hyper/bandit/sheet"
)

func init() { sheet.Register(".parquet", read) }

const (
	// mostPage is the largest number of bytes of a page, before and after compression: enough for all numbers of the
	// largest table in one page.
	mostPage = 8*sheet.MostCells + 1<<20
	// mostCell is the largest number of bytes of a cell.
	mostCell = 4096
	// mostRead is the number of values that are read at once. It is small because all values of a page may share the
	// same bytes: a small page may hold many long values.
	mostRead = 256
)

// read reads a file. Arrow may panic if a file violates the format; read returns such a panic as an error.
func read(contents []byte) (s *sheet.Sheet, err error) {
	defer func() {
		if r := recover(); r != nil {
			s, err = nil, fmt.Errorf("cannot be read as Parquet: %v", r)
		}
	}()
	properties := parquet.NewReaderProperties(memory.NewGoAllocator())
	properties.MaxCompressedPageSize, properties.MaxUncompressedPageSize = mostPage, mostPage
	f, err := file.NewParquetReader(bytes.NewReader(contents), file.WithReadProps(properties))
	if err != nil {
		return nil, fmt.Errorf("cannot be read as Parquet: %w", err)
	}
	columns, err := columnsOf(f.MetaData().Schema)
	if err != nil {
		return nil, err
	}
	rows, err := rowsOf(f, len(columns))
	if err != nil {
		return nil, err
	}
	s = &sheet.Sheet{}
	for _, c := range columns {
		s.Header = append(s.Header, c.Name())
	}
	s.Rows = make([][]string, rows)
	cells := make([]string, rows*len(columns))
	for r := range s.Rows {
		s.Rows[r] = cells[r*len(columns) : (r+1)*len(columns) : (r+1)*len(columns)]
	}
	return s, readGroups(f, columns, s.Rows)
}

// columnsOf returns the columns of a file, or an error if some of them cannot be cells of a table.
func columnsOf(all *schema.Schema) ([]*schema.Column, error) {
	n := all.NumColumns()
	if n < 2 {
		return nil, errors.New("needs at least two columns: a context and a target")
	}
	if n > sheet.MostCells {
		return nil, fmt.Errorf("has %d columns, which makes more than %d numbers: use fewer", n, sheet.MostCells)
	}
	var columns []*schema.Column
	var errs []error
	for i := range n {
		c := all.Column(i)
		columns = append(columns, c)
		if err := isCell(c); err != nil {
			errs = append(errs, fmt.Errorf("column %d (%q) %w", i+1, c.Path(), err))
		}
	}
	return columns, sheet.Some(errs)
}

// rowsOf counts the rows of a file with the given number of columns. It returns an error if they are too many for a
// table.
func rowsOf(f *file.Reader, columns int) (rows int, err error) {
	most := sheet.MostCells / (columns - 1)
	for i := range f.NumRowGroups() {
		g := f.RowGroup(i)
		n := g.NumRows()
		switch {
		case n < 0 || g.NumColumns() != columns:
			return 0, fmt.Errorf("cannot be read as Parquet: row group %d declares %d rows of %d columns", i, n,
				g.NumColumns())
		case n > int64(most-rows):
			return 0, fmt.Errorf("has more than %d numbers, in more than %d rows of %d columns: use fewer rows or columns",
				sheet.MostCells, most, columns)
		}
		rows += int(n)
	}
	if rows < 2 {
		return 0, fmt.Errorf("has %d rows, but needs at least 2", rows)
	}
	return rows, nil
}

// readGroups reads all cells.
func readGroups(f *file.Reader, columns []*schema.Column, rows [][]string) error {
	for i := range f.NumRowGroups() {
		g := f.RowGroup(i)
		own := rows[:g.NumRows()]
		rows = rows[g.NumRows():]
		for j, c := range columns {
			err := checkPages(g, j)
			if err == nil {
				err = readChunk(g, j, own)
			}
			if err != nil {
				return fmt.Errorf("cannot be read as Parquet: row group %d, column %d (%q): %w", i, j+1, c.Name(), err)
			}
		}
	}
	return nil
}

// checkPages reads the pages of a column. It returns an error if a page declares more values than a table may have,
// because Arrow allocates memory for them before it reads them.
func checkPages(g *file.RowGroupReader, column int) error {
	pages, err := g.GetColumnPageReader(column)
	if err != nil {
		return err
	}
	defer pages.Close()
	dictionary, err := pages.GetDictionaryPage()
	if err != nil {
		return err
	}
	if dictionary != nil {
		if n := dictionary.NumValues(); n > sheet.MostCells {
			return fmt.Errorf("a dictionary of %d values, but at most %d are allowed", n, sheet.MostCells)
		}
		dictionary.Release()
	}
	for pages.Next() {
		if n := pages.Page().NumValues(); n > sheet.MostCells {
			return fmt.Errorf("a page of %d values, but at most %d are allowed", n, sheet.MostCells)
		}
	}
	return pages.Err()
}
