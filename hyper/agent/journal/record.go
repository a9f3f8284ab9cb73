// Package journal defines the records of an agent's log, in the order of the events: the decisions that the agent made,
// the rewards that arrived, what it learned when a wait was over, and its training. Package durable keeps the records
// on disk.
package journal

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"math"
	"slices"
)

// Record is an entry of the log. Exactly one of its pointers is set.
type Record struct {
	Number   uint64 // index of the record in the log, counted from 0; set by the log
	Time     int64  // Unix time in nanoseconds
	Decision *Decision
	Feedback *Feedback
	Datum    *Datum
	Trained  *Trained
	Shown    *Shown
	Settled  *Settled
	Arms     *Arms
	Features *Features
}

// Decision records a decision.
type Decision struct {
	ID            string
	Context       []float32   // with Actions and Arms, the menu: see agent.Menu
	Actions       [][]float32 // all have the same length
	Arms          []int
	Action        int // index of the action taken
	Probabilities []float32
	Input         []float32 // input of the belief for the action taken
	Deferred      bool      // the wait for its reward begins when it is Shown
}

// Feedback records a reward that the agent took.
type Feedback struct {
	ID     string
	Reward float32
	Weight float32
	Kept   bool // the reward is kept until the decision is Settled; if false, the agent learned from it at once
}

// Datum records a datum that was added without a decision.
type Datum struct {
	Input    []float32
	Response float32
}

// Trained records a number of rounds of training, in addition to the rounds that follow feedback.
type Trained struct{ Rounds int }

// ErrDamaged means that a record is not as it was written.
var ErrDamaged = errors.New("damaged")

// A record begins with the version that introduced its kind. Decode refuses a record with another version.
const (
	version     = 1
	lastVersion = 3
)

// These are the kinds of records.
const (
	aDecision = iota + 1
	aFeedback
	aDatum
	aTrained
	aDeferred // a Decision; the kinds from here on need version 2
	aKept     // a Feedback
	aShown
	aSettled
	aChangeOfArms // Arms; the kinds from here on need version 3
	aChangeOfFeatures
)

// versionOf returns the version that introduced a kind.
func versionOf(kind byte) byte {
	switch {
	case kind < aDeferred:
		return version
	case kind < aChangeOfArms:
		return 2
	}
	return lastVersion
}

// MaxBytes is the largest size of an encoded record.
const MaxBytes = 16 << 20

// ErrTooLarge means that a record has more than MaxBytes.
var ErrTooLarge = errors.New("the record is too large")

