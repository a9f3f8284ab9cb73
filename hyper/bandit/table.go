package bandit

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"

	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/compute/shapes"
	"github.com/hypermodels/hypermodels/hyper"
	"github.com/hypermodels/hypermodels/hyper/bandit/sheet"
	"github.com/hypermodels/hypermodels/hyper/internal/faults"
	"github.com/hypermodels/hypermodels/hyper/internal/nearest"
	"github.com/hypermodels/hypermodels/hyper/rng"
)

// Table is a contextual bandit on the rows of a table: classification, told only whether a guess was right. In each
// period there is a row. Its columns but the target are the context: numbers, and a 0 or 1 for each value of a column
// of something else. The actions are the values of the target, in their order; the row's own has mean reward 1, the
// others 0. So without noise the regret is the number of wrong guesses.
//
// The table is a constant of the compiled program, which all runs share: at most 2 million numbers. On XLA for CPUs a
// table of 0.5 million adds a second to compiling, one of 2 million 2.6 s; on the Go backend 0.03 s and 0.1 s. With
// Order Shuffled each run carries an int32 for each row of the table, 4 MB for a million rows.
type Table struct {
	Data   string `help:"data set that comes along: digits, phishing, segment or shuttle; without one it is a file"`
	File   string `help:"CSV or Parquet file with a header, of at most 256 MB"`
	Target string `help:"column whose values are the actions, at most 50; without one it is the last column"`

	Order string `help:"drawn: any row each period; shuffled: each row once, then all in another order, each run's own"`
	// Standardize says what numbers of the context are; the 0 and 1 of other columns stay what they are.
	Standardize string `help:"numbers less mean, over deviation: of the file, or online, of the rows seen so far; or none"`

	Intercept bool `help:"append a column of ones to the context: linear models have no offset of their own"`

	Noise float64 `run:"true" help:"standard deviation of the rewards' noise"`

	read *table // of what it says
}

var _ FromFile = &Table{}

// Words for Table.Order.
const (
	Drawn    = "drawn"    // all rows are as likely in each period; so is the empty word
	Shuffled = "shuffled" // each row comes once, in an order that each run draws; then all come in a new order
)

// Words for Table.Standardize.
const (
	ByFile = "file"   // by mean and standard deviation over the file; so is the empty word
	Online = "online" // over the rows that a run has seen, this one included, and clipped to [-5, 5]
	Raw    = "none"   // as they are in the file
)

// NewTable returns a table that is to be told its Data or its File: with all rows as likely in each period, and
// numbers by their mean and standard deviation over the file.
func NewTable() *Table { return &Table{Order: Drawn, Standardize: ByFile} }

// table is what a file has.
type table struct {
	data, file, target string // as the world says them
	raw                bool
	sum                string          // SHA-256 of the file's contents, in hex
	context            *tensors.Tensor // [rows, width]
	number             []bool          // whether a column of the context is one of numbers
	class              *tensors.Tensor // of each row, int32 [rows, 1]
	classes            int
}

func (t *table) rows() int  { return t.context.Shape().Dim(0) }
func (t *table) width() int { return t.context.Shape().Dim(1) }

