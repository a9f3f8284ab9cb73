package parquet

import (
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/parquet-go/parquet-go/deprecated"
	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"

	"github.com/hypermodels/hypermodels/hyper/bandit/sheet"
)

// footer is the part of the end of a file that is needed to read its cells. Its lists hold pointers, so that an element
// takes little memory before it has been read.
type footer struct {
	Schema thrift.Slice[*element] `thrift:"2,required"`
	Groups thrift.Slice[*group]   `thrift:"4,required"`
}

// element is a column, or a group of columns. All elements of a file are a tree, in depth-first order.
type element struct {
	Type       thrift.Null[format.Type]              `thrift:"1,optional"` // of a column
	Repetition format.FieldRepetitionType            `thrift:"3,optional"`
	Name       string                                `thrift:"4,required"`
	Children   int32                                 `thrift:"5,optional"` // of a group of columns
	Converted  thrift.Null[deprecated.ConvertedType] `thrift:"6,optional"` // the logical type in older files
	Logical    format.LogicalType                    `thrift:"10,optional"`
}

// group is a row group.
type group struct {
	Columns thrift.Slice[*chunk] `thrift:"1,required"`
	Rows    int64                `thrift:"3,required"`
}

// chunk is a column of a row group.
type chunk struct {
	File      string             `thrift:"1,optional"`
	Place     thrift.Null[place] `thrift:"3,optional"`
	Encrypted *struct{}          `thrift:"8,optional"`
}

// place is the place of the pages of a chunk in the file, in bytes.
type place struct {
	Codec      format.CompressionCodec `thrift:"4,required"`
	Size       int64                   `thrift:"7,required"`
	Data       int64                   `thrift:"9,required"`
	Dictionary int64                   `thrift:"11,optional"` // 0 if there is no dictionary
}

// readFooter reads the footer of a file.
func readFooter(contents []byte) (*footer, error) {
	const ends = 8 // bytes after the footer: its size and the letters PAR1
	if len(contents) < ends {
		return nil, fmt.Errorf("the file has only %d bytes", len(contents))
	}
	body, end := contents[:len(contents)-ends], contents[len(contents)-ends:]
	switch string(end[4:]) {
	case "PAR1":
	case "PARE":
		return nil, errEncrypted
	default:
		return nil, errors.New("the file does not end with the letters PAR1")
	}
	size := int64(binary.LittleEndian.Uint32(end))
	switch {
	case size > int64(len(body)):
		return nil, fmt.Errorf("the file declares a footer of %d bytes, but has only %d", size, len(contents))
	case size > mostFooter:
		return nil, fmt.Errorf("the file has a footer of %d bytes, but at most %d are allowed: use fewer row groups",
			size, mostFooter)
	}
	f := &footer{}
	if _, err := decode(body[int64(len(body))-size:], f); err != nil {
		return nil, fmt.Errorf("the footer is damaged: %w", err)
	}
	return f, nil
}

var errEncrypted = errors.New("it is encrypted: save it without encryption")

// decode decodes a Thrift struct at the start of data, and returns its length in bytes.
func decode(data []byte, to any) (length int, err error) {
	r := &reader{new(thrift.CompactProtocol).NewReaderFromBytes(data), len(data), []int32{1}}
	err = thrift.NewDecoder(r).Decode(to)
	return r.BytesRead(), err
}

// reader reads Thrift. A list must not be longer than the bytes that are left, because the decoder allocates memory for
// a list before it reads its elements. Structs must not be deeply nested, because the decoder calls itself for each.
type reader struct {
	thrift.BytesReader
	size int
	// open holds the structs that are being read: for each level of nesting the number of structs that are not finished.
	open []int32
}

// mostNested is the largest number of structs in each other: Parquet has fewer.
const mostNested = 20

// ReadField reads the header of a field, or the end of a struct.
func (r *reader) ReadField() (thrift.Field, error) {
	f, err := r.BytesReader.ReadField()
	switch {
	case err != nil:
		return f, err
	case f.Type == thrift.STRUCT:
		return f, r.nest(1)
	case f.Type == thrift.STOP:
		last := len(r.open) - 1
		if r.open[last]--; r.open[last] == 0 {
			r.open = r.open[:last]
		}
	}
	return f, nil
}