// These are the bounds of each number that counts in a record, and of an ID in bytes.
const (
	mostNumbers = 1 << 22
	mostID      = 256
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// Encode encodes a record: version, kind, time, fields, and the CRC-32C of all these. Integers are varints, lists begin
// with their length, and other numbers are float32; all are little-endian. The error says what is wrong with the
// record.
func (r Record) Encode() ([]byte, error) {
	if err := r.validate(); err != nil {
		return nil, err
	}
	w := &writer{out: []byte{version, 0}}
	w.out = binary.AppendVarint(w.out, r.Time)
	switch {
	case r.Decision != nil:
		w.out[1] = aDecision
		if r.Decision.Deferred {
			w.out[1] = aDeferred
		}
		w.decision(r.Decision)
	case r.Feedback != nil:
		w.out[1] = aFeedback
		if r.Feedback.Kept {
			w.out[1] = aKept
		}
		w.text(r.Feedback.ID)
		w.number(r.Feedback.Reward)
		w.number(r.Feedback.Weight)
	case r.Datum != nil:
		w.out[1] = aDatum
		w.numbers(r.Datum.Input)
		w.number(r.Datum.Response)
	case r.Shown != nil:
		w.out[1] = aShown
		w.text(r.Shown.ID)
	case r.Settled != nil:
		w.out[1] = aSettled
		w.settled(r.Settled)
	case r.Arms != nil:
		w.out[1] = aChangeOfArms
		w.arms(r.Arms)
	case r.Features != nil:
		w.out[1] = aChangeOfFeatures
		w.features(r.Features)
	default:
		w.out[1] = aTrained
		w.count(r.Trained.Rounds)
	}
	w.out[0] = versionOf(w.out[1])
	if len(w.out) > MaxBytes {
		return nil, fmt.Errorf("%w: it must have at most %d bytes, got %d", ErrTooLarge, MaxBytes, len(w.out))
	}
	return binary.LittleEndian.AppendUint32(w.out, crc32.Checksum(w.out, castagnoli)), nil
}

// validate reports a record that Decode would refuse.
func (r Record) validate() error {
	kinds := 0
	for _, is := range []bool{r.Decision != nil, r.Feedback != nil, r.Datum != nil, r.Trained != nil, r.Shown != nil,
		r.Settled != nil, r.Arms != nil, r.Features != nil} {
		if is {
			kinds++
		}
	}
	switch {
	case kinds != 1:
		return fmt.Errorf("a record must have exactly one kind, got %d", kinds)
	case r.Trained != nil && (r.Trained.Rounds < 0 || r.Trained.Rounds > math.MaxInt32):
		return fmt.Errorf("rounds must be from 0 to %d, got %d", math.MaxInt32, r.Trained.Rounds)
	case len(r.ID()) > mostID:
		return fmt.Errorf("an ID must have at most %d bytes", mostID)
	case r.Decision != nil:
		return r.Decision.validate()
	case r.Arms != nil:
		return r.Arms.validate()
	case r.Features != nil:
		return r.Features.validate()
	}
	return nil
}

func (d *Decision) validate() error {
	if d.Action < 0 || d.Action >= len(d.Probabilities) {
		return fmt.Errorf("the action must be one of %d, got %d", len(d.Probabilities), d.Action)
	}
	for i, x := range d.Actions {
		if len(x) != len(d.Actions[0]) {
			return fmt.Errorf("all actions must have the same number of numbers, got %d and, at index %d, %d", len(d.Actions[0]), i,
				len(x))
		}
	}
	for _, arm := range d.Arms {
		if arm < 0 || arm > mostNumbers {
			return fmt.Errorf("arms must be from 0 to %d, got %d", mostNumbers, arm)
		}
	}
	return nil
}

// writer appends the fields of a record.
type writer struct{ out []byte }

func (w *writer) count(n int) { w.out = binary.AppendUvarint(w.out, uint64(n)) }

func (w *writer) text(s string) {
	w.count(len(s))
	w.out = append(w.out, s...)
}

func (w *writer) number(x float32) {
	w.out = binary.LittleEndian.AppendUint32(w.out, math.Float32bits(x))
}

func (w *writer) numbers(x []float32) {
	w.count(len(x))
	for _, v := range x {
		w.number(v)
	}
}

func (w *writer) decision(d *Decision) {
	w.text(d.ID)
	w.numbers(d.Context)
	w.count(len(d.Actions))
	if len(d.Actions) > 0 {
		w.numbers(slices.Concat(d.Actions...))
	}
	w.counts(d.Arms)
	w.count(d.Action)
	w.numbers(d.Probabilities)
	w.numbers(d.Input)
}

// Decode decodes what Encode wrote. The error wraps ErrDamaged, or names an unknown version. Decode allocates no more
// memory than the bytes of the record justify.
func Decode(data []byte) (r Record, err error) {
	if len(data) < 6 || len(data) > MaxBytes+4 {
		return r, fmt.Errorf("%w: a record of %d bytes", ErrDamaged, len(data))
	}
	if data[0] < version || data[0] > lastVersion {
		return r, fmt.Errorf("the record has version %d, and this program reads versions %d to %d", data[0], version,
			lastVersion)
	}
	body, sum := data[:len(data)-4], binary.LittleEndian.Uint32(data[len(data)-4:])
	if crc32.Checksum(body, castagnoli) != sum {
		return r, fmt.Errorf("%w: the checksum is wrong", ErrDamaged)
	}
	in := &reader{left: body[2:]}
	r.Time = in.varint()
	if body[0] != versionOf(body[1]) {
		in.fail(fmt.Sprintf("kind %d of version %d", body[1], body[0]))
	}
	switch body[1] {
	case aDecision, aDeferred:
		r.Decision = in.decision()
		r.Decision.Deferred = body[1] == aDeferred
	case aFeedback, aKept:
		r.Feedback = &Feedback{ID: in.text(), Reward: in.number(), Weight: in.number(), Kept: body[1] == aKept}
	case aDatum:
		r.Datum = &Datum{Input: in.numbers(), Response: in.number()}
	case aTrained:
		r.Trained = &Trained{Rounds: in.count(math.MaxInt32)}
	case aShown:
		r.Shown = &Shown{ID: in.text()}
	case aSettled:
		r.Settled = in.settled()
	case aChangeOfArms:
		r.Arms = in.arms()
	case aChangeOfFeatures:
		r.Features = in.features()
	default:
		in.fail(fmt.Sprintf("kind %d", body[1]))
	}
	if in.err == nil && len(in.left) > 0 {
		in.fail("there are bytes after its end")
	}
	if in.err == nil {
		if err := r.validate(); err != nil {
			in.fail(err.Error())
		}
	}
	if in.err != nil {
		return Record{}, in.err
	}
	return r, nil
}

// reader reads the fields of a record, and keeps the first error.
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

// count reads an integer of at most most.
func (r *reader) count(most int) int {
	v, n := binary.Uvarint(r.left)
	if n <= 0 || v > uint64(most) {
		r.fail("a number is cut off, or too large")
		return 0
	}
	r.left = r.left[n:]
	return int(v)
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

func (r *reader) text() string { return r.textOf(mostID) }

// textOf reads a text of at most most bytes.
func (r *reader) textOf(most int) string {
	n := r.count(most)
	if n > len(r.left) {
		r.fail("a text is cut off")
		return ""
	}
	out := string(r.left[:n])
	r.left = r.left[n:]
	return out
}

func (r *reader) number() float32 {
	if len(r.left) < 4 {
		r.fail("a number is cut off")
		return 0
	}
	v := math.Float32frombits(binary.LittleEndian.Uint32(r.left))
	r.left = r.left[4:]
	return v
}

// numbers returns nil for an empty list.
func (r *reader) numbers() []float32 {
	n := r.count(mostNumbers)
	if 4*n > len(r.left) {
		r.fail("numbers are cut off")
	}
	if n == 0 || r.err != nil {
		return nil
	}
	out := make([]float32, n)
	for i := range out {
		out[i] = r.number()
	}
	return out
}

func (r *reader) decision() *Decision {
	d := &Decision{ID: r.text(), Context: r.numbers()}
	if n := r.count(mostNumbers); n > 0 {
		flat := r.numbers()
		if r.err == nil && (len(flat) == 0 || len(flat)%n != 0) {
			r.fail(fmt.Sprintf("%d numbers of %d actions", len(flat), n))
		}
		if r.err == nil {
			d.Actions = slices.Collect(slices.Chunk(flat, len(flat)/n))
		}
	}
	d.Arms, d.Action = r.counts(), r.count(mostNumbers)
	d.Probabilities, d.Input = r.numbers(), r.numbers()
	return d
}
