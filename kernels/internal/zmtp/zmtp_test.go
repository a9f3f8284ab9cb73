package zmtp

import (
	"bufio"
	"bytes"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/janpfeifer/must"
)

// endpoints returns an endpoint of each kind.
func endpoints(t *testing.T) []string {
	return []string{"tcp://127.0.0.1:0", "ipc://" + filepath.Join(t.TempDir(), "s")}
}

// at returns the endpoint of a socket that listens.
func at(a net.Addr) string {
	if a.Network() == "unix" {
		return "ipc://" + a.String()
	}
	return "tcp://" + a.String()
}

func router(t *testing.T, endpoint string) *Router {
	r := must.M1(NewRouter(endpoint))
	t.Cleanup(func() { r.Close() })
	return r
}

func pub(t *testing.T, first func([]byte) Message) *Pub {
	p := must.M1(NewPub("tcp://127.0.0.1:0", first))
	t.Cleanup(func() { p.Close() })
	return p
}

// echo returns all messages to a router, and trusts all its peers.
func echo(r *Router) {
	for {
		m, err := r.Receive()
		if err != nil {
			return
		}
		r.Trust(m[0])
		r.Send(m)
	}
}

// raw returns a connection after the handshake, on which the test can send any bytes.
func raw(t *testing.T, to net.Addr, kind string, say ...byte) net.Conn {
	t.Helper()
	c := must.M1(net.Dial(to.Network(), to.String()))
	t.Cleanup(func() { c.Close() })
	must.M1(c.Write(greeting()))
	if kind != "" {
		must.M1(c.Write(commandWire(ready(kind, ""))))
	}
	must.M1(c.Write(say))
	return c
}

// ends waits until the other side has closed a connection.
func ends(t *testing.T, c net.Conn) {
	t.Helper()
	c.SetReadDeadline(time.Now().Add(10 * time.Second))
	if _, err := io.Copy(io.Discard, c); err != nil && strings.Contains(err.Error(), "timeout") {
		t.Error("the connection was not closed")
	}
}

func dealer(t *testing.T, to net.Addr, identity string) *Client {
	t.Helper()
	c := must.M1(Dealer(t.Context(), at(to), identity))
	t.Cleanup(c.Close)
	return c
}

func subscriber(t *testing.T, to net.Addr) *Client {
	t.Helper()
	c := must.M1(Subscriber(t.Context(), at(to)))
	t.Cleanup(c.Close)
	return c
}

// answers checks that an echo works.
func answers(t *testing.T, c *Client, m Message) {
	t.Helper()
	must.M(c.Send(m))
	got := make(chan Message, 1)
	go func() { m, _ := c.Receive(); got <- m }()
	select {
	case back := <-got:
		if !slices.EqualFunc(back, m, bytes.Equal) {
			t.Errorf("got %d frames, want %d", len(back), len(m))
		}
	case <-time.After(20 * time.Second):
		t.Error("got no answer within 20 s")
	}
}

func TestRouter(t *testing.T) {
	for _, endpoint := range endpoints(t) {
		r := router(t, endpoint)
		go echo(r)
		a, b := dealer(t, r.Addr(), "a"), dealer(t, r.Addr(), "")
		for _, m := range []Message{{[]byte("x")}, {nil, []byte("y"), nil},
			{make([]byte, 255), make([]byte, 256), make([]byte, 5<<20)},
			slices.Repeat(Message{{1}}, maxFrames)} {
			answers(t, a, m)
			answers(t, b, m)
		}
		if err := r.Send(Message{[]byte("nobody"), nil}); !errors.Is(err, errGone) {
			t.Error(err)
		}
	}
}

// A new socket can use the endpoint of a socket that was killed or closed.
func TestPlaceIsTakenOver(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s")
	l := must.M1(net.Listen("unix", path))
	l.(*net.UnixListener).SetUnlinkOnClose(false)
	l.Close()
	for range 2 {
		r := must.M1(NewRouter("ipc://" + path))
		go echo(r)
		answers(t, dealer(t, r.Addr(), "a"), Message{{1}})
		must.M(r.Close())
	}
}

