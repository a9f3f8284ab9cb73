package saved

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"strings"
	"testing"

	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/compute/shapes"
	"github.com/gomlx/gomlx/core/tensors"
	"github.com/janpfeifer/must"
)

// content is a value like those that agents and experiments save.
type content struct {
	Names []string
	Round int
}

// file makes the bytes of a file with the given header and data, and with correct lengths and checksum.
func file(head string, data []byte) []byte {
	out := binary.LittleEndian.AppendUint64([]byte(magic), uint64(len(head)))
	return summed(append(append(out, head...), data...))
}

// summed appends the checksum.
func summed(text []byte) []byte {
	return binary.LittleEndian.AppendUint32(text[:len(text):len(text)], crc32.ChecksumIEEE(text))
}

// read reads a file with these bytes. It also returns an error if anything panics.
func read(t testing.TB, text []byte) (value content, state []*tensors.Tensor, err error) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "file")
	must.M(os.WriteFile(path, text, 0o600))
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("panic: %v", r)
		}
	}()
	err = Read(path, &value, &state)
	return value, state, err
}

func TestWriteAndRead(t *testing.T) {
	path := filepath.Join(t.TempDir(), "folder", "file")
	wrote := content{Names: []string{"a", "b"}, Round: 7}
	state := []*tensors.Tensor{
		tensors.FromValue([][]float32{{1, 2, 3}, {4, 5, 6}}), tensors.FromValue(uint32(9)),
		tensors.FromValue([]bool{true, false}),
		tensors.FromShape(shapes.Make(dtypes.Float64, 0, 5)), tensors.FromValue([]uint64{1 << 63}),
		tensors.FromValue([]int32{-1}),
	}
	must.M(Write(path, wrote, state))
	var found content
	var got []*tensors.Tensor
	if err := Read(path, &found, &got); err != nil || !reflect.DeepEqual(found, wrote) || len(got) != len(state) {
		t.Fatalf("got header %+v, %d tensors, error %v, want the written ones", found, len(got), err)
	}
	for i := range got {
		if !got[i].Equal(state[i]) {
			t.Errorf("tensor %d is %v, want %v", i, got[i], state[i])
		}
	}
	found = content{}
	if err := Read(path, &found, nil); err != nil || !reflect.DeepEqual(found, wrote) {
		t.Errorf("value without tensors: got %+v, error %v, want the written value", found, err)
	}
	if left, _ := filepath.Glob(filepath.Join(filepath.Dir(path), ".new-*")); len(left) > 0 {
		t.Errorf("files left: %v, want none", left)
	}
}

// Every file that ends early or has a changed bit is damaged.
func TestDamagedFiles(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	must.M(Write(path, content{Round: 3}, []*tensors.Tensor{tensors.FromValue([]float32{1, 2})}))
	good := must.M1(os.ReadFile(path))
	for i := range good {
		want := "it is cut off"
		if i == 0 {
			want = "it is empty"
		}
		if _, _, err := read(t, good[:i]); !errors.Is(err, ErrDamaged) || !strings.HasSuffix(err.Error(), want) {
			t.Errorf("the first %d of %d bytes: %v, want %s", i, len(good), err, want)
		}
		bad := append([]byte(nil), good...)
		bad[i] ^= 1 << (i % 8)
		if _, _, err := read(t, bad); !errors.Is(err, ErrDamaged) {
			t.Errorf("byte %d changed: got error %v, want ErrDamaged", i, err)
		}
	}
	if err := Read(t.TempDir(), &content{}, nil); !errors.Is(err, ErrFolder) || !errors.Is(err, ErrDamaged) {
		t.Errorf("folder: got error %v, want ErrFolder and ErrDamaged", err)
	}
	for want, text := range map[string][]byte{"its checksum is wrong": append(good[:len(good):len(good)], 1),
		"it does not begin like a file of this program": []byte("a text")} {
		if _, _, err := read(t, text); !errors.Is(err, ErrDamaged) || !strings.HasSuffix(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
	if _, _, err := read(t, summed([]byte("what an earlier version wrote, or anything"))); !errors.Is(err, ErrOldFormat) {
		t.Errorf("other format: got error %v, want ErrOldFormat", err)
	}
}

// hostile lists false headers in files with a correct checksum.
var hostile = map[string][]byte{
	"negative dimension": file(`{"Value":{},"Tensors":"Float32 -3\\n"}`, nil),
	"terabytes":          file(`{"Value":{},"Tensors":"Float32 1099511627776\\n"}`, nil),
	"two to the 64":      file(`{"Value":{},"Tensors":"Float32 4294967296 1073741824\\n"}`, nil),
	"many small":         file(`{"Value":{},"Tensors":"`+strings.Repeat(`\n`, 1e5)+`"}`, nil),
	"unknown type":       file(`{"Value":{},"Tensors":"Float31 1\\n"}`, make([]byte, 4)),
	"packed type":        file(`{"Value":{},"Tensors":"Int4 8\\n"}`, make([]byte, 4)),
	"less data":          file(`{"Value":{},"Tensors":"Float32 2\\n"}`, make([]byte, 7)),
	"more data":          file(`{"Value":{},"Tensors":"Float32 2\\n"}`, make([]byte, 9)),
	"another value":      file(`{"Value":{"Rows":[1]},"Tensors":""}`, nil),
	"no value":           file(`{"Tensors":""}`, nil),
	"two values":         file(`{"Value":{}} {}`, nil),
	"deep":               file(`{"Value":`+strings.Repeat("[", 1e5), nil),
	"long header":        summed(append(binary.LittleEndian.AppendUint64([]byte(magic), 1<<62), "{}"...)),
	"header of 2^64 - 1": summed(append(binary.LittleEndian.AppendUint64([]byte(magic), 1<<64-1), "{}"...)),
}

// A file that Write did not write is an error, before memory is allocated for what the file declares.
func TestHostileFiles(t *testing.T) {
	for name, text := range hostile {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, _, err := read(t, text)
		runtime.ReadMemStats(&after)
		if !errors.Is(err, ErrDamaged) {
			t.Errorf("%s: got error %v, want ErrDamaged", name, err)
		}
		if used, most := after.TotalAlloc-before.TotalAlloc, uint64(20*len(text)+1<<17); used > most {
			t.Errorf("%s: a file of %d bytes took %d bytes of memory, want at most %d", name, len(text), used, most)
		}
	}
}
