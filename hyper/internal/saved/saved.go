// Package saved writes tensors and other values to files that are either whole or not there: under another name first,
// with a checksum, then renamed.
package saved

import (
	"bufio"
	"encoding/binary"
	"encoding/gob"
	"errors"
	"hash/crc32"
	"io"
	"os"
	"path/filepath"

	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/compute/shapes"
	"github.com/gomlx/gomlx/core/tensors"
)

// ErrDamaged says that a file is not what Write wrote.
var ErrDamaged = errors.New("the file is damaged, or none of ours")

// header says what a tensor in a file is.
type header struct {
	DType int32
	Dims  []int
}

// Write writes a value (by encoding/gob) and tensors with a checksum, atomically. The tensors, which may fill the memory, are written from where they lie.
func Write(path string, value any, state []*tensors.Tensor) error {
	return write(path, func(f io.Writer) error {
		sum := crc32.NewIEEE()
		w := bufio.NewWriter(io.MultiWriter(f, sum))
		headers := make([]header, len(state))
		for i, t := range state {
			headers[i] = header{int32(t.DType()), t.Shape().Dimensions}
		}
		g := gob.NewEncoder(w)
		if err := errors.Join(g.Encode(value), g.Encode(headers)); err != nil {
			return err
		}
		for _, t := range state {
			var err error
			if e := t.ConstBytes(func(data []byte) { _, err = w.Write(data) }); e != nil || err != nil {
				return errors.Join(e, err)
			}
		}
		if err := w.Flush(); err != nil {
			return err
		}
		return binary.Write(f, binary.LittleEndian, sum.Sum32())
	})
}

// Read reads into value, and into state unless it is nil, what Write wrote; the error wraps ErrDamaged when the file is anything else.
func Read(path string, value any, state *[]*tensors.Tensor) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }()
	if err := check(f); err != nil {
		return err
	}
	r := bufio.NewReader(f)
	g := gob.NewDecoder(r) // reads no further than it must, as r reads single bytes
	var headers []header
	if err := errors.Join(g.Decode(value), g.Decode(&headers)); err != nil {
		return errors.Join(ErrDamaged, err)
	}
	if state == nil {
		return nil
	}
	for _, h := range headers {
		t := tensors.FromShape(shapes.Make(dtypes.DType(h.DType), h.Dims...))
		var err error
		if e := t.MutableBytes(func(data []byte) { _, err = io.ReadFull(r, data) }); e != nil || err != nil {
			return errors.Join(ErrDamaged, e, err)
		}
		*state = append(*state, t)
	}
	return nil
}

// check compares a file's checksum, its last 4 bytes, and goes back to its begin.
func check(f *os.File) error {
	info, err := f.Stat()
	if err != nil {
		return err
	}
	sum := crc32.NewIEEE()
	if _, err := io.CopyN(sum, f, info.Size()-4); err != nil {
		return errors.Join(ErrDamaged, err)
	}
	var want uint32
	if err := binary.Read(f, binary.LittleEndian, &want); err != nil || want != sum.Sum32() {
		return errors.Join(ErrDamaged, err)
	}
	_, err = f.Seek(0, io.SeekStart)
	return err
}

// WriteFile writes a file atomically, and its folder if need be.
func WriteFile(path string, data []byte) error {
	return write(path, func(f io.Writer) error {
		_, err := f.Write(data)
		return err
	})
}

// write makes a file of what fill writes.
func write(path string, fill func(io.Writer) error) (err error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	f, err := os.CreateTemp(filepath.Dir(path), ".new-*")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			_ = f.Close()
			_ = os.Remove(f.Name())
		}
	}()
	if err = fill(f); err != nil {
		return err
	}
	if err = f.Chmod(0o644); err != nil {
		return err
	}
	if err = f.Sync(); err != nil {
		return err
	}
	if err = f.Close(); err != nil {
		return err
	}
	return os.Rename(f.Name(), path)
}
