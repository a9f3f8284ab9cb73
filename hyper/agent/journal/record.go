// Package journal is the durable log of an agent that serves decisions: what it decided, which rewards came, and when it
// learned, in the order in which that happened.
package journal

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"math"
)

// Record is an entry of the log: exactly one of its pointers is set.
type Record struct {
	Time     int64 // Unix time in nanoseconds
	Decision *Decision
	Feedback *Feedback
	Learned  *Learned
}

// Decision is one that was made. Menu is what there was to choose from, as the writer has it; the log does not look into
// it.
type Decision struct {
	ID            string
	Action        int
	Probabilities []float32
	Menu          []byte
}

// Feedback is a reward that was taken.
type Feedback struct {
	ID     string
	Reward float32
	Weight float32
}

// Learned says that so many rounds of training were made.
type Learned struct{ Rounds int }

// ErrDamaged says that a record is not what was written.
var ErrDamaged = errors.New("damaged")

// version begins every record. Others are refused.
const version = 1

// Kinds of records.
const (
	aDecision = iota + 1
	aFeedback
	aLearned
)

// Bounds of what is read.
const (
	mostBytes   = 16 << 20
	mostActions = 1 << 20
	mostID      = 256
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// encode writes a record: version, kind, time, fields, and the CRC-32C of all these. Numbers are varints, texts begin
// with their length.
func (r Record) encode() ([]byte, error) {
	out := []byte{version, 0}
	out = binary.AppendVarint(out, r.Time)
	text := func(s string) {
		out = binary.AppendUvarint(out, uint64(len(s)))
		out = append(out, s...)
	}
	number := func(x float32) { out = binary.LittleEndian.AppendUint32(out, math.Float32bits(x)) }
	switch {
	case r.Decision != nil:
		d := r.Decision
		if len(d.ID) > mostID || d.Action < 0 || d.Action >= len(d.Probabilities) || len(d.Probabilities) > mostActions {
			return nil, fmt.Errorf("a decision must have an ID of at most %d bytes, and an action of at most %d", mostID,
				mostActions)
		}
		out[1] = aDecision
		text(d.ID)
		out = binary.AppendUvarint(out, uint64(d.Action))
		out = binary.AppendUvarint(out, uint64(len(d.Probabilities)))
		for _, p := range d.Probabilities {
			number(p)
		}
		text(string(d.Menu))
	case r.Feedback != nil:
		if len(r.Feedback.ID) > mostID {
			return nil, fmt.Errorf("an ID must have at most %d bytes", mostID)
		}
		out[1] = aFeedback
		text(r.Feedback.ID)
		number(r.Feedback.Reward)
		number(r.Feedback.Weight)
	case r.Learned != nil:
		out[1] = aLearned
		out = binary.AppendUvarint(out, uint64(r.Learned.Rounds))
	default:
		return nil, errors.New("an empty record")
	}
	if len(out) > mostBytes {
		return nil, fmt.Errorf("a record must have at most %d bytes, got %d", mostBytes, len(out))
	}
	return binary.LittleEndian.AppendUint32(out, crc32.Checksum(out, castagnoli)), nil
}

// reader reads the fields of a record; the first error stays.
type reader struct {
	left []byte
	err  error
}

func (r *reader) fail(what string) {
	if r.err == nil {
		r.err = fmt.Errorf("%w: %s", ErrDamaged, what)
	}
	r.left = nil
}

func (r *reader) uvarint(most uint64) uint64 {
	v, n := binary.Uvarint(r.left)
	if n <= 0 || v > most {
		r.fail("a number is cut off, or too large")
		return 0
	}
	r.left = r.left[n:]
	return v
}

func (r *reader) varint() int64 {
	v, n := binary.Varint(r.left)
	if n <= 0 {
		r.fail("a number is cut off")
		return 0
	}
	r.left = r.left[n:]
	return v
}

// bytes copies a text.
func (r *reader) bytes(most uint64) []byte {
	n := r.uvarint(most)
	if n > uint64(len(r.left)) {
		r.fail("a text is cut off")
		return nil
	}
	out := append([]byte(nil), r.left[:n]...)
	r.left = r.left[n:]
	return out
}

func (r *reader) float() float32 {
	if len(r.left) < 4 {
		r.fail("a number is cut off")
		return 0
	}
	v := math.Float32frombits(binary.LittleEndian.Uint32(r.left))
	r.left = r.left[4:]
	return v
}

// decode reads what encode wrote. The error wraps ErrDamaged, or names a version that is not known. Nothing is
// allocated that the record has no bytes for.
func decode(data []byte) (r Record, err error) {
	if len(data) < 6 || len(data) > mostBytes+4 {
		return r, fmt.Errorf("%w: a record of %d bytes", ErrDamaged, len(data))
	}
	if data[0] != version {
		return r, fmt.Errorf("the record is of version %d, and this program reads version %d", data[0], version)
	}
	body, sum := data[:len(data)-4], binary.LittleEndian.Uint32(data[len(data)-4:])
	if crc32.Checksum(body, castagnoli) != sum {
		return r, fmt.Errorf("%w: the checksum is wrong", ErrDamaged)
	}
	in := &reader{left: body[2:]}
	r.Time = in.varint()
	switch body[1] {
	case aDecision:
		d := &Decision{ID: string(in.bytes(mostID)), Action: int(in.uvarint(mostActions))}
		if n := in.uvarint(mostActions); 4*n <= uint64(len(in.left)) {
			d.Probabilities = make([]float32, n)
			for i := range d.Probabilities {
				d.Probabilities[i] = in.float()
			}
		} else {
			in.fail("probabilities are cut off")
		}
		if d.Menu = in.bytes(mostBytes); d.Action >= len(d.Probabilities) {
			in.fail("the action is none of those there were")
		}
		r.Decision = d
	case aFeedback:
		r.Feedback = &Feedback{ID: string(in.bytes(mostID)), Reward: in.float(), Weight: in.float()}
	case aLearned:
		r.Learned = &Learned{Rounds: int(in.uvarint(math.MaxInt32))}
	default:
		in.fail(fmt.Sprintf("kind %d", body[1]))
	}
	if in.err == nil && len(in.left) > 0 {
		in.fail("there are bytes after its end")
	}
	if in.err != nil {
		return Record{}, in.err
	}
	return r, nil
}