// A client that connects again keeps its identity, even if the socket has not yet noticed the end of the old
// connection. No other peer gets the identity of a connected client.
func TestIdentity(t *testing.T) {
	t.Parallel() // It waits as long as takeOver.
	r := router(t, "tcp://127.0.0.1:0")
	go echo(r)
	for range 20 {
		c := must.M1(Dealer(t.Context(), at(r.Addr()), "a"))
		answers(t, c, Message{{1}})
		c.peer.net.Close()
	}
	first := dealer(t, r.Addr(), "a")
	answers(t, first, Message{{1}})
	if testing.Short() {
		return
	}
	thief := dealer(t, r.Addr(), "a")
	if _, err := thief.Receive(); err == nil {
		t.Error("two peers have the same identity")
	}
	answers(t, first, Message{{2}})
}

func TestPub(t *testing.T) {
	p := pub(t, func(topic []byte) Message { return Message{[]byte("welcome"), topic} })
	c := subscriber(t, p.Addr())
	must.M1(c.Receive()) // messages before the subscription are lost
	old := raw(t, p.Addr(), subType, append([]byte{0, 2, 1}, 'b')...)
	peer := &peer{net: old, in: bufio.NewReader(old)}
	must.M1(readGreeting(peer.in))
	must.M1(readFrame(peer.in, 1000))
	read := func() string {
		m := must.M1(peer.receive(func() int { return 1000 }, nil))
		return string(bytes.Join(m, []byte(" ")))
	}
	if got := read(); got != "welcome b" {
		t.Errorf("first message: got %q, want \"welcome b\"", got)
	}
	for i := range 3 {
		must.M(p.Send(Message{[]byte("bc"), {'0' + byte(i)}}))
		must.M(p.Send(Message{[]byte("a"), {'0' + byte(i)}}))
	}
	for i := range 3 {
		if got := read(); got != fmt.Sprint("bc ", i) {
			t.Errorf("got message %q, want the next one", got)
		}
		for _, topic := range []string{"bc", "a"} {
			if m := must.M1(c.Receive()); string(m[0]) != topic {
				t.Errorf("got message %q, want the next topic", m)
			}
		}
	}
	must.M1(old.Write(append([]byte{0, 2, 0}, 'b'))) // cancels the subscription
	must.M1(old.Write(commandWire(command("PING", []byte("\x00\x00who")))))
	if f := must.M1(readFrame(peer.in, 1000)); !f.command || string(f.body) != "\x04PONGwho" {
		t.Errorf("got frame %+v, want a PONG", f)
	}
	must.M(p.Send(Message{[]byte("bc")}))
	must.M1(old.Write([]byte{0, 2, 1, 'x'}))
	if got := read(); got != "welcome x" {
		t.Errorf("got message %q after the end of the subscription", got)
	}
}

// Invalid bytes of a stranger cost the socket no more than a connection.
func TestHostileBytes(t *testing.T) {
	r := router(t, "tcp://127.0.0.1:0")
	go echo(r)
	honest := dealer(t, r.Addr(), "honest")
	answers(t, honest, Message{{1}})
	hex := func(s string) []byte { return must.M1(hex.DecodeString(strings.ReplaceAll(s, " ", ""))) }
	for name, c := range map[string]struct {
		kind string
		say  []byte
	}{
		"a command of 2^63-1 bytes for READY":    {"", hex("06 7fffffffffffffff")},
		"a command of 2^64-1 bytes for READY":    {"", hex("06 ffffffffffffffff")},
		"a message for READY":                    {"", hex("00 01 00")},
		"a READY whose property is cut off":      {"", commandWire(command("READY", hex("ff 41")))},
		"a property of 2^32-1 bytes":             {"", commandWire(command("READY", hex("01 41 ffffffff")))},
		"a command without a name":               {"", hex("04 00")},
		"an identity that the socket would make": {"", commandWire(ready(dealerType, "\x00a"))},
		"a socket of a wrong type":               {"", commandWire(ready(subType, ""))},
		"a frame of 2^63-1 bytes":                {dealerType, hex("02 7fffffffffffffff")},
		"a frame above the limit":                {dealerType, hex("02 0000000000400001")},
		"a frame with unknown flags":             {dealerType, hex("08 00")},
		"frames without end":                     {dealerType, bytes.Repeat(hex("01 00"), maxFrames)},
		"another protocol":                       {"", []byte("GET / HTTP/1.1\r\n\r\n" + strings.Repeat(" ", 64))},
	} {
		t.Run(name, func(t *testing.T) {
			ends(t, raw(t, r.Addr(), c.kind, c.say...))
			answers(t, honest, Message{{1}})
		})
	}
	p := pub(t, nil)
	for _, say := range [][]byte{
		append(hex("02 0000000000010001"), make([]byte, 1<<16+1)...),
		bytes.Repeat(hex("00 02 01 41"), maxTopics+1),
		commandWire(command(subscribeName, make([]byte, maxTopic+1))),
	} {
		ends(t, raw(t, p.Addr(), subType, say...))
	}
	half := raw(t, r.Addr(), dealerType, hex("02 0000000000100000 41")...) // the rest never arrives
	half.Close()
	answers(t, honest, Message{{1}})
}

