package compiled

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"io"
	"os"
)

// Key is a hash of everything that determines the output of a compiler, see KeyOf.
type Key [sha256.Size]byte

const keyLength = 2 * sha256.Size

// String returns the key in hexadecimal digits, which is the name of the program's file.
func (k Key) String() string { return hex.EncodeToString(k[:]) }

// KeyOf returns the key of parts. Two keys are equal only if all parts are equal.
func KeyOf(parts ...[]byte) Key {
	h := sha256.New()
	for _, p := range parts {
		_ = binary.Write(h, binary.LittleEndian, uint64(len(p)))
		h.Write(p)
	}
	return Key(h.Sum(nil))
}

// head is the beginning of a file; the program follows it.
type head struct {
	Magic    [8]byte
	Key      Key
	Length   uint64
	Checksum [sha256.Size]byte
}

var (
	magic    = [8]byte{'h', 'y', 'p', 'e', 'r', 'x', 'c', '1'}
	headSize = int64(binary.Size(head{}))
)

var errForeign = errors.New("not a program of this cache")

// encoded returns the content of a program's file.
func encoded(key Key, program []byte) []byte {
	h := head{Magic: magic, Key: key, Length: uint64(len(program)), Checksum: sha256.Sum256(program)}
	var out bytes.Buffer
	_ = binary.Write(&out, binary.LittleEndian, h) // cannot fail: a buffer accepts all values of fixed size
	out.Write(program)
	return out.Bytes()
}

// read returns the program of a file if the file is correct and trusted.
func read(path string, key Key) ([]byte, error) {
	f, err := open(path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	var h head
	if !trusted(info) || info.Size() < headSize {
		return nil, errForeign
	}
	if err := binary.Read(f, binary.LittleEndian, &h); err != nil {
		return nil, err
	}
	if h.Magic != magic || h.Key != key || h.Length != uint64(info.Size()-headSize) {
		return nil, errForeign
	}
	program := make([]byte, h.Length)
	if _, err := io.ReadFull(f, program); err != nil {
		return nil, err
	}
	if sha256.Sum256(program) != h.Checksum {
		return nil, errForeign
	}
	return program, nil
}

// trusted reports whether only this user could have written the file.
func trusted(info os.FileInfo) bool {
	return info.Mode().IsRegular() && info.Mode().Perm()&0o022 == 0 && owned(info)
}
