package sweep

import (
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"time"

	"gonum.org/v1/gonum/stat"

	"github.com/hypermodels/hypermodels/hyper/lab"
)

// State is the state of a shard.
type State string

// The states of a shard.
const (
	Waiting     State = "waiting"     // never started
	started     State = "started"     // reported by its worker: the shard is running, or the worker was killed
	Running     State = "running"     // its worker is alive
	Interrupted State = "interrupted" // the worker saved; the shard can continue
	Killed      State = "killed"      // the worker ended without a report; the shard can continue from the last save
	Failed      State = "failed"
	Damaged     State = "damaged" // the result file differs from what the worker wrote; the shard will run again
	Done        State = "done"
)

// Status is the state of a shard with its progress.
type Status struct {
	Shard  int     `json:"shard"`
	State  State   `json:"state"`
	Starts int     `json:"starts"`
	Done   int64   `json:"done"`  // run-periods
	Total  int64   `json:"total"` // run-periods
	Host   string  `json:"host,omitempty"`
	PID    int     `json:"pid,omitempty"` // process that last ran the shard
	Job    string  `json:"job,omitempty"`
	Error  string  `json:"error,omitempty"`
	Rate   float64 `json:"rate"` // run-periods per second of its worker
}

// States returns the status of every shard.
func (p Plan) States(dir string) ([]Status, error) {
	out := make([]Status, len(p.Shards))
	var err error
	for n := range p.Shards {
		if out[n], err = p.state(dir, n); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// state reads the status of a shard from its folder. It checks the rows of a finished shard against their checksum.
func (p Plan) state(dir string, n int) (Status, error) {
	path := ShardDir(dir, n)
	s := Status{Shard: n, State: Waiting, Total: p.runPeriods(n)}
	happened, err := events(path)
	if err != nil || len(happened) == 0 {
		return s, err
	}
	for _, e := range happened {
		if e.What == started {
			s.Starts++
		}
	}
	last := happened[len(happened)-1]
	s.Host, s.PID, s.Job, s.Error = last.Host, last.PID, last.Job, last.Error
	b, age := readHeartbeat(path)
	s.Done = b.Done
	if b.Seconds > 0 {
		s.Rate = float64(b.Computed) / b.Seconds
	}
	switch s.State = last.What; last.What {
	case Done:
		s.Done = s.Total
		if sum, err := checksum(path); err != nil || sum != last.SHA256 {
			s.State, s.Done, s.Error = Damaged, 0, lab.ResultsFile+" differs from the file that its worker wrote"
		} else if last.Seconds > 0 {
			s.Rate = float64(s.Total) / last.Seconds
		}
	case Interrupted, Failed:
	default:
		if s.State = Killed; alive(last, age) {
			s.State = Running
		}
	}
	return s, nil
}

// alive reports whether the process that started a shard is alive. On this machine it looks for the process, on another
// it uses the heartbeat.
func alive(e event, age time.Duration) bool {
	if host, err := os.Hostname(); err == nil && host == e.Host {
		process, err := os.FindProcess(e.PID)
		if err == nil {
			err = process.Signal(syscall.Signal(0)) // signal 0 only tests whether the process exists
		}
		return err == nil || errors.Is(err, os.ErrPermission)
	}
	return min(age, time.Since(e.Time)) < silence
}

// readHeartbeat returns a shard's last heartbeat and its age. Without a heartbeat the age is very large.
func readHeartbeat(path string) (b heartbeat, age time.Duration) {
	file := filepath.Join(path, heartbeatFile)
	info, err := os.Stat(file)
	text, err2 := os.ReadFile(file)
	if err != nil || err2 != nil || json.Unmarshal(text, &b) != nil {
		return b, 1 << 62
	}
	return b, time.Since(info.ModTime())
}

func checksum(path string) (string, error) {
	text, err := os.ReadFile(filepath.Join(path, lab.ResultsFile))
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("%x", sha256.Sum256(text)), nil
}

// AllStates lists the states of a shard, in the order in which they are reported.
var AllStates = []State{Done, Running, Interrupted, Killed, Failed, Damaged, Waiting}

// Summary describes the state of a sweep.
type Summary struct {
	Shards      map[State][]int
	Done, Total int64         // run-periods
	Rate        float64       // run-periods per second: of all running shards, or of an average worker if none runs
	Left        time.Duration // remaining time at this rate; 0 if it is not known
	Again       []int         // shards that ended early and that no worker is running
}

// Summarize adds up the status of a sweep's shards.
func Summarize(states []Status) Summary {
	sum := Summary{Shards: map[State][]int{}}
	var rates []float64
	for _, s := range states {
		sum.Shards[s.State] = append(sum.Shards[s.State], s.Shard)
		sum.Done += s.Done
		sum.Total += s.Total
		if s.Rate > 0 {
			rates = append(rates, s.Rate)
		}
		if slices.Contains([]State{Interrupted, Killed, Failed, Damaged}, s.State) {
			sum.Again = append(sum.Again, s.Shard)
		}
	}
	if len(rates) > 0 {
		sum.Rate = stat.Mean(rates, nil) * float64(max(1, len(sum.Shards[Running])))
		sum.Left = time.Duration(float64(sum.Total-sum.Done) / sum.Rate * float64(time.Second))
	}
	return sum
}