// Memory grows with the data that a stranger sends, not with the announced length.
func TestAnnouncedLength(t *testing.T) {
	announced := []byte{longFlag, 0, 0, 0, 0, 0x0f, 0xff, 0xff, 0xff}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for range 100 {
		if _, err := readFrame(bytes.NewReader(append(announced, 1, 2, 3)), maxTrusted); !errors.Is(err, io.ErrUnexpectedEOF) {
			t.Fatal(err)
		}
	}
	runtime.ReadMemStats(&after)
	if used := after.TotalAlloc - before.TotalAlloc; used > 100<<20/4 {
		t.Errorf("100 frames of three bytes take %d bytes of memory", used)
	}
}

// gapOf makes an Instead of a group.
func gapOf(group string) Instead {
	return Instead{group, func(bytes int) Message { return Message{[]byte("gap"), fmt.Append(nil, group, " ", bytes)} }}
}

// slowly reads from a connection with a number of bytes per second.
type slowly struct {
	net.Conn
	speed int
}

func (s slowly) Read(p []byte) (int, error) {
	n, err := s.Conn.Read(p[:min(len(p), s.speed/20)])
	time.Sleep(time.Duration(n) * time.Second / time.Duration(s.speed))
	return n, err
}

// slowSubscriber returns a peer that has subscribed to everything. Almost no bytes wait between the two sides outside
// the queue.
func slowSubscriber(t *testing.T, p *Pub, speed int) *peer {
	t.Helper()
	c := raw(t, p.Addr(), subType, 0, 1, 1)
	must.M(c.(*net.TCPConn).SetReadBuffer(64 << 10))
	me := &peer{net: c, in: bufio.NewReader(slowly{c, speed})}
	must.M1(readGreeting(me.in))
	must.M1(readFrame(me.in, 1000))
	must.M1(me.next()) // the welcome: the subscription has arrived
	return me
}

func (p *peer) next() (Message, error) { return p.receive(func() int { return maxTrusted }, nil) }

func welcome([]byte) Message { return Message{[]byte("welcome")} }

// A subscriber stops reading while far more is offered than may wait. When it reads again, it receives, in order, the
// beginning, one message with the number of dropped bytes, and all messages that must arrive. Other subscribers receive
// everything immediately until the queue is full, and then wait once.
func TestStalledSubscriber(t *testing.T) {
	t.Parallel()
	p := pub(t, welcome)
	p.patience = 2 * time.Second
	honest, stalled := subscriber(t, p.Addr()), slowSubscriber(t, p, 1<<30)
	must.M1(honest.Receive())
	read := func(n int) {
		for range n {
			must.M1(honest.Receive())
		}
	}
	began := time.Now()
	for range 300 {
		must.M(p.Send(Message{[]byte("status"), make([]byte, 400)}))
	}
	read(300)
	if d := time.Since(began); d > time.Second {
		t.Errorf("300 messages next to a stalled subscriber took %v, want at most 1 s", d)
	}
	const big, n = 1 << 20, 2 * maxOffered >> 20
	var reading sync.WaitGroup
	reading.Go(func() { read(n + 3) })
	for i := range n {
		must.M(p.Offer(Message{[]byte("big"), make([]byte, big)}, gapOf("a")))
		if i == n*3/4 || i == n-1 {
			must.M(p.Send(Message{[]byte("must"), nil}))
		}
	}
	must.M(p.Offer(Message{[]byte("next"), make([]byte, 1000)}, gapOf("b")))
	reading.Wait()
	if d := time.Since(began); d > 15*time.Second {
		t.Errorf("%d messages of a MiB next to a stalled subscriber took %v", n, d)
	}
	var got []string
	whole := 0
	for len(got) < 4 {
		switch m := must.M1(stalled.next()); string(m[0]) {
		case "big":
			whole++
		case "gap":
			got = append(got, string(m[1]))
		case "must":
			got = append(got, "must")
		}
	}
	if whole < maxOffered>>20-1 || whole > maxOffered>>20+10 {
		t.Errorf("got %d of %d messages of a MiB", whole, n)
	}
	one := len(Message{[]byte("big"), make([]byte, big)}.wire())
	want := []string{fmt.Sprint("a ", (n-whole)*one), "must", "must",
		fmt.Sprint("b ", len(Message{[]byte("next"), make([]byte, 1000)}.wire()))}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	must.M(p.Offer(Message{[]byte("after")}, gapOf("b"))) // It has caught up.
	if m := must.M1(stalled.next()); string(m[0]) != "after" {
		t.Errorf("got message %q, want \"after\"", m[0])
	}
}

