package parquet

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/apache/arrow-go/v18/parquet/compress"
	"github.com/klauspost/compress/snappy"
)

// Arrow gives codecs the memory that a page says it needs. Those of Zstandard and Snappy make more where the compressed
// bytes want it: a few of them may want all there is. So a program that imports this package has codecs that do not.
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

// bounded is a codec that decodes no more than there is room for.
type bounded struct {
	compress.Codec
	compress.StreamingCodec
	snappy bool
}

var _ compress.ErrorCodec = bounded{}

var errRoom = errors.New("the compressed bytes are of more than the page says")

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
