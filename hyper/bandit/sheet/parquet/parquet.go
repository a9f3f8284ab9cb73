// Package parquet lets package sheet read Parquet files, for programs that import it, if only for that:
//
//	import _ "github.com/hypermodels/hypermodels/hyper/bandit/sheet/parquet"
//
// It is apart, as it makes a program some 30 MB larger.
//
// A table is flat: its columns are numbers, booleans or strings, which may be in dictionaries. Numbers and booleans
// become the texts that a CSV file would have. A null is an empty cell, which package sheet reports. What a file says
// of its size is checked before anything is read.
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
	// mostPage is how many bytes a page may have before and after it is compressed: room for the numbers of the largest
	// table in one page.
	mostPage = 8*sheet.MostCells + 1<<20
	// mostCell is how many bytes a cell may have.
	mostCell = 4096
	// mostRead is how many values are read at once: a page may share its bytes among them.
	mostRead = 256
)

// read reads a file. Arrow may panic where a file does not keep to the format: that is an error like others.
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

// columnsOf are the columns of a file, all of which can be cells.
func columnsOf(all *schema.Schema) ([]*schema.Column, error) {
	n := all.NumColumns()
	if n < 2 {
		return nil, errors.New("needs two columns at least: a context and a target")
	}
	if n > sheet.MostCells {
		return nil, fmt.Errorf("has %d columns, more than %d numbers: use fewer", n, sheet.MostCells)
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

// rowsOf counts the rows of a file with so many columns. It may not have more than a table.
func rowsOf(f *file.Reader, columns int) (rows int, err error) {
	most := sheet.MostCells / (columns - 1)
	for i := range f.NumRowGroups() {
		g := f.RowGroup(i)
		n := g.NumRows()
		switch {
		case n < 0 || g.NumColumns() != columns:
			return 0, fmt.Errorf("cannot be read as Parquet: its row group %d says that it has %d rows of %d columns", i, n,
				g.NumColumns())
		case n > int64(most-rows):
			return 0, fmt.Errorf("has more than %d numbers, in more than %d rows of %d columns: use fewer rows or columns",
				sheet.MostCells, most, columns)
		}
		rows += int(n)
	}
	if rows < 2 {
		return 0, fmt.Errorf("has %d rows; it needs 2 at least", rows)
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

// checkPages reads the pages of a column, and reports those that say they have more values than a table has: memory is
// made for these before they are read.
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
			return fmt.Errorf("a dictionary of %d values; at most %d are read", n, sheet.MostCells)
		}
		dictionary.Release()
	}
	for pages.Next() {
		if n := pages.Page().NumValues(); n > sheet.MostCells {
			return fmt.Errorf("a page of %d values; at most %d are read", n, sheet.MostCells)
		}
	}
	return pages.Err()
}