// A subscriber that never reads is disconnected if messages that must arrive fill the reserve.
func TestDeadSubscriber(t *testing.T) {
	t.Parallel()
	p := pub(t, welcome)
	p.patience = 100 * time.Millisecond
	dead := slowSubscriber(t, p, 1<<30)
	for range (maxOffered+reserve)>>20 + 10 {
		must.M(p.Send(Message{[]byte("must"), make([]byte, 1<<20)}))
	}
	ends(t, dead.net)
}

// A slow subscriber that reads steadily receives everything as long as less waits than the maximum.
func TestSlowSubscriber(t *testing.T) {
	if testing.Short() {
		t.Skip("reads slowly")
	}
	t.Parallel()
	p := pub(t, welcome)
	slow := slowSubscriber(t, p, 5_000_000)
	const n = 1000
	began := time.Now()
	for i := range n {
		must.M(p.Offer(Message{[]byte("stream"), {byte(i)}, make([]byte, 10_000)}, gapOf("a")))
	}
	must.M(p.Send(Message{[]byte("idle")}))
	if d := time.Since(began); d > time.Second {
		t.Errorf("10 MB for a slow subscriber took %v, want at most 1 s", d)
	}
	for i := range n {
		if m := must.M1(slow.next()); string(m[0]) != "stream" || m[1][0] != byte(i) {
			t.Fatalf("message %d: got %q, want the next of the stream", i, m[0])
		}
	}
	if m := must.M1(slow.next()); string(m[0]) != "idle" {
		t.Errorf("last message: got %q, want \"idle\"", m[0])
	}
}

// A fast subscriber receives everything, even if more is sent than it can read at once.
func TestFastSubscriber(t *testing.T) {
	if testing.Short() {
		t.Skip("reads 128 MB slowly")
	}
	t.Parallel()
	p := pub(t, welcome)
	fast := slowSubscriber(t, p, 60<<20)
	const n = 2 * maxOffered >> 20
	go func() {
		for i := range n {
			p.Offer(Message{[]byte("stream"), {byte(i)}, make([]byte, 1<<20)}, gapOf("a"))
		}
	}()
	for i := range n {
		if m := must.M1(fast.next()); string(m[0]) != "stream" || m[1][0] != byte(i) {
			t.Fatalf("message %d: got %q, want the next of the stream", i, m[0])
		}
	}
}

