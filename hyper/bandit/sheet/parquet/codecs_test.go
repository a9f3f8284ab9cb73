package parquet

import (
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"sync"
	"testing"

	"github.com/andybalholm/brotli"
	"github.com/golang/snappy"
	"github.com/janpfeifer/must"
	"github.com/klauspost/compress/zstd"
	"github.com/parquet-go/parquet-go/format"
	"github.com/pierrec/lz4/v4"
)

// compressed returns text, compressed with each codec.
func compressed(text []byte) map[format.CompressionCodec][]byte {
	through := func(open func(io.Writer) io.WriteCloser) []byte {
		var out bytes.Buffer
		w := open(&out)
		must.M1(w.Write(text))
		must.M(w.Close())
		return out.Bytes()
	}
	block := make([]byte, lz4.CompressBlockBound(len(text)))
	return map[format.CompressionCodec][]byte{
		format.Snappy: snappy.Encode(nil, text),
		format.Gzip:   through(func(w io.Writer) io.WriteCloser { return gzip.NewWriter(w) }),
		format.Brotli: through(func(w io.Writer) io.WriteCloser { return brotli.NewWriter(w) }),
		format.Zstd:   through(func(w io.Writer) io.WriteCloser { return must.M1(zstd.NewWriter(w)) }),
		format.Lz4Raw: block[:must.M1(lz4.CompressBlock(text, block, nil))],
	}
}

// compressedBombs has 64 MiB of zeros, compressed with each codec.
var compressedBombs = sync.OnceValue(func() map[format.CompressionCodec][]byte { return compressed(make([]byte, 64<<20)) })

// Codecs return what was compressed, or an error if that has another length than the page declares. Whatever the
// compressed bytes contain, they allocate no memory for it. They can be used again after an error.
func TestBounded(t *testing.T) {
	text := bytes.Repeat([]byte("iris, poppy and daisy "), 100_000)
	small, bombs, nothing := compressed(text), compressedBombs(), compressed(nil)
	var c codecs
	for codec := range small {
		for range 2 {
			room := make([]byte, len(text))
			if err := c.decompress(codec, room, small[codec]); err != nil || !bytes.Equal(room, text) {
				t.Errorf("%v: error %v", codec, err)
			}
			if used := allocated(func() {
				if err := c.decompress(codec, room[:100], bombs[codec]); err == nil ||
					codec != format.Lz4Raw && !errors.Is(err, errRoom) {
					t.Errorf("%v, a bomb: error %v", codec, err)
				}
			}); used > 20<<20 {
				t.Errorf("%v, a bomb of %d bytes: %d bytes of memory", codec, len(bombs[codec]), used)
			}
			for _, bad := range [][]byte{nil, []byte("iris"), small[codec][:len(small[codec])/2]} {
				if c.decompress(codec, room, bad) == nil {
					t.Errorf("%v decompresses %.10q", codec, bad)
				}
			}
			if c.decompress(codec, make([]byte, len(text)+1), small[codec]) == nil {
				t.Errorf("%v: a page is shorter than it declares", codec)
			}
			if err := c.decompress(codec, nil, nothing[codec]); err != nil {
				t.Errorf("%v, nothing: error %v", codec, err)
			}
		}
	}
	if c.decompress(format.LZO, make([]byte, 4), []byte("iris")) == nil {
		t.Error("LZO")
	}
}
