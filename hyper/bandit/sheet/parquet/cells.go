package parquet

import (
	"errors"
	"fmt"
	"strconv"
	"unicode/utf8"

	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/file"
	"github.com/apache/arrow-go/v18/parquet/schema"
)

// isCell returns an error unless a column holds numbers, booleans or strings.
func isCell(c *schema.Column) error {
	if c.MaxRepetitionLevel() > 0 || c.MaxDefinitionLevel() > 1 || len(c.ColumnPath()) != 1 {
		return errors.New("is nested or a list: make a separate column for each of its values")
	}
	ok := false
	switch c.LogicalType().(type) {
	case nil, schema.NoLogicalType, schema.UnknownLogicalType:
		ok = c.PhysicalType() != parquet.Types.Int96 && c.PhysicalType() != parquet.Types.FixedLenByteArray
	case schema.StringLogicalType, schema.EnumLogicalType:
		ok = c.PhysicalType() == parquet.Types.ByteArray
	case schema.IntLogicalType:
		ok = c.PhysicalType() == parquet.Types.Int32 || c.PhysicalType() == parquet.Types.Int64
	}
	if !ok {
		return fmt.Errorf("has values of type %v, %v: convert it to numbers, booleans or strings, or remove it",
			c.PhysicalType(), c.LogicalType())
	}
	return nil
}

// readChunk reads the cells of a column in the rows of a row group.
func readChunk(g *file.RowGroupReader, column int, rows [][]string) error {
	chunk, err := g.Column(column)
	if err != nil {
		return err
	}
	defer chunk.Close()
	to := target{rows, column, chunk.Descriptor().MaxDefinitionLevel() > 0}
	switch r := chunk.(type) {
	case *file.BooleanColumnChunkReader:
		return readCells(r, to, func(x bool) (string, error) { return strconv.FormatBool(x), nil })
	case *file.Int32ColumnChunkReader:
		if isUnsigned(chunk.Descriptor()) {
			return readCells(r, to, func(x int32) (string, error) { return strconv.FormatUint(uint64(uint32(x)), 10), nil })
		}
		return readCells(r, to, func(x int32) (string, error) { return strconv.FormatInt(int64(x), 10), nil })
	case *file.Int64ColumnChunkReader:
		if isUnsigned(chunk.Descriptor()) {
			return readCells(r, to, func(x int64) (string, error) { return strconv.FormatUint(uint64(x), 10), nil })
		}
		return readCells(r, to, func(x int64) (string, error) { return strconv.FormatInt(x, 10), nil })
	case *file.Float32ColumnChunkReader:
		return readCells(r, to, func(x float32) (string, error) { return float(float64(x)) })
	case *file.Float64ColumnChunkReader:
		return readCells(r, to, float)
	case *file.ByteArrayColumnChunkReader:
		return readCells(r, to, (&texts{map[string]string{}}).text)
	}
	return fmt.Errorf("has values of type %v", chunk.Type())
}

func isUnsigned(c *schema.Column) bool {
	t, ok := c.LogicalType().(schema.IntLogicalType)
	return ok && !t.IsSigned()
}

func float(x float64) (string, error) { return strconv.FormatFloat(x, 'g', -1, 64), nil }

// texts converts the values of a column of strings. It keeps equal values only once.
type texts struct{ known map[string]string }

func (t *texts) text(x parquet.ByteArray) (string, error) {
	if s, ok := t.known[string(x)]; ok {
		return s, nil
	}
	if len(x) > mostCell {
		return "", fmt.Errorf("a cell of %d bytes, but at most %d are allowed", len(x), mostCell)
	}
	if !utf8.Valid(x) {
		return "", fmt.Errorf("a cell that is not text, %.20q", string(x))
	}
	s := string(x)
	t.known[s] = s
	return s, nil
}

// target is the destination for the cells of a column.
type target struct {
	rows   [][]string
	column int
	nulls  bool // whether the column may have nulls
}

// chunkReader reads the values of a type T that are not null, one after the other.
type chunkReader[T any] interface {
	ReadBatch(size int64, values []T, definitions, repetitions []int16) (total int64, read int, err error)
}

// readCells reads exactly one cell for each row. A null becomes an empty cell.
func readCells[T any](r chunkReader[T], to target, text func(T) (string, error)) error {
	values, definitions := make([]T, mostRead), make([]int16, mostRead)
	if !to.nulls {
		definitions = nil
	}
	for at := 0; at < len(to.rows); {
		n, read, err := r.ReadBatch(int64(min(mostRead, len(to.rows)-at)), values, definitions, nil)
		if err != nil {
			return err
		}
		if n == 0 {
			return fmt.Errorf("ends after %d of %d rows", at, len(to.rows))
		}
		next := 0
		for i := range int(n) {
			if to.nulls && definitions[i] == 0 {
				continue
			}
			if next == read {
				return fmt.Errorf("has %d values for %d rows", read, n)
			}
			if to.rows[at+i][to.column], err = text(values[next]); err != nil {
				return err
			}
			next++
		}
		at += int(n)
	}
	return nil
}
