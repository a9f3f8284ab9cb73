package parquet

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"strconv"
	"unicode/utf8"

	"github.com/parquet-go/parquet-go/deprecated"
	"github.com/parquet-go/parquet-go/format"

	"github.com/hypermodels/hypermodels/hyper/bandit/sheet"
)

// isCell returns an error unless a column holds numbers, booleans or strings.
func (c column) isCell() error {
	if c.around.around != nil || c.Repetition != format.Required && c.Repetition != format.Optional {
		return errors.New("is nested or a list: make a separate column for each of its values")
	}
	isInt, isBytes := c.Type.V == format.Int32 || c.Type.V == format.Int64, c.Type.V == format.ByteArray
	ok := c.Type.V == format.Boolean || isInt || width(c.Type.V) > 0 || isBytes
	logical := c.Logical.String()
	switch c.Logical.Value.(type) {
	case nil:
		if c.Converted.Valid {
			logical = convertedName(c.Converted.V)
			switch k := c.Converted.V; {
			case k == deprecated.UTF8 || k == deprecated.Enum:
				ok = isBytes
			case k >= deprecated.Uint8 && k <= deprecated.Int64:
				ok = isInt
			default:
				ok = false
			}
		}
	case *format.StringType, *format.EnumType:
		ok = isBytes
	case *format.IntType:
		ok = isInt
	default:
		ok = false
	}
	if ok {
		return nil
	}
	if logical != "" {
		logical = ", " + logical
	}
	return fmt.Errorf("has values of type %v%s: convert it to numbers, booleans or strings, or remove it", c.Type.V,
		logical)
}

// convertedName returns the name of a logical type in an older file.
func convertedName(k deprecated.ConvertedType) string {
	names := []string{"UTF8", "MAP", "MAP_KEY_VALUE", "LIST", "ENUM", "DECIMAL", "DATE", "TIME_MILLIS", "TIME_MICROS",
		"TIMESTAMP_MILLIS", "TIMESTAMP_MICROS", "UINT_8", "UINT_16", "UINT_32", "UINT_64", "INT_8", "INT_16", "INT_32",
		"INT_64", "JSON", "BSON", "INTERVAL"}
	if k < 0 || int(k) >= len(names) {
		return fmt.Sprint("type ", int(k))
	}
	return names[k]
}

func (c column) isOptional() bool { return c.Repetition == format.Optional }

func (c column) isUnsigned() bool {
	if t, ok := c.Logical.Value.(*format.IntType); ok {
		return !t.IsSigned
	}
	k := c.Converted.V
	return c.Logical.Value == nil && c.Converted.Valid && k >= deprecated.Uint8 && k <= deprecated.Uint64
}

// textOf returns a function that converts the values of a chunk to text.
func (t *table) textOf(c column) func(value []byte) (string, error) {
	number := func(text func(value []byte) string) func(value []byte) (string, error) {
		return func(value []byte) (string, error) { return text(value), nil }
	}
	little := binary.LittleEndian
	switch kind, unsigned := c.Type.V, c.isUnsigned(); {
	case kind == format.Boolean:
		return number(func(x []byte) string { return strconv.FormatBool(x[0] != 0) })
	case kind == format.Int32 && unsigned:
		return number(func(x []byte) string { return strconv.FormatUint(uint64(little.Uint32(x)), 10) })
	case kind == format.Int32:
		return number(func(x []byte) string { return strconv.FormatInt(int64(int32(little.Uint32(x))), 10) })
	case kind == format.Int64 && unsigned:
		return number(func(x []byte) string { return strconv.FormatUint(little.Uint64(x), 10) })
	case kind == format.Int64:
		return number(func(x []byte) string { return strconv.FormatInt(int64(little.Uint64(x)), 10) })
	case kind == format.Float:
		return number(func(x []byte) string { return float(float64(math.Float32frombits(little.Uint32(x)))) })
	case kind == format.Double:
		return number(func(x []byte) string { return float(math.Float64frombits(little.Uint64(x))) })
	}
	known := map[string]string{}
	return func(x []byte) (string, error) { return t.text(known, x) }
}

func float(x float64) string { return strconv.FormatFloat(x, 'g', -1, 64) }

// text converts a string. It keeps equal strings only once.
func (t *table) text(known map[string]string, x []byte) (string, error) {
	if len(x) > mostCell {
		return "", fmt.Errorf("a cell of %d bytes, but at most %d are allowed", len(x), mostCell)
	}
	if s, ok := known[string(x)]; ok {
		return s, nil
	}
	if !utf8.Valid(x) {
		return "", fmt.Errorf("a cell that is not text, %.20q", string(x))
	}
	if t.texts += int64(len(x)); t.texts > sheet.MostBytes {
		return "", fmt.Errorf("the cells of the file have more than %d bytes of text: use fewer rows or columns",
			sheet.MostBytes)
	}
	s := string(x)
	known[s] = s
	return s, nil
}
