package parquet

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"

	"github.com/parquet-go/parquet-go/format"
)

// The decoders of this file read one value at a time, and check each size before they use it. They hold no more memory
// than a page and the number of its values need. The decoders of parquet-go are not used, because they allocate memory
// for all values that a page declares, and read numbers of any declared width without a check. The encodings are defined in
// https://github.com/apache/parquet-format/blob/master/Encodings.md

// oldDictionary is the encoding PLAIN_DICTIONARY, which older files have, also in place of PLAIN for a dictionary.
const oldDictionary format.Encoding = 2

var errEnds = errors.New("a page ends before its last value")

// source returns the values of a page that are not null, one after the other, as they are in a page without encoding
// (a boolean is a byte). A value is valid until the next call.
type source func() ([]byte, error)

// sourceOf returns the values of data, which are at most n.
func sourceOf(e format.Encoding, t format.Type, data []byte, n int, dictionary [][]byte) (source, error) {
	switch e {
	case format.Plain:
		return plain(t, data), nil
	case oldDictionary, format.RLEDictionary:
		return chosen(data, dictionary)
	case format.RLE:
		if t == format.Boolean {
			return runsOfBooleans(data)
		}
	case format.DeltaBinaryPacked:
		if t == format.Int32 || t == format.Int64 {
			return differences(t, data, n)
		}
	case format.DeltaLengthByteArray:
		if t == format.ByteArray {
			return lengthsFirst(data, n)
		}
	case format.DeltaByteArray:
		if t == format.ByteArray {
			return prefixesFirst(data, n)
		}
	case format.ByteStreamSplit:
		if bytes := width(t); bytes > 0 {
			return splitBytes(bytes, data)
		}
	}
	return nil, fmt.Errorf("a page has values of type %v with the encoding %v, which cannot be read", t, e)
}

// width returns the number of bytes of a number of type t, or 0 if values of type t are no numbers.
func width(t format.Type) int {
	switch t {
	case format.Int32, format.Float:
		return 4
	case format.Int64, format.Double:
		return 8
	}
	return 0
}

// plain returns values without an encoding.
func plain(t format.Type, data []byte) source {
	take := func(n uint32) ([]byte, error) {
		if uint64(n) > uint64(len(data)) {
			return nil, errEnds
		}
		x := data[:n:n]
		data = data[n:]
		return x, nil
	}
	switch n := width(t); {
	case t == format.Boolean:
		packed := bits{data: data}
		return func() ([]byte, error) {
			x, err := packed.next(1)
			return []byte{byte(x)}, err
		}
	case n > 0:
		return func() ([]byte, error) { return take(uint32(n)) }
	}
	return func() ([]byte, error) {
		length, err := take(4)
		if err != nil {
			return nil, err
		}
		return take(binary.LittleEndian.Uint32(length))
	}
}

// chosen returns values of a dictionary by their numbers.
func chosen(data []byte, dictionary [][]byte) (source, error) {
	if len(data) == 0 {
		return func() ([]byte, error) { return nil, errEnds }, nil
	}
	numbers := runs{data: data[1:], width: int(data[0])}
	if numbers.width > 32 {
		return nil, fmt.Errorf("a page has numbers of %d bits", numbers.width)
	}
	return func() ([]byte, error) {
		i, err := numbers.next()
		if err != nil {
			return nil, err
		}
		if i >= uint64(len(dictionary)) {
			return nil, fmt.Errorf("a page needs value %d of a dictionary of %d", i, len(dictionary))
		}
		return dictionary[i], nil
	}, nil
}

func runsOfBooleans(data []byte) (source, error) {
	data, _, err := prefixed(data)
	if err != nil {
		return nil, err
	}
	r := runs{data: data, width: 1}
	return func() ([]byte, error) {
		x, err := r.next()
		return []byte{byte(x)}, err
	}, nil
}

// prefixed splits data that begin with their length.
func prefixed(data []byte) (own, rest []byte, err error) {
	if len(data) < 4 {
		return nil, nil, errEnds
	}
	n := binary.LittleEndian.Uint32(data)
	if data = data[4:]; uint64(n) > uint64(len(data)) {
		return nil, nil, errEnds
	}
	return data[:n], data[n:], nil
}

// differences returns integers that are stored as differences.
func differences(t format.Type, data []byte, n int) (source, error) {
	d, err := deltasOf(data, n)
	if err != nil {
		return nil, err
	}
	var x [8]byte
	return func() ([]byte, error) {
		n, err := d.next()
		binary.LittleEndian.PutUint64(x[:], uint64(n))
		return x[:width(t)], err
	}, nil
}

// lengthsFirst returns texts whose lengths are stored before them, as differences.
func lengthsFirst(data []byte, n int) (source, error) {
	lengths, data, err := deltas32(data, n)
	if err != nil {
		return nil, err
	}
	return func() ([]byte, error) {
		if len(lengths) == 0 || int64(lengths[0]) > int64(len(data)) {
			return nil, errEnds
		}
		x := data[:lengths[0]]
		lengths, data = lengths[1:], data[lengths[0]:]
		return x, nil
	}, nil
}

// prefixesFirst returns texts that begin like the text before them. The lengths of their beginnings are stored first.
func prefixesFirst(data []byte, n int) (source, error) {
	prefixes, data, err := deltas32(data, n)
	if err != nil {
		return nil, err
	}
	rest, err := lengthsFirst(data, n)
	if err != nil {
		return nil, err
	}
	var x []byte
	return func() ([]byte, error) {
		if len(prefixes) == 0 || int64(prefixes[0]) > int64(len(x)) {
			return nil, errEnds
		}
		end, err := rest()
		x = append(x[:prefixes[0]], end...)
		prefixes = prefixes[1:]
		return x, err
	}, nil
}