// A thousand connections of strangers, silent or not, do not prevent a new client from connecting, and do not
// disconnect a client that has shown the key.
func TestThousandStrangers(t *testing.T) {
	r := router(t, "tcp://127.0.0.1:0")
	go echo(r)
	honest := dealer(t, r.Addr(), "honest")
	answers(t, honest, Message{{1}})
	for i := range 1000 {
		c, err := net.Dial("tcp", r.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		switch i % 4 {
		case 1:
			c.Write(greeting()[:20])
		case 2:
			c.Write(greeting())
		case 3:
			c.Write(append(greeting(), commandWire(ready(dealerType, ""))...))
		}
		if i%100 == 0 {
			answers(t, honest, Message{{byte(i)}})
		}
	}
	answers(t, honest, Message{{2}})
	answers(t, dealer(t, r.Addr(), "late"), Message{{3}})
	r.mu.Lock()
	defer r.mu.Unlock()
	if n := len(r.open); n > maxPeers {
		t.Errorf("%d connections are open, want at most the maximum", n)
	}
}

// Messages that were sent before a socket closes arrive.
func TestCloseSendsTheRest(t *testing.T) {
	t.Parallel()
	r := must.M1(NewRouter("tcp://127.0.0.1:0"))
	c := dealer(t, r.Addr(), "a")
	must.M(c.Send(Message{{1}}))
	m := must.M1(r.Receive())
	for range 100 {
		must.M(r.Send(append(m[:1:1], make([]byte, 100_000))))
	}
	go r.Close()
	for range 100 {
		must.M1(c.Receive())
	}
	if _, err := c.Receive(); err == nil {
		t.Error("got a message after the end")
	}
	if _, err := r.Receive(); !errors.Is(err, net.ErrClosed) {
		t.Error(err)
	}
}

func TestNobodyListens(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	if _, err := Dealer(ctx, "ipc://"+filepath.Join(t.TempDir(), "none"), "a"); err == nil {
		t.Error("Dealer without a router: got no error")
	}
	for _, endpoint := range []string{"udp://127.0.0.1:1", "tcp://127.0.0.1:none", "", "ipc:///no/such/folder/s"} {
		if r, err := NewRouter(endpoint); err == nil {
			r.Close()
			t.Errorf("endpoint %q: got a socket, want an error", endpoint)
		}
	}
}

// FuzzPeer lets a stranger send any bytes to a router and a publisher.
func FuzzPeer(f *testing.F) {
	hello := greeting()
	f.Add(hello)
	f.Add(append(hello, 6, 0x7f, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff))
	f.Add(append(append(hello, commandWire(ready(dealerType, "me"))...), Message{{1}, {2}}.wire()...))
	f.Add(append(append(hello, commandWire(ready(subType, ""))...), 0, 1, 1))
	f.Add(append(append(hello, commandWire(ready(subType, ""))...), commandWire(command("PING", []byte("0123")))...))
	r := &Router{in: make(chan Message)}
	r.by.identity = map[string]*peer{}
	r.done, r.cancel = context.WithCancel(context.Background())
	go echo(r)
	p := &Pub{topics: map[*peer]*topics{}, first: func(topic []byte) Message { return Message{topic} }}
	f.Fuzz(func(t *testing.T, data []byte) {
		for kind, welcome := range map[string]func(*peer) error{routerType: r.listenTo, pubType: p.listenTo} {
			ours, theirs := net.Pipe()
			go io.Copy(io.Discard, theirs)
			go func() {
				theirs.Write(data)
				theirs.Close()
			}()
			if peer, err := connect(ours, kind, ""); err == nil {
				p.Send(Message{[]byte("x")})
				if err := welcome(peer); err == nil {
					t.Error("end of a connection: got no error")
				}
				peer.leave()
				<-peer.gone
			}
		}
		if len(r.by.identity) > 0 || len(p.topics) > 0 {
			t.Error("the router still knows a peer that has left")
		}
	})
}

// FuzzFrame reads frames and writes them again unchanged.
func FuzzFrame(f *testing.F) {
	f.Add(Message{{1}, make([]byte, 300)}.wire())
	f.Add([]byte{commandFlag, 2, 1, 'A'})
	f.Fuzz(func(t *testing.T, data []byte) {
		in := bytes.NewReader(data)
		for {
			at := len(data) - in.Len()
			got, err := readFrame(in, 1<<20)
			if err != nil {
				return
			}
			wire := appendFrame(nil, got)
			read := data[at : len(data)-in.Len()]
			if again, err := readFrame(bytes.NewReader(wire), 1<<20); err != nil || !bytes.Equal(again.body, got.body) ||
				len(wire) > len(read) {
				t.Errorf("frame %x became %x (error %v)", read, wire, err)
			}
			if got.command {
				readCommand(got.body)
				readReady(got.body)
			}
		}
	})
}
