package agent

import (
	"cmp"
	"errors"
	"fmt"
	"runtime/debug"
	"sync"
	"time"

	"github.com/hypermodels/hypermodels/hyper/agent/journal"
	"github.com/hypermodels/hypermodels/hyper/internal/faults"
)

// Background is a learner that trains while the agent acts and observes. Observe then only adds data, and returns
// sooner.
type Background struct {
	// CPU is the fraction of time, in (0, 1], that the learner may train; it rests for the remaining time. 0 means 0.5.
	CPU float64
	// Rounds is the number of rounds of SGD steps for each datum; 0 means 1. After them the learner waits for new data.
	Rounds int
}

func (b *Background) withDefaults() *Background {
	if b == nil {
		return nil
	}
	return &Background{CPU: cmp.Or(b.CPU, 0.5), Rounds: cmp.Or(b.Rounds, 1)}
}

func (b *Background) validate() error {
	if b == nil {
		return nil
	}
	err := faults.AtLeast("Rounds", b.Rounds, 1)
	if !(b.CPU > 0 && b.CPU <= 1) {
		err = errors.Join(fmt.Errorf("CPU must be in (0, 1], got %v", b.CPU), err)
	}
	return faults.Prefix("Background.", err)
}

// background is the goroutine of a Background.
type background struct {
	more chan struct{} // buffered, 1: signals that data came
	stop chan struct{}
	done chan struct{}

	mu  sync.Mutex
	err error // the error of the last round
}

func newBackground() *background {
	return &background{more: make(chan struct{}, 1), stop: make(chan struct{}), done: make(chan struct{})}
}

// start starts the background learner, if the configuration has one, and the settler of decisions.
func (a *Agent) start() {
	a.startSettler()
	if a.config.Background == nil {
		return
	}
	b, share := newBackground(), a.config.Background.CPU
	a.background = b
	go func() {
		defer close(b.done)
		for b.wait(b.more) {
			for a.behind() {
				begun := time.Now()
				if b.set(a.trainRound()); b.last() != nil {
					break // until more data come
				}
				spent := time.Since(begun)
				if !b.rest(time.Duration(float64(spent) * (1/share - 1))) {
					return
				}
			}
		}
	}()
}

// behind reports whether there are rounds left to make.
func (a *Agent) behind() bool {
	a.reading.Lock()
	defer a.reading.Unlock()
	return a.now.rounds < a.now.data.Seen*a.config.Background.Rounds
}

// trainRound makes one round. It turns a panic into an error, because a panic would end the program.
func (a *Agent) trainRound() (err error) {
	defer recovered(&err)
	return waited(a.learn(record(journal.Record{Trained: &journal.Trained{Rounds: 1}}), a.trained))
}

// recovered turns a panic into an error.
func recovered(err *error) {
	if p := recover(); p != nil {
		*err = fmt.Errorf("the background learner panicked: %v\n%s", p, debug.Stack())
	}
}

// wake signals to the learner that data came.
func (b *background) wake() {
	if b == nil {
		return
	}
	select {
	case b.more <- struct{}{}:
	default:
	}
}

// wait returns true when c receives, and false when the learner must stop.
func (b *background) wait(c <-chan struct{}) bool {
	select {
	case <-b.stop:
		return false
	case <-c:
		return true
	}
}

// rest waits for d. It returns false when the learner must stop.
func (b *background) rest(d time.Duration) bool {
	select {
	case <-b.stop:
		return false
	case <-time.After(d):
		return true
	}
}

func (b *background) set(err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.err = err
}

func (b *background) last() error {
	if b == nil {
		return nil
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.err
}

// LearnerError returns the error of the background learner's last round, joined with the error of the last decision
// that was settled by time, or nil. The error says that training diverges on the data (see ErrNotFinite), or that the
// learner panicked. The agent keeps acting with the state from before the error, and tries again: the learner when new
// data come, the settler one second later.
func (a *Agent) LearnerError() error { return errors.Join(a.background.last(), a.settler.last()) }
