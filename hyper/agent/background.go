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

// Background is a learner that trains while the agent acts and observes: Observe adds data alone, and returns sooner.
type Background struct {
	// CPU is the share of the time, in (0, 1], that the learner may train; 0 is 0.5. In between it rests.
	CPU float64
	// Rounds is how many rounds of SGD steps it makes for each datum; 0 is 1. When it has made them it waits.
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
	more chan struct{} // has a place: data came
	stop chan struct{}
	done chan struct{}

	mu  sync.Mutex
	err error // of the last round
}

func newBackground() *background {
	return &background{more: make(chan struct{}, 1), stop: make(chan struct{}), done: make(chan struct{})}
}

// start starts the learner where the configuration has one, and what settles decisions.
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
				if b.set(a.round1()); b.last() != nil {
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

// behind tells whether there are rounds to make.
func (a *Agent) behind() bool {
	a.reading.Lock()
	defer a.reading.Unlock()
	return a.now.rounds < a.now.data.Seen*a.config.Background.Rounds
}

// round1 makes a round. A panic is an error: it must not take the program down.
func (a *Agent) round1() (err error) {
	defer recovered(&err)
	return waited(a.learn(record(journal.Record{Trained: &journal.Trained{Rounds: 1}}), a.trained))
}

// recovered makes an error of a panic.
func recovered(err *error) {
	if p := recover(); p != nil {
		*err = fmt.Errorf("the background learner panicked: %v\n%s", p, debug.Stack())
	}
}

// wake tells the learner that data came.
func (b *background) wake() {
	if b == nil {
		return
	}
	select {
	case b.more <- struct{}{}:
	default:
	}
}

// wait returns true when something comes, and false when the learner is to stop.
func (b *background) wait(c <-chan struct{}) bool {
	select {
	case <-b.stop:
		return false
	case <-c:
		return true
	}
}

// rest waits, and returns false when the learner is to stop.
func (b *background) rest(d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-b.stop:
		return false
	case <-t.C:
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

// LearnerError returns the error of the background learner's last round, or of the last decision that was settled by
// time, or nil: training diverges on the data, see ErrNotFinite, or the learner panicked. The agent acts on as it was
// before, and tries again: the learner when data come, and to settle the decision a second later.
func (a *Agent) LearnerError() error { return errors.Join(a.background.last(), a.settler.last()) }
