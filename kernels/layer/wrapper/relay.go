package wrapper

import (
	"encoding/gob"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/janpfeifer/gonb/gonbui/protocol"

	"github.com/hypermodels/hypermodels/kernels/internal/posix"
)

// relay connects a cell's program to GoNB's pipes, which programs use to display data and to communicate with widgets.
// When GoNB 0.11.4 sees that a program has ended, it closes the pipes without reading the rest, so that a picture at
// the end is sometimes lost. With a relay GoNB sees the end of the wrapper, and the wrapper ends after GoNB has
// acknowledged everything.
type relay struct {
	env   []string // environment of the program
	dir   string   // folder of the program's pipes
	hold  *os.File // keeps the pipe of displays open until the program has ended
	in    *os.File // data that the program displays
	back  *os.File // data for the program
	done  chan struct{}
	acked chan struct{}
}

// lastSync is the number of the relay's own synchronisation request to GoNB. Programs count theirs from 0.
const lastSync = -1

// syncLimit is the maximum time between the program's end and GoNB's last acknowledgement.
const syncLimit = 10 * time.Second

func init() { // as in GoNB
	gob.Register(map[string]any{})
	gob.Register([]any{})
}

// startRelay makes the program's pipes. It returns nil if there are no pipes of GoNB.
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
		func() error { return posix.MakePipe(out) },
		func() error { return posix.MakePipe(back) },
		// Opening for both reading and writing does not wait for another process.
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
			fmt.Fprintln(os.Stderr, "further displays of the cell are lost:", err)
		}
	}()
	return r, nil
}

// forward passes on the data that the program displays, until the program has ended and GoNB has received everything.
func (r *relay) forward(gonb [2]string) error {
	from := gob.NewDecoder(r.in)
	var to *gob.Encoder
	for {
		var d protocol.DisplayData
		if from.Decode(&d) != nil {
			break // The end, or data that GoNB could not decode either.
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

// backward passes on GoNB's data for the program. After the program's end the data are discarded.
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

// finish waits until GoNB has received all that the program has displayed. It is called after the program's end, or at
// the end of the cell if the program stays.
func (r *relay) finish(stays bool) {
	r.hold.Close()
	if stays { // The program keeps its end of the pipe open; it has waited until GoNB received everything.
		_ = r.in.SetReadDeadline(time.Now())
	}
	r.back.Close()
	select {
	case <-r.done:
	case <-time.After(syncLimit):
		fmt.Fprintf(os.Stderr, "GoNB has not received all displays of the cell within %v\n", syncLimit)
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
