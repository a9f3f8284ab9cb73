package bandit

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"time"
	"weak"

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

// Table is a contextual bandit on the rows of a table: classification in which the agent learns only whether its guess
// was right. Each period has a row. All columns except the target make the context: a column of numbers as it is or
// standardised, any other column as a 0 or 1 for each of its values. The actions are the values of the target, in their
// order. The action that is the row's own value has mean reward 1, all others have 0. Without noise, the cumulative
// regret is the number of wrong guesses.
//
// The library has no belief that maps a context to one logit for each class. Trained on whether its guesses were right,
// such a network guesses worse here than a network with one output, whose input has the context in the action's own
// block. In 800 periods ensembles of 5 networks with 50 hidden units guessed wrong 306 [284, 329] times with logits
// and 165 [146, 186] with blocks on digits, and 213 [190, 238] and 140 [125, 157] times on segment (8 runs each).
//
// The table is a constant of the compiled program, which all runs share. It has at most 2 million numbers. On XLA for
// CPUs a table of 0.5 million numbers adds 1 s to compiling, and a table of 2 million 2.6 s; on the Go backend 0.03 s
// and 0.1 s. With Order Shuffled each run carries an int32 for each row of the table: 4 MB for a million rows.
type Table struct {
	Data   string `help:"built-in data set: digits, phishing, segment or shuttle; empty to use a file"`
	File   string `help:"CSV or Parquet file with a header, of at most 256 MB"`
	Target string `help:"column with the actions, at most 50 values; empty for the last column"`

	Order string `help:"drawn: a random row each period; shuffled: each row once per pass, each pass in a new order"`
	// Standardize selects how numbers of the context are scaled. The 0 and 1 of other columns are not scaled.
	Standardize string `help:"scale numbers by mean and deviation: file (of all rows), online (of rows so far) or none"`

	Intercept bool `help:"append a column of ones to the context, because linear models have no offset"`

	Noise float64 `run:"true" help:"standard deviation of the rewards' noise"`

	read *table // the table that Validate read for these settings
}

var _ Recalled = &Table{}

// The values of Table.Order.
const (
	Drawn    = "drawn"    // in each period all rows are equally likely; the default
	Shuffled = "shuffled" // each row comes once, in a random order of the run; then all rows come in a new order
)

// The values of Table.Standardize.
const (
	ByFile = "file" // by mean and standard deviation over the file; the default
	// Online is by mean and deviation over the rows of the run so far, including this one; clipped to [-5, 5]. The numbers
	// of the first row are therefore 0.
	Online = "online"
	Raw    = "none" // as in the file
)

// NewTable returns a table without Data or File, one of which must be set. All rows are equally likely in each period,
// and numbers are standardised by their mean and standard deviation over the file.
func NewTable() *Table { return &Table{Order: Drawn, Standardize: ByFile} }

// table is the contents of a file.
type table struct {
	data, file, target string // as in the settings
	raw                bool
	sum                string          // SHA-256 of the file's contents, in hex
	context            *tensors.Tensor // [rows, width]; nil if the table is recalled, see Recalled
	width              int             // number of columns of the context
	number             []bool          // whether a column of the context holds numbers of the table
	summary            string          // see Table.Summary
	doubts             error           // see Table.Doubts
	class              *tensors.Tensor // class of each row, int32 [rows, 1]
	classes            int             // number of classes
}

func (t *table) rows() int { return t.context.Shape().Dim(0) }

