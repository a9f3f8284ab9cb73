// Package saved writes tensors and other values to files that are either whole or not there: under another name first,
// with a checksum, then renamed.
package saved

import (
	"bytes"
	"encoding/binary"
	"encoding/gob"
	"errors"
	"hash/crc32"
	"os"
	"path/filepath"

	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/compute/shapes"
	"github.com/gomlx/gomlx/core/tensors"
)

// ErrDamaged says that a file is not what Write wrote.
var ErrDamaged = errors.New("the file is damaged, or none of ours")

// Tensor is a tensor as a file holds it.
type Tensor struct {
	DType int32
	Dims  []int
	Data  []byte
}

// From copies tensors.
func From(state []*tensors.Tensor) ([]Tensor, error) {
	out := make([]Tensor, len(state))
	for i, t := range state {
		out[i] = Tensor{DType: int32(t.DType()), Dims: t.Shape().Dimensions}
		if err := t.ConstBytes(func(data []byte) { out[i].Data = bytes.Clone(data) }); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// Tensors makes tensors of copies.
func Tensors(copies []Tensor) ([]*tensors.Tensor, error) {
	out := make([]*tensors.Tensor, len(copies))
	for i, c := range copies {
		out[i] = tensors.FromShape(shapes.Make(dtypes.DType(c.DType), c.Dims...))
		if err := out[i].MutableBytes(func(data []byte) { copy(data, c.Data) }); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// Write writes a value (by encoding/gob) with a checksum, atomically.
func Write(path string, value any) error {
	var body bytes.Buffer
	if err := gob.NewEncoder(&body).Encode(value); err != nil {
		return err
	}
	return WriteFile(path, binary.LittleEndian.AppendUint32(body.Bytes(), crc32.ChecksumIEEE(body.Bytes())))
}

// Read reads into value what Write wrote; the error wraps ErrDamaged when the file is anything else.
func Read(path string, value any) error {
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	if len(text) < 4 {
		return ErrDamaged
	}
	body, sum := text[:len(text)-4], binary.LittleEndian.Uint32(text[len(text)-4:])
	if crc32.ChecksumIEEE(body) != sum {
		return ErrDamaged
	}
	if err := gob.NewDecoder(bytes.NewReader(body)).Decode(value); err != nil {
		return errors.Join(ErrDamaged, err)
	}
	return nil
}

// WriteFile writes a file atomically, and its folder if need be.
func WriteFile(path string, data []byte) (err error) {
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
	if _, err = f.Write(data); err != nil {
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
