package durable

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"iter"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/hypermodels/hypermodels/hyper/agent/journal"
)

// A segment is a file of the log, named by the number of its first record. It has the bytes of magic, and then frames,
// one for each Append. A frame has these fields, little-endian:
//
//	checksum  uint32, CRC-32C of the rest of the frame
//	length    uint32, length of the body in bytes
//	number    uint64, number of the frame's first record
//	unsafe    uint32, number of earlier records that were not known to be on the disk at the time of the write
//	body      the records, each after its length as a varint; or a mark: 0, and as a varint the number of the first record
//	          that Trim has kept
//
// A segment begins with a mark, and ends with another one if the log was closed.
const (
	magic      = "hypermodels log 2\n"
	frameHead  = 20
	suffix     = ".log"
	unfinished = "new" // the name of a segment before it has its first mark
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// frame holds the records of one write.
type frame struct {
	number, safe uint64 // number of its first record; records before safe were known to be on the disk
	body         []byte
}

// append appends the encoded frame to out.
func (f frame) append(out []byte) []byte {
	begin := len(out)
	out = append(out, 0, 0, 0, 0)
	out = binary.LittleEndian.AppendUint32(out, uint32(len(f.body)))
	out = binary.LittleEndian.AppendUint64(out, f.number)
	out = binary.LittleEndian.AppendUint32(out, uint32(min(f.number-f.safe, math.MaxUint32)))
	out = append(out, f.body...)
	binary.LittleEndian.PutUint32(out[begin:], crc32.Checksum(out[begin+4:], castagnoli))
	return out
}

// frameAt reads the frame at the beginning of data, whose number must be from least to most; ok is false if there is no
// such frame.
func frameAt(data []byte, least, most uint64) (f frame, size int, ok bool) {
	if len(data) < frameHead {
		return f, 0, false
	}
	length := uint64(binary.LittleEndian.Uint32(data[4:]))
	f.number = binary.LittleEndian.Uint64(data[8:])
	if length > uint64(len(data)-frameHead) || f.number < least || f.number > most {
		return f, 0, false
	}
	size = frameHead + int(length)
	f.safe = f.number - min(f.number, uint64(binary.LittleEndian.Uint32(data[16:])))
	f.body = data[frameHead:size:size]
	return f, size, crc32.Checksum(data[4:size], castagnoli) == binary.LittleEndian.Uint32(data)
}

// markBody returns the body of a mark.
func markBody(first uint64) []byte { return binary.AppendUvarint([]byte{0}, first) }

// mark returns the number in a mark; ok is false if the frame is not a mark.
func (f frame) mark() (first uint64, ok bool) {
	if len(f.body) == 0 || f.body[0] != 0 {
		return 0, false
	}
	first, n := binary.Uvarint(f.body[1:])
	return first, n > 0
}

// records returns the frame's records with their numbers.
func (f frame) records() iter.Seq2[uint64, []byte] {
	return func(yield func(uint64, []byte) bool) {
		if _, ok := f.mark(); ok {
			return
		}
		for number, left := f.number, f.body; len(left) > 0; number++ {
			size, n := binary.Uvarint(left)
			if n <= 0 || size > uint64(len(left)-n) {
				return // Append does not write this: the caller then finds that records are missing
			}
			if !yield(number, left[n:n+int(size)]) {
				return
			}
			left = left[n+int(size):]
		}
	}
}

// segment is a segment that is read frame by frame.
type segment struct {
	data []byte
	at   int    // index at which the next frame begins
	next uint64 // number of the next record
}

// readSegment begins to read a segment with a number. The error means that the file is not a segment.
func readSegment(data []byte, number uint64) (*segment, error) {
	s := &segment{data, min(len(magic), len(data)), number}
	if string(data[:s.at]) != magic[:s.at] {
		return nil, fmt.Errorf("%w, or it has another version: it begins with %q", journal.ErrDamaged, data[:s.at])
	}
	return s, nil
}

// frame reads the next frame; ok is false at the end, or if the rest cannot be read.
func (s *segment) frame() (f frame, ok bool) {
	f, size, ok := frameAt(s.data[s.at:], s.next, s.next)
	if !ok {
		return f, false
	}
	s.at += size
	for number := range f.records() {
		s.next = number + 1
	}
	return f, true
}

// left returns the number of bytes that are not read yet.
func (s *segment) left() int { return len(s.data) - s.at }

// damage reports whether the bytes that cannot be read had been on the disk. It searches for a later frame that says
// so, and returns the number of that frame.
func (s *segment) damage() (number uint64, found bool) {
	for at := s.at + 1; at+frameHead <= len(s.data); at++ {
		// Every record takes at least one byte. This bounds the number of a later frame, and random bytes rarely match.
		f, _, ok := frameAt(s.data[at:], s.next, s.next+uint64(at-s.at))
		if ok && f.safe > s.next {
			return f.number, true
		}
	}
	return 0, false
}

// fileOf returns the file name of the segment whose first record has a number.
func fileOf(number uint64) string { return fmt.Sprintf("%020d%s", number, suffix) }

// segmentsOf returns the numbers of the segments among the names of a folder's files, in ascending order.
func segmentsOf(names []string) (numbers []uint64) {
	for _, name := range names {
		number, err := strconv.ParseUint(strings.TrimSuffix(name, suffix), 10, 64)
		if err == nil && name == fileOf(number) {
			numbers = append(numbers, number)
		}
	}
	slices.Sort(numbers)
	return numbers
}
