package parquet

import (
	"bytes"
	"errors"
	"testing"

	"github.com/apache/arrow-go/v18/parquet/compress"
)

// Codecs return what was encoded, or an error if there is not enough room for it.
func TestBounded(t *testing.T) {
	text := bytes.Repeat([]byte("iris, poppy and daisy "), 100_000)
	for name, c := range map[string]compress.Compression{"zstd": compress.Codecs.Zstd, "snappy": compress.Codecs.Snappy} {
		codec, err := compress.GetCodec(c)
		if err != nil {
			t.Fatal(err)
		}
		packed := codec.Encode(nil, text)
		for _, room := range []int{len(text), len(text) + 10} {
			if got, err := compress.Decode(codec, make([]byte, room), packed); err != nil || !bytes.Equal(got, text) {
				t.Errorf("%s, room for %d: decoded %d bytes, error %v, want the text", name, room, len(got), err)
			}
		}
		if got, err := compress.Decode(codec, nil, packed); err != nil || !bytes.Equal(got, text) {
			t.Errorf("%s: decoded %d bytes, error %v, want the encoded text", name, len(got), err)
		}
		allocated := testing.AllocsPerRun(1, func() {
			if _, err := compress.Decode(codec, make([]byte, 100), packed); !errors.Is(err, errRoom) {
				t.Errorf("%s without room: got error %v, want errRoom", name, err)
			}
		})
		if allocated > 100 {
			t.Errorf("%s: got %v allocations, want at most 100", name, allocated)
		}
		if _, err := compress.Decode(codec, make([]byte, 100), []byte("iris")); err == nil {
			t.Errorf("%s: text that is not encoded: got no error", name)
		}
		if empty, err := compress.Decode(codec, make([]byte, 0), codec.Encode(nil, nil)); err != nil || len(empty) > 0 {
			t.Errorf("%s: empty text: decoded %d bytes, error %v", name, len(empty), err)
		}
		if _, ok := codec.(compress.StreamingCodec); !ok {
			t.Errorf("%s does not support streams", name)
		}
	}
}
