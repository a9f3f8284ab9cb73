// Package saved writes tensors and other values to files atomically: it writes a temporary file with a checksum, and
// then renames it. A file has these parts:
//
//	magic                   20 bytes, the format's name
//	length of the header    uint64, little endian like all that follows
//	header                  JSON: the value, and the type and dimensions of each tensor
//	the tensors             their bytes, one after the other
//	checksum                uint32, CRC-32 (IEEE) of all before it
//
// Files may come from elsewhere. [Read] therefore compares all lengths with the length of the file before it allocates
// memory.
package saved

import (
	"bufio"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"os"
	"path/filepath"
	"runtime"

	"github.com/gomlx/gomlx/core/tensors"
)

// magic is the start of every file. Its last character is the number of the format.
const magic = "hypermodels saved 2\n"

// fixed is the number of bytes of a file without its header and tensors: magic, length and checksum.
const fixed = len(magic) + 8 + 4

// header describes the contents of a file.
type header struct {
	Value   json.RawMessage
	Tensors string // a line for each tensor with its type and dimensions, as in "Float32 2 3"
}

// Write writes a value (as JSON) and tensors with a checksum, atomically. It does not copy the tensors, which may fill
// the memory.
func Write(path string, value any, state []*tensors.Tensor) error {
	return write(path, func(f io.Writer) error { return WriteTo(f, value, state) })
}

// WriteTo writes the same bytes as Write to f, which need not be a file.
func WriteTo(f io.Writer, value any, state []*tensors.Tensor) error {
	var h header
	for _, t := range state {
		h.Tensors += t.DType().String()
		for _, d := range t.Shape().Dimensions {
			h.Tensors += fmt.Sprint(" ", d)
		}
		h.Tensors += "\n"
	}
	var err error
	if h.Value, err = json.Marshal(value); err != nil {
		return err
	}
	text, err := json.Marshal(h)
	if err != nil {
		return err
	}
	sum := crc32.NewIEEE()
	w := bufio.NewWriter(io.MultiWriter(f, sum))
	_, err1 := w.WriteString(magic)
	err2 := binary.Write(w, binary.LittleEndian, uint64(len(text)))
	_, err3 := w.Write(text)
	if err := errors.Join(err1, err2, err3); err != nil {
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
}

// WriteFile writes a file atomically. It makes the file's folder if it does not exist.
func WriteFile(path string, data []byte) error {
	return write(path, func(f io.Writer) error {
		_, err := f.Write(data)
		return err
	})
}

// write writes a file atomically with the bytes that fill writes.
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
	if err = os.Rename(f.Name(), path); err != nil {
		return err
	}
	return Sync(filepath.Dir(path))
}

// Sync makes a file that nobody writes, or the names of the files in a folder, safe on the disk.
func Sync(path string) error {
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	how := os.O_RDWR
	if info.IsDir() {
		if runtime.GOOS == "windows" {
			return nil // Windows cannot sync folders
		}
		how = os.O_RDONLY
	}
	f, err := os.OpenFile(path, how, 0)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}