// Validate reads the table unless it was already read, and returns all faults, with line and column.
func (b *Table) Validate() error {
	errs := []error{faults.NotNegative("noise", b.Noise),
		oneOf("order", b.Order, Drawn, Shuffled), oneOf("standardize", b.Standardize, ByFile, Online, Raw)}
	raw := b.Standardize == Raw
	if t := b.read; t == nil || t.data != b.Data || t.file != b.File || t.target != b.Target || t.raw != raw {
		t, err := readOnce(b.Data, b.File, b.Target, raw)
		b.read = t
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

// latest is the table that readOnce has read last, as long as a Table uses it.
var latest struct {
	mu    sync.Mutex
	from  source
	table weak.Pointer[table]
}

// source identifies the contents of a table.
type source struct {
	data, file, target string
	raw                bool
	size               int64
	changed            time.Time
}

// readOnce is readTable. The settings of a sweep share one table, unless its file changes.
func readOnce(data, file, target string, raw bool) (*table, error) {
	from := source{data: data, file: file, target: target, raw: raw}
	if info, err := os.Stat(file); err == nil {
		from.size, from.changed = info.Size(), info.ModTime()
	}
	latest.mu.Lock()
	defer latest.mu.Unlock()
	if t := latest.table.Value(); t != nil && latest.from == from {
		return t, nil
	}
	t, err := readTable(data, file, target, raw)
	if err == nil {
		latest.from, latest.table = from, weak.Make(t)
	}
	return t, err
}

// oneOf returns an error if a word is not one of the known words. The empty word is known: it means the first one.
func oneOf(key, word string, known ...string) error {
	if word == "" || slices.Contains(known, word) {
		return nil
	}
	return fmt.Errorf("%s: unknown %q%s; choose one of %s", key, word, nearest.Hint(word, known),
		strings.Join(known, ", "))
}

// load returns the table. It reads the table if Validate was not called before, and panics if the table has faults.
func (b *Table) load() *table {
	if err := b.Validate(); err != nil {
		panic(fmt.Errorf("bandit.Table: %w", err))
	}
	return b.read
}

// Source returns the name of the file or the data set, and the SHA-256 of its contents when it was read.
func (b *Table) Source() (file, sha256 string) { return b.Data + b.File, b.load().sum }

// Shape returns the number of actions and of context numbers of the table. ok is false for a built-in data set: results
// need not record its shape.
func (b *Table) Shape() (s Shape, ok bool) {
	t := b.load()
	return Shape{t.classes, t.width}, b.File != ""
}

// Recall makes the settings valid without the file, from the hash and the shape that results record, so that a program
// can read these results. The error reports an impossible shape.
func (b *Table) Recall(sha256 string, s Shape) error {
	if s.Actions < 2 || s.Actions > mostValues || s.Width < 1 || s.Width > sheet.MostCells {
		return fmt.Errorf("%s cannot have been a table of %d actions and %d columns", b.File, s.Actions, s.Width)
	}
	b.read = &table{data: b.Data, file: b.File, target: b.Target, raw: b.Standardize == Raw, sum: sha256,
		classes: s.Actions, width: s.Width}
	return nil
}

// Forget undoes Recall, so that Validate reads the file. It returns false if Recall was not called.
func (b *Table) Forget() bool {
	if b.read == nil || b.read.context != nil {
		return false
	}
	b.read = nil
	return true
}

// Doubts returns an error about what seems to be a mistake in the table, although it can be read: a cell that is no
// number in a column of numbers, or a first line that is a row.
func (b *Table) Doubts() error { return b.load().doubts }

// Summary describes in one line how the table was read: its rows, its actions, and what each column became.
func (b *Table) Summary() string { return b.load().summary }

// Problem returns one action for each class. Each action has the context in a block of its own.
func (b *Table) Problem() Problem {
	t := b.load()
	width := t.width
	if b.Intercept {
		width++
	}
	return Problem{Actions: t.classes, Features: t.classes * width, Blocks: t.classes, Moves: true}
}

// Init draws nothing. The state has the class of the period's row, int32 [runs]. With Shuffled it also has the order of
// the rows, and with Online the moments of the columns.
func (b *Table) Init(s rng.Stream, _ hyper.Numbers) State {
	t, state := b.load(), State{"class": Zeros(s.Graph(), shapes.Make(dtypes.Int32, s.Runs()))}
	if b.Order == Shuffled {
		state[orderOfRows] = inOrder(s, t.rows())
	}
	if b.Standardize == Online {
		state[meanSeen], state[varianceSeen] = nothingSeen(s, t.width), nothingSeen(s, t.width)
	}
	return state
}

// The names of nodes in the state of a Table.
const (
	orderOfRows  = "order"    // int32 [runs, rows]
	meanSeen     = "mean"     // mean of each column over the rows so far, [runs, width]
	varianceSeen = "variance" // variance of each column over the rows so far, [runs, width]
)

// Offer draws a row, and offers all classes.
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

// Step returns 1 for the row's class and 0 for another class, plus noise.
func (b *Table) Step(state State, n hyper.Numbers, s rng.Stream, _, x *Node) (Outcome, State) {
	means := OneHot(state["class"], b.load().classes, dtypes.Float32)
	return reply(s, means, x, n.Of(s, "Noise", b.Noise)), state
}

// readTable reads a data set or a file, and returns all faults.
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
		err = errors.Join(err, fmt.Errorf("%s: the target, column %d (%q), has %s, but needs 2 to %d values: "+
			"choose another target, or group its values into classes", s.Name, at+1, s.Header[at], many, mostValues))
	}
	if err != nil {
		return nil, err
	}
	t := &table{data: data, file: file, target: target, raw: raw, sum: s.Sum, number: context.number,
		classes: len(classes), width: len(context.values), summary: summaryOf(s, at, classes, context.kinds),
		doubts: sheet.Some(context.doubts)}
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
		return nil, fmt.Errorf("data %s and file %s cannot both be set: set one of them", data, file)
	}
	return sheet.Set(data)
}
