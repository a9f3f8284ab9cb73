package layer

import (
	"encoding/gob"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/janpfeifer/gonb/gonbui/protocol"
)

// relay stands between a cell's program and GoNB's pipes, by which the program displays things and speaks to widgets.
// GoNB 0.11.4 closes the pipes when it sees that the program has ended, with whatever it has not read by then: a
// picture that a program shows last is lost now and then. Behind the relay GoNB sees the end of the wrapper, and the
// wrapper ends when GoNB has acknowledged everything.
type relay struct {
	env   []string // the program's
	dir   string   // of the program's pipes
	hold  *os.File // keeps the pipe of displays open until the program has ended
	in    *os.File // what the program displays
	back  *os.File // what the program hears
	done  chan struct{}
	acked chan struct{}
}

// lastSync is the number of the relay's own question to GoNB; programs count theirs from 0.
const lastSync = -1

// syncLimit is how long GoNB may take to acknowledge everything after the program's end.
const syncLimit = 10 * time.Second

func init() { // as GoNB does
	gob.Register(map[string]any{})
	gob.Register([]any{})
}

// startRelay makes the program's pipes. Without pipes of GoNB there is no relay.
func startRelay() (*relay, error) {
	gonb := [2]string{os.Getenv(protocol.GONB_PIPE_ENV), os.Getenv(protocol.GONB_PIPE_BACK_ENV)}
	if gonb[0] == "" || gonb[1] == "" {
		return nil, nil
	}
	dir, err := os.MkdirTemp("", "pipes-")
	if err != nil {
		return nil, err
	}
	r := &relay{dir: dir, done: make(chan struct{}), acked: make(chan struct{})}
	out, back := filepath.Join(dir, "out"), filepath.Join(dir, "back")
	r.env = append(os.Environ(), protocol.GONB_PIPE_ENV+"="+out, protocol.GONB_PIPE_BACK_ENV+"="+back)
	for _, open := range []func() error{
		func() error { return makePipe(out) },
		func() error { return makePipe(back) },
		// One who reads and writes need not wait for another to open the pipe.
		func() (err error) { r.hold, err = os.OpenFile(out, os.O_RDWR, 0); return err },
		func() (err error) { r.in, err = os.OpenFile(out, os.O_RDONLY, 0); return err },
		func() (err error) { r.back, err = os.OpenFile(back, os.O_RDWR, 0); return err },
	} {
		if err := open(); err != nil {
			r.close()
			return nil, err
		}
	}
	go func() {
		defer close(r.done)
		if err := r.forward(gonb); err != nil {
			fmt.Fprintln(os.Stderr, "what the cell displays is lost from here on:", err)
		}
	}()
	return r, nil
}

// forward hands on what the program displays, until the program has ended and GoNB has it all.
func (r *relay) forward(gonb [2]string) error {
	from := gob.NewDecoder(r.in)
	var to *gob.Encoder
	for {
		var d protocol.DisplayData
		if from.Decode(&d) != nil {
			break // The end, or what GoNB would not understand either.
		}
		if to == nil {
			w, err := os.OpenFile(gonb[0], os.O_WRONLY, 0)
			if err != nil {
				return err
			}
			defer w.Close()
			b, err := os.OpenFile(gonb[1], os.O_RDONLY, 0)
			if err != nil {
				return err
			}
			defer b.Close()
			to = gob.NewEncoder(w)
			go r.backward(b)
		}
		if err := to.Encode(&d); err != nil {
			return err
		}
	}
	if to == nil {
		return nil
	}
	sync := protocol.CommValue{Address: protocol.GonbuiSyncAddress, Value: lastSync}
	if err := to.Encode(&protocol.DisplayData{Data: map[protocol.MIMEType]any{protocol.MIMECommValue: sync}}); err != nil {
		return err
	}
	<-r.acked
	return nil
}

// backward hands on what GoNB tells the program. A program that has ended hears nothing.
func (r *relay) backward(b *os.File) {
	defer close(r.acked)
	from, to := gob.NewDecoder(b), gob.NewEncoder(r.back)
	for {
		var v protocol.CommValue
		if from.Decode(&v) != nil || v.Address == protocol.GonbuiSyncAckAddress && v.Value == lastSync {
			return
		}
		_ = to.Encode(&v)
	}
}

// finish waits, after the program's end, or when the program stays and its cell ends, until GoNB has all that the
// program has displayed.
func (r *relay) finish(stays bool) {
	r.hold.Close()
	if stays { // It keeps its end of the pipe open, and has waited until GoNB had all.
		_ = r.in.SetReadDeadline(time.Now())
	}
	r.back.Close()
	select {
	case <-r.done:
	case <-time.After(syncLimit):
		fmt.Fprintf(os.Stderr, "GoNB has not taken what the cell displays within %v\n", syncLimit)
	}
	r.close()
}

func (r *relay) close() {
	for _, f := range []*os.File{r.hold, r.in, r.back} {
		if f != nil {
			f.Close()
		}
	}
	os.RemoveAll(r.dir)
}