// splitBytes returns numbers of n bytes: data hold the first bytes of all numbers, then the second ones, and so on.
func splitBytes(n int, data []byte) (source, error) {
	x, at, numbers := make([]byte, n), 0, len(data)/n
	return func() ([]byte, error) {
		if at == numbers {
			return nil, errEnds
		}
		for i := range x {
			x[i] = data[i*numbers+at]
		}
		at++
		return x, nil
	}, nil
}

// bits reads numbers of some bits each, at most 64. The lowest bits are first.
type bits struct {
	data []byte
	at   int // bit
}

func (b *bits) next(width int) (x uint64, err error) {
	if b.at+width > 8*len(b.data) {
		return 0, errEnds
	}
	for got := 0; got < width; {
		n := min(8-b.at%8, width-got)
		x |= uint64(b.data[b.at/8]>>(b.at%8)&(1<<n-1)) << got
		got += n
		b.at += n
	}
	return x, nil
}

// runs reads numbers of width bits, at most 32, which are stored as runs of equal numbers or in groups of 8.
type runs struct {
	data   []byte
	width  int
	left   uint64 // numbers of the present run
	equal  bool
	value  uint64 // the number, if they are equal
	groups bits   // the numbers, if they are not
}

func (r *runs) next() (uint64, error) {
	for r.left == 0 {
		if err := r.start(); err != nil {
			return 0, err
		}
	}
	r.left--
	if r.equal {
		return r.value, nil
	}
	return r.groups.next(r.width)
}

// start reads the header of a run.
func (r *runs) start() error {
	header, n := binary.Uvarint(r.data)
	if n <= 0 {
		return errEnds
	}
	r.data = r.data[n:]
	r.left, r.equal = header>>1, header&1 == 0
	if r.left > math.MaxInt32 {
		return fmt.Errorf("a page has a run of %d values", r.left)
	}
	size := (r.width + 7) / 8
	if !r.equal {
		size = min(int(r.left)*r.width, len(r.data)) // the last group may be cut off
		r.groups, r.left = bits{data: r.data[:size]}, 8*r.left
	}
	if size > len(r.data) {
		return errEnds
	}
	if r.equal {
		var x [8]byte
		copy(x[:], r.data[:size])
		r.value = binary.LittleEndian.Uint64(x[:])
	}
	r.data = r.data[size:]
	return nil
}

// deltas reads integers that are stored as differences.
type deltas struct {
	data   []byte
	left   int   // number of integers that have not been read
	last   int64 // the integer before, or the first one
	begun  bool
	parts  int    // number of parts of a block
	size   int    // number of differences of a part
	least  int64  // difference of a block
	widths []byte // of the parts that are left of a block, in bits
	width  int
	part   bits
	inPart int // number of differences that are left of a part
}

// deltasOf reads the header of at most most integers.
func deltasOf(data []byte, most int) (*deltas, error) {
	var header [3]uint64
	for i := range header {
		x, n := binary.Uvarint(data)
		if n <= 0 {
			return nil, errEnds
		}
		header[i], data = x, data[n:]
	}
	first, n := binary.Varint(data)
	if n <= 0 {
		return nil, errEnds
	}
	block, parts, values := header[0], header[1], header[2]
	if block > 1<<16 || parts == 0 || parts > block || block%parts != 0 || block/parts%32 != 0 {
		return nil, fmt.Errorf("a page has blocks of %d differences in %d parts", block, parts)
	}
	if values > uint64(most) {
		return nil, fmt.Errorf("a page of %d values has %d", most, values)
	}
	return &deltas{data: data[n:], left: int(values), last: first, parts: int(parts), size: int(block / parts)}, nil
}

func (d *deltas) next() (int64, error) {
	if d.left == 0 {
		return 0, errEnds
	}
	d.left--
	if !d.begun {
		d.begun = true
		return d.last, nil
	}
	if d.inPart == 0 {
		if err := d.start(); err != nil {
			return 0, err
		}
	}
	d.inPart--
	x, err := d.part.next(d.width)
	d.last += d.least + int64(x)
	return d.last, err
}

// start goes to the next part, which may be the first one of the next block.
func (d *deltas) start() error {
	if len(d.widths) == 0 {
		least, n := binary.Varint(d.data)
		if n <= 0 || len(d.data)-n < d.parts {
			return errEnds
		}
		d.least, d.widths, d.data = least, d.data[n:n+d.parts], d.data[n+d.parts:]
	}
	d.width, d.widths = int(d.widths[0]), d.widths[1:]
	if d.width > 64 {
		return fmt.Errorf("a page has differences of %d bits", d.width)
	}
	n := min(d.size*d.width/8, len(d.data)) // the last part may be cut off
	d.part, d.data, d.inPart = bits{data: d.data[:n]}, d.data[n:], d.size
	return nil
}

// deltas32 reads at most most lengths that are stored as differences, and returns the bytes after them.
func deltas32(data []byte, most int) (lengths []int32, rest []byte, err error) {
	d, err := deltasOf(data, most)
	if err != nil {
		return nil, nil, err
	}
	for d.left > 0 {
		x, err := d.next()
		if err != nil {
			return nil, nil, err
		}
		if x = int64(int32(x)); x < 0 {
			return nil, nil, fmt.Errorf("a page has a text of length %d", x)
		}
		lengths = append(lengths, int32(x))
	}
	return lengths, d.data, nil
}
