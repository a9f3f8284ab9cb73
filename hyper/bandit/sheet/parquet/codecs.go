package parquet

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"

	"github.com/andybalholm/brotli"
	"github.com/golang/snappy"
	"github.com/klauspost/compress/zstd"
	"github.com/parquet-go/parquet-go/format"
	"github.com/pierrec/lz4/v4"
)

// codecs decompress pages into memory of a given size, and never allocate memory because the compressed bytes say so.
// A codec is made when it is needed first.
type codecs struct {
	gzip   gzip.Reader
	brotli brotli.Reader
	zstd   *zstd.Decoder
}

var errRoom = errors.New("the compressed bytes contain more than the page declares")

// decompress decompresses from into all of room.
func (c *codecs) decompress(codec format.CompressionCodec, room, from []byte) error {
	n, err := c.decode(codec, room, from)
	switch {
	case err != nil:
		return fmt.Errorf("the bytes of a page, compressed with %v, cannot be read: %w", codec, err)
	case n != len(room):
		return fmt.Errorf("a page of %d bytes declares %d bytes", n, len(room))
	}
	return nil
}

// decode decodes from into room, and returns the number of bytes.
func (c *codecs) decode(codec format.CompressionCodec, room, from []byte) (n int, err error) {
	switch codec {
	case format.Snappy:
		n, err = snappy.DecodedLen(from)
		if err == nil && n > len(room) {
			err = errRoom
		}
		if err == nil {
			_, err = snappy.Decode(room, from)
		}
		return n, err
	case format.Gzip:
		if err := c.gzip.Reset(bytes.NewReader(from)); err != nil {
			return 0, err
		}
		return fill(&c.gzip, room)
	case format.Brotli:
		if err := c.brotli.Reset(bytes.NewReader(from)); err != nil {
			return 0, err
		}
		return fill(&c.brotli, room)
	case format.Zstd:
		if c.zstd == nil {
			if c.zstd, err = zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecodeAllCapLimit(true)); err != nil {
				return 0, err
			}
		}
		out, err := c.zstd.DecodeAll(from, room[:0:len(room)])
		if errors.Is(err, zstd.ErrDecoderSizeExceeded) {
			err = errRoom
		}
		return len(out), err
	case format.Lz4Raw:
		return lz4.UncompressBlock(from, room)
	}
	return 0, errors.New("use Zstandard, Snappy, gzip or no compression")
}

// fill reads all of r, which must fit into room.
func fill(r io.Reader, room []byte) (n int, err error) {
	n, err = io.ReadFull(r, room)
	if err == io.ErrUnexpectedEOF || err == io.EOF {
		return n, nil
	}
	if err != nil {
		return n, err
	}
	if _, err := io.ReadFull(r, make([]byte, 1)); err != io.EOF {
		return n, errors.Join(err, errRoom)
	}
	return n, nil
}