func (r *reader) nest(structs int32) error {
	if r.open = append(r.open, structs); len(r.open) > mostNested {
		return fmt.Errorf("more than %d structs in each other", mostNested)
	}
	return nil
}

// ReadList reads the header of a list.
func (r *reader) ReadList() (thrift.List, error) {
	l, err := r.BytesReader.ReadList()
	switch {
	case err != nil:
		return l, err
	case int(l.Size) > min(r.size-r.BytesRead(), 2*sheet.MostCells):
		return l, fmt.Errorf("a list of %d elements in %d bytes", l.Size, r.size-r.BytesRead())
	case l.Type == thrift.LIST || l.Type == thrift.SET || l.Type == thrift.MAP:
		return l, errors.New("a list of lists, which Parquet does not have")
	case l.Type == thrift.STRUCT && l.Size > 0:
		return l, r.nest(l.Size)
	}
	return l, nil
}

// ReadSet returns an error: Parquet has no sets.
func (*reader) ReadSet() (thrift.Set, error) {
	return thrift.Set{}, errors.New("a set, which Parquet does not have")
}

// ReadMap returns an error: Parquet has no maps.
func (*reader) ReadMap() (thrift.Map, error) {
	return thrift.Map{}, errors.New("a map, which Parquet does not have")
}

// Discard skips bytes. The decoder uses it for texts that are not needed.
func (r *reader) Discard(n int) (int, error) {
	return r.BytesReader.(interface{ Discard(n int) (int, error) }).Discard(n)
}

// column is an element without children, with the groups around it.
type column struct {
	*element
	around *branch
}

// branch is an element with children.
type branch struct {
	*element
	around *branch // nil for the root
	left   int32   // number of children that have not been read
}

// columnsOf returns the columns of a file, or an error if some of them cannot be cells of a table.
func columnsOf(schema []*element) ([]column, error) {
	columns, err := leavesOf(schema)
	if err != nil {
		return nil, fmt.Errorf("cannot be read as Parquet: %w", err)
	}
	n := len(columns)
	if n < 2 {
		return nil, errors.New("needs at least two columns: a context and a target")
	}
	if n > sheet.MostCells {
		return nil, fmt.Errorf("has %d columns, which makes more than %d numbers: use fewer", n, sheet.MostCells)
	}
	var errs []error
	for i, c := range columns {
		if err := c.isCell(); err != nil {
			errs = append(errs, fmt.Errorf("column %d (%q) %w", i+1, c.path(), err))
		}
		if len(errs) > sheet.MostErrors {
			break
		}
	}
	return columns, sheet.Some(errs)
}

// leavesOf returns the elements that have no children.
func leavesOf(schema []*element) (columns []column, err error) {
	if len(schema) == 0 {
		return nil, errors.New("its schema is empty")
	}
	at := &branch{schema[0], nil, schema[0].Children}
	for _, e := range schema[1:] {
		if at = at.unfinished(); at == nil {
			break
		}
		at.left--
		switch {
		case len(e.Name) > mostCell:
			return nil, fmt.Errorf("a column has a name of %d bytes, but at most %d are allowed", len(e.Name), mostCell)
		case e.Type.Valid:
			columns = append(columns, column{e, at})
		default:
			at = &branch{e, at, e.Children}
		}
	}
	if at == nil || at.unfinished() != nil {
		return nil, fmt.Errorf("its schema of %d elements is no tree", len(schema))
	}
	return columns, nil
}

// unfinished returns the innermost branch with children that have not been read, or nil.
func (b *branch) unfinished() *branch {
	for b != nil && b.left == 0 {
		b = b.around
	}
	return b
}

// path returns the name of a column, after the names of the groups around it. A long path is cut off at its start.
func (c column) path() string {
	path := c.Name
	for b := c.around; b.around != nil && len(path) < mostCell; b = b.around {
		path = b.Name + "." + path
	}
	return path
}
