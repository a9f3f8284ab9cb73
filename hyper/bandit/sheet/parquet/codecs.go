package parquet

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/apache/arrow-go/v18/parquet/compress"
	"github.com/klauspost/compress/snappy"
)

// Arrow gives a codec as much memory as a page declares. Arrow's codecs for Zstandard and Snappy allocate more if the
// compressed bytes require it, and a few such bytes may require all memory. This init function replaces them by codecs
// that do not allocate more.
func init() {
	for _, c := range []compress.Compression{compress.Codecs.Zstd, compress.Codecs.Snappy} {
		codec, err := compress.GetCodec(c)
		streams, ok := codec.(compress.StreamingCodec)
		if err != nil || !ok {
			panic(fmt.Sprintf("parquet: Arrow has no codec %v that can stream: %v", c, err))
		}
		compress.RegisterCodec(c, bounded{Codec: codec, StreamingCodec: streams, snappy: c == compress.Codecs.Snappy})
	}
}

// bounded is a codec that decodes at most as many bytes as there is room for.
type bounded struct {
	compress.Codec
	compress.StreamingCodec
	snappy bool
}

var _ compress.ErrorCodec = bounded{}

var errRoom = errors.New("the compressed bytes contain more than the page declares")

// DecodeWithError decodes src into dst.
func (b bounded) DecodeWithError(dst, src []byte) ([]byte, error) {
	if dst == nil {
		return compress.Decode(b.Codec, dst, src)
	}
	if b.snappy {
		if n, err := snappy.DecodedLen(src); err != nil || n > len(dst) {
			return nil, errors.Join(err, errRoom)
		}
		return compress.Decode(b.Codec, dst, src)
	}
	r := b.NewReader(bytes.NewReader(src))
	defer r.Close()
	n, err := io.ReadFull(r, dst)
	if err == io.ErrUnexpectedEOF || err == io.EOF {
		return dst[:n], nil
	}
	if err != nil {
		return nil, err
	}
	if more, err := r.Read(make([]byte, 1)); more > 0 || err != io.EOF {
		return nil, errors.Join(err, errRoom)
	}
	return dst[:n], nil
}
