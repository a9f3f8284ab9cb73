package wrapper

import (
	"encoding/gob"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/janpfeifer/gonb/gonbui/protocol"
	"github.com/janpfeifer/must"

	"github.com/hypermodels/hypermodels/kernels/internal/posix"
)

// A program shows three pictures, sends GoNB a question, and ends. GoNB reads later, and slowly. The relay ends when
// GoNB has received everything.
func TestRelay(t *testing.T) {
	dir := t.TempDir()
	pipe, back := filepath.Join(dir, "pipe"), filepath.Join(dir, "back")
	must.M(posix.MakePipe(pipe))
	must.M(posix.MakePipe(back))
	t.Setenv(protocol.GONB_PIPE_ENV, pipe)
	t.Setenv(protocol.GONB_PIPE_BACK_ENV, back)
	r := must.M1(startRelay())

	shown := make(chan int, 1)
	go func() { // GoNB
		in := must.M1(os.Open(pipe))
		defer in.Close()
		out := must.M1(os.OpenFile(back, os.O_WRONLY, 0))
		defer out.Close()
		from, to := gob.NewDecoder(in), gob.NewEncoder(out)
		for n := 0; ; {
			var d protocol.DisplayData
			if from.Decode(&d) != nil {
				shown <- n
				return
			}
			if v, ok := d.Data[protocol.MIMECommValue].(protocol.CommValue); ok {
				must.M(to.Encode(protocol.CommValue{Address: protocol.GonbuiSyncAckAddress, Value: v.Value}))
				continue
			}
			time.Sleep(100 * time.Millisecond)
			n++
		}
	}()

	program := func() { // of a cell
		out := must.M1(os.OpenFile(filepath.Join(r.dir, "out"), os.O_WRONLY, 0))
		defer out.Close()
		in := must.M1(os.Open(filepath.Join(r.dir, "back")))
		defer in.Close()
		to := gob.NewEncoder(out)
		ask := protocol.CommValue{Address: protocol.GonbuiSyncAddress, Value: 0}
		must.M(to.Encode(&protocol.DisplayData{Data: map[protocol.MIMEType]any{protocol.MIMECommValue: &ask}}))
		var heard protocol.CommValue
		must.M(gob.NewDecoder(in).Decode(&heard))
		if heard.Address != protocol.GonbuiSyncAckAddress || heard.Value != 0 {
			t.Errorf("the program got %+v, want an acknowledgement", heard)
		}
		for range 3 {
			must.M(to.Encode(&protocol.DisplayData{Data: map[protocol.MIMEType]any{protocol.MIMEImagePNG: make([]byte, 1000)}}))
		}
	}
	program()
	r.finish(false)
	if n := <-shown; n != 3 {
		t.Errorf("got %d of 3 pictures", n)
	}
	if _, err := os.Stat(r.dir); !os.IsNotExist(err) {
		t.Errorf("the program's pipes still exist: %v", err)
	}
}

// The relay waits neither for a program that displays nothing nor for GoNB.
func TestRelayOfNothing(t *testing.T) {
	t.Setenv(protocol.GONB_PIPE_ENV, filepath.Join(t.TempDir(), "pipe"))
	t.Setenv(protocol.GONB_PIPE_BACK_ENV, filepath.Join(t.TempDir(), "back"))
	began := time.Now()
	must.M1(startRelay()).finish(false)
	if d := time.Since(began); d > time.Second {
		t.Errorf("the relay took %v, want at most 1 s", d)
	}
	t.Setenv(protocol.GONB_PIPE_ENV, "")
	if r := must.M1(startRelay()); r != nil {
		t.Error("relay without GoNB: got one, want none")
	}
}