// Validate reads the table, unless it has, and reports what is wrong with it by line and column.
func (b *Table) Validate() error {
	errs := []error{faults.NotNegative("noise", b.Noise),
		oneOf("order", b.Order, Drawn, Shuffled), oneOf("standardize", b.Standardize, ByFile, Online, Raw)}
	raw := b.Standardize == Raw
	if t := b.read; t == nil || t.data != b.Data || t.file != b.File || t.target != b.Target || t.raw != raw {
		t, err := readTable(b.Data, b.File, b.Target, raw)
		b.read = t
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

// oneOf reports a word that is none of those known; none is the first.
func oneOf(key, word string, known ...string) error {
	if word == "" || slices.Contains(known, word) {
		return nil
	}
	return fmt.Errorf("%s: unknown %q%s; choose one of %s", key, word, nearest.Hint(word, known),
		strings.Join(known, ", "))
}

// load returns the table, which Validate has read unless nobody asked it to.
func (b *Table) load() *table {
	if err := b.Validate(); err != nil {
		panic(fmt.Errorf("bandit.Table: %w", err))
	}
	return b.read
}

// Source is the file, or the data set, as it was when it was read.
func (b *Table) Source() (file, sha256 string) { return b.Data + b.File, b.load().sum }

// Problem has an action for each class, which sees the context in a block of its own.
func (b *Table) Problem() Problem {
	t := b.load()
	width := t.width()
	if b.Intercept {
		width++
	}
	return Problem{Actions: t.classes, Features: t.classes * width, Blocks: t.classes, Moves: true}
}

// Init has nothing to draw. The state is the class of the period's row, int32 [runs]; with Shuffled the order in which
// rows come, and with Online what is known of the columns.
func (b *Table) Init(s rng.Stream, _ hyper.Numbers) State {
	t, state := b.load(), State{"class": Zeros(s.Graph(), shapes.Make(dtypes.Int32, s.Runs()))}
	if b.Order == Shuffled {
		state[orderOfRows] = inOrder(s, t.rows())
	}
	if b.Standardize == Online {
		state[meanSeen], state[varianceSeen] = nothingSeen(s, t.width()), nothingSeen(s, t.width())
	}
	return state
}

// Names in the state of a Table.
const (
	orderOfRows  = "order"    // int32 [runs, rows]
	meanSeen     = "mean"     // of each column over the rows that came, [runs, width]
	varianceSeen = "variance" // [runs, width]
)

// Offer offers all classes for a row.
func (b *Table) Offer(state State, _ hyper.Numbers, s rng.Stream, period *Node) (Offer, State) {
	t, g, next := b.load(), s.Graph(), State{}
	row, stream := (*Node)(nil), s.Named("row")
	if b.Order == Shuffled {
		row, next[orderOfRows] = shuffled(state[orderOfRows], stream, period)
	} else {
		row = stream.Intn(Const(g, int32(t.rows())), 1)
	}
	next["class"] = Squeeze(Gather(ConstTensor(g, t.class), row), 1)
	x := Gather(ConstTensor(g, t.context), row)
	if b.Standardize == Online {
		x, next[meanSeen], next[varianceSeen] = online(x, t.number, state[meanSeen], state[varianceSeen], period)
	}
	if b.Intercept {
		x = Concatenate([]*Node{x, Ones(g, shapes.Make(dtypes.Float32, s.Runs(), 1))}, 1)
	}
	return Offer{Context: x}, next
}

// Step returns 1 for the row's class and 0 for another, and noise.
func (b *Table) Step(state State, n hyper.Numbers, s rng.Stream, _, x *Node) (Outcome, State) {
	means := OneHot(state["class"], b.load().classes, dtypes.Float32)
	return reply(s, means, x, n.Of(s, "Noise", b.Noise)), state
}

// readTable reads a data set or a file, and reports everything that is wrong with it.
func readTable(data, file, target string, raw bool) (*table, error) {
	s, err := readSheet(data, file)
	if err != nil {
		return nil, err
	}
	at := len(s.Header) - 1
	if target != "" {
		if at = slices.Index(s.Header, target); at < 0 {
			hint := nearest.Hint(target, s.Header)
			return nil, fmt.Errorf("target: %s has no column %q%s; choose one of %s", s.Name, target, hint,
				strings.Join(s.Header, ", "))
		}
	}
	context, err := contextOf(s, at, raw)
	classes := distinct(s.Rows, at)
	if n := len(classes); n < 2 || n > mostValues {
		many := "one value alone"
		if n > 1 {
			many = fmt.Sprintf("more than %d different values", mostValues)
		}
		err = errors.Join(err, fmt.Errorf("%s: the target, column %d (%q), has %s, where 2 to %d can be actions: "+
			"choose another target, or put its values into classes", s.Name, at+1, s.Header[at], many, mostValues))
	}
	if err != nil {
		return nil, err
	}
	t := &table{data: data, file: file, target: target, raw: raw, sum: s.Sum, number: context.number,
		classes: len(classes)}
	flat, class := make([]float32, 0, len(s.Rows)*len(context.values)), make([]int32, len(s.Rows))
	for r, row := range s.Rows {
		for _, c := range context.values {
			flat = append(flat, c[r])
		}
		class[r] = int32(slices.Index(classes, row[at]))
	}
	t.context = tensors.FromFlatDataAndDimensions(flat, len(s.Rows), len(context.values))
	t.class = tensors.FromFlatDataAndDimensions(class, len(s.Rows), 1)
	return t, nil
}

func readSheet(data, file string) (*sheet.Sheet, error) {
	switch {
	case data == "":
		return sheet.Read(file)
	case file != "":
		return nil, fmt.Errorf("data %s and file %s exclude each other: name one of them", data, file)
	}
	return sheet.Set(data)
}
