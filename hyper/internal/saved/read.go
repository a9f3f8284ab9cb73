package saved

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"math/bits"
	"os"
	"strconv"
	"strings"

	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/compute/shapes"
	"github.com/gomlx/gomlx/core/tensors"

	"github.com/hypermodels/hypermodels/hyper/internal/strict"
)

// ErrDamaged reports that a file is not what Write wrote.
var ErrDamaged = errors.New("the file is damaged, or this program did not write it")

// ErrOldFormat reports that a file has a format that is no longer supported. It wraps ErrDamaged.
var ErrOldFormat = fmt.Errorf("%w: it has no header of this version; perhaps an earlier version wrote it", ErrDamaged)

// ErrFolder reports that there is a folder in place of a file. It wraps ErrDamaged.
var ErrFolder = fmt.Errorf("%w: it is a folder", ErrDamaged)

// errShort reports that a file ends too early.
var errShort = errors.New("needs more bytes than the file has")

// Read reads what Write wrote: the value into value, which is a pointer, and the tensors, which it appends to state
// unless state is nil. The error wraps ErrDamaged if Write did not write the file, and says what is wrong if that is
// known.
//
// Read trusts nothing in the file. It checks the checksum, the lengths, which must add up to the length of the file,
// and the shapes before it allocates memory for a tensor. It allocates at most the memory of the tensors, and an amount
// proportional to the header.
func Read(path string, value any, state *[]*tensors.Tensor) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }()
	size, err := check(f)
	if err != nil {
		return err
	}
	r := bufio.NewReader(f)
	h, left, err := readHeader(r, size)
	if err != nil {
		return err
	}
	found, err := h.shapes(left)
	if err != nil {
		return err
	}
	if err := strict.JSON(h.Value, value); err != nil {
		return errors.Join(ErrDamaged, err)
	}
	if state == nil {
		return nil
	}
	for _, s := range found {
		t := tensors.FromShape(s)
		var err error
		if e := t.MutableBytes(func(data []byte) { _, err = io.ReadFull(r, data) }); e != nil || err != nil {
			return errors.Join(ErrDamaged, e, err)
		}
		*state = append(*state, t)
	}
	return nil
}

// check compares the checksum, which is the last 4 bytes of a file, and returns to the start of the file.
func check(f *os.File) (size int64, err error) {
	info, err := f.Stat()
	if err != nil {
		return 0, err
	}
	switch size = info.Size(); {
	case info.IsDir():
		return 0, ErrFolder
	case !info.Mode().IsRegular():
		return 0, fmt.Errorf("%w: it is not a regular file", ErrDamaged)
	case size == 0:
		return 0, fmt.Errorf("%w: it is empty", ErrDamaged)
	case size < 4:
		return 0, unlike(f, size)
	}
	sum := crc32.NewIEEE()
	if _, err := io.CopyN(sum, f, size-4); err != nil {
		return 0, errors.Join(ErrDamaged, err)
	}
	var want uint32
	if err := binary.Read(f, binary.LittleEndian, &want); err != nil {
		return 0, errors.Join(ErrDamaged, err)
	}
	if want != sum.Sum32() {
		return 0, unlike(f, size)
	}
	_, err = f.Seek(0, io.SeekStart)
	return size, err
}

// unlike describes how a file with a wrong checksum differs from what Write writes, as far as the header can be read.
// size is the number of bytes of the file.
func unlike(f *os.File, size int64) error {
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return errors.Join(ErrDamaged, err)
	}
	r := bufio.NewReader(f)
	begin, _ := r.Peek(len(magic)) // the whole file if it is shorter
	if !strings.HasPrefix(magic, string(begin)) {
		return fmt.Errorf("%w: it does not begin like a file of this program", ErrDamaged)
	}
	h, left, err := readHeader(r, size)
	if err == nil {
		_, err = h.shapes(left)
	}
	if size < int64(fixed) || errors.Is(err, errShort) {
		return fmt.Errorf("%w: it is cut off", ErrDamaged)
	}
	return fmt.Errorf("%w: its checksum is wrong", ErrDamaged)
}

// readHeader reads the header of a file of size bytes. left is the number of bytes that remain for the tensors.
func readHeader(r io.Reader, size int64) (h header, left int64, err error) {
	begin := make([]byte, len(magic))
	if _, err := io.ReadFull(r, begin); err != nil || string(begin) != magic {
		return h, 0, ErrOldFormat
	}
	var length uint64
	if err := binary.Read(r, binary.LittleEndian, &length); err != nil {
		return h, 0, errors.Join(ErrDamaged, err)
	}
	left = size - int64(fixed)
	if left < 0 || length > uint64(left) {
		return h, 0, fmt.Errorf("%w: its header %w", ErrDamaged, errShort)
	}
	text := make([]byte, length)
	if _, err := io.ReadFull(r, text); err != nil {
		return h, 0, errors.Join(ErrDamaged, err)
	}
	if err := strict.JSON(text, &h); err != nil {
		return h, 0, errors.Join(ErrDamaged, err)
	}
	return h, left - int64(length), nil
}

// shapes returns the shapes of the tensors, which must have the given number of bytes together.
func (h header) shapes(bytes int64) (out []shapes.Shape, err error) {
	left := uint64(bytes)
	for line := range strings.Lines(h.Tensors) {
		s, need, err := parseShape(line, left)
		if err != nil {
			return nil, fmt.Errorf("%w: tensor %d, %.50q, %w", ErrDamaged, len(out), line, err)
		}
		out, left = append(out, s), left-need
	}
	if left > 0 {
		return nil, fmt.Errorf("%w: it has %d bytes more than its tensors", ErrDamaged, left)
	}
	return out, nil
}

// parseShape reads a line of header.Tensors, for a tensor of at most the given number of bytes.
func parseShape(line string, most uint64) (s shapes.Shape, bytes uint64, err error) {
	words := strings.Fields(line)
	if len(words) == 0 {
		return s, 0, errors.New("has no type")
	}
	dtype, err := dtypes.DTypeString(words[0])
	if err != nil || !dtype.IsSupported() || dtype.IsPacked() || dtype.Size() == 0 {
		return s, 0, errors.New("has an unknown type")
	}
	bytes = uint64(dtype.Size())
	dims := make([]int, len(words)-1)
	for i, word := range words[1:] {
		d, err := strconv.ParseUint(word, 10, 63)
		over, product := bits.Mul64(bytes, d)
		if err != nil || over > 0 {
			return s, 0, errors.New("has an invalid dimension")
		}
		dims[i], bytes = int(d), product
	}
	if bytes > most {
		return s, 0, errShort
	}
	return shapes.Make(dtype, dims...), bytes, nil
}
