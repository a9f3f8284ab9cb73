// Package zmtp implements the ZeroMQ sockets of a Jupyter kernel: [Router] and [Pub], which listen, and [Client], with
// which a kernel connects to another kernel. They use ZMTP 3.1 (https://rfc.zeromq.org/spec/37/) without encryption,
// like Jupyter.
//
// Everyone who can reach a socket may connect to it, with or without the kernel's key. Therefore the sockets limit each
// peer. A peer cannot make this process allocate more memory than the peer has sent. A peer that stops in the middle of
// a message is disconnected. A peer that does not read is disconnected, or, if it is a subscriber, misses messages (see
// [Pub.Offer]). The number of peers that have not shown the key is limited, and so is the length of their messages.
package zmtp

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strings"
)

// Message is the list of a message's frames.
type Message [][]byte

// wire returns the message in its encoded form.
func (m Message) wire() []byte {
	n := 0
	for _, body := range m {
		n += len(body) + 9
	}
	out := make([]byte, 0, n)
	for i, body := range m {
		out = appendFrame(out, frame{more: i < len(m)-1, body: body})
	}
	return out
}

// Types of sockets.
const (
	dealerType = "DEALER"
	pubType    = "PUB"
	routerType = "ROUTER"
	subType    = "SUB"
)

// partners lists, for each type of socket, the types of its possible peers.
var partners = map[string][]string{
	dealerType: {"REP", dealerType, routerType},
	pubType:    {subType, "XSUB"},
	routerType: {"REQ", dealerType, routerType},
	subType:    {pubType, "XPUB"},
}

// Limits of the data of a peer.
const (
	maxCommand  = 64 << 10  // bytes of a command; commands of libzmq have less than 600
	maxFrames   = 1 << 10   // of a message
	maxStranger = 4 << 20   // bytes of a message from a peer that is not trusted
	maxTrusted  = 256 << 20 // bytes of a message from a trusted peer
)

// Flags of a frame.
const (
	moreFlag    = 1
	longFlag    = 2
	commandFlag = 4
)

// greetingLength is the length of the greeting of each side in bytes: a signature, the version, the mechanism, and
// zeros.
const greetingLength = 64

// greeting returns the greeting of this package.
func greeting() []byte {
	g := make([]byte, greetingLength)
	g[0], g[9], g[10], g[11] = 0xff, 0x7f, 3, 1
	copy(g[12:], "NULL")
	return g
}

var errProtocol = errors.New("not ZMTP 3")

// readGreeting reads a peer's greeting, and returns the minor version of the protocol.
func readGreeting(r io.Reader) (minor byte, err error) {
	var g [greetingLength]byte
	if _, err := io.ReadFull(r, g[:]); err != nil {
		return 0, err
	}
	mechanism := string(bytes.TrimRight(g[12:32], "\x00"))
	switch {
	case g[0] != 0xff || g[9] != 0x7f || g[10] < 3:
		return 0, errProtocol
	case mechanism != "NULL":
		return 0, fmt.Errorf("the peer requires the security mechanism %q; only NULL is supported", mechanism)
	}
	return g[11], nil
}

// frame is a part of a message, or a command.
type frame struct {
	more, command bool
	body          []byte
}

// readFrame reads a frame of at most limit bytes. The memory grows with the data that arrive, not with the announced
// length.
func readFrame(r io.Reader, limit int) (f frame, err error) {
	var head [9]byte
	if _, err := io.ReadFull(r, head[:2]); err != nil {
		return f, err
	}
	flags, length := head[0], uint64(head[1])
	if flags&^(moreFlag|longFlag|commandFlag) != 0 || flags&commandFlag != 0 && flags&moreFlag != 0 {
		return f, fmt.Errorf("%w: a frame with flags %#x", errProtocol, flags)
	}
	if flags&longFlag != 0 {
		if _, err := io.ReadFull(r, head[2:]); err != nil {
			return f, unexpected(err)
		}
		length = binary.BigEndian.Uint64(head[1:])
	}
	f.more, f.command = flags&moreFlag != 0, flags&commandFlag != 0
	if f.command {
		limit = min(limit, maxCommand)
	}
	if length > uint64(max(limit, 0)) {
		return f, fmt.Errorf("a frame of %d bytes, at most %d are allowed", length, limit)
	}
	f.body, err = readBody(r, int(length))
	return f, err
}

// readBody reads n bytes.
func readBody(r io.Reader, n int) ([]byte, error) {
	const atOnce = 64 << 10
	body := make([]byte, 0, min(n, atOnce))
	for len(body) < n {
		if len(body) == cap(body) {
			body = append(make([]byte, 0, min(n, 2*cap(body))), body...)
		}
		k, err := io.ReadFull(r, body[len(body):cap(body)])
		body = body[:len(body)+k]
		if err != nil {
			return nil, unexpected(err)
		}
	}
	return body, nil
}

// unexpected replaces the error of an end within a frame.
func unexpected(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}

// appendFrame is the inverse of readFrame.
func appendFrame(to []byte, f frame) []byte {
	var flags byte
	if f.more {
		flags |= moreFlag
	}
	if f.command {
		flags |= commandFlag
	}
	if n := len(f.body); n < 256 {
		to = append(to, flags, byte(n))
	} else {
		to = binary.BigEndian.AppendUint64(append(to, flags|longFlag), uint64(n))
	}
	return append(to, f.body...)
}

// command returns the body of a command.
func command(name string, data []byte) []byte {
	return append(append([]byte{byte(len(name))}, name...), data...)
}

// commandWire returns a command in its encoded form.
func commandWire(body []byte) []byte { return appendFrame(nil, frame{command: true, body: body}) }

// readCommand is the inverse of command.
func readCommand(body []byte) (name string, data []byte, err error) {
	if len(body) == 0 || len(body) <= int(body[0]) {
		return "", nil, fmt.Errorf("%w: a command without a name", errProtocol)
	}
	n := int(body[0]) + 1
	return string(body[1:n]), body[n:], nil
}

// ready returns the body of a READY command.
func ready(kind, identity string) []byte {
	var data []byte
	for _, p := range [][2]string{{"Socket-Type", kind}, {"Identity", identity}} {
		data = append(append(data, byte(len(p[0]))), p[0]...)
		data = append(binary.BigEndian.AppendUint32(data, uint32(len(p[1]))), p[1]...)
	}
	return command("READY", data)
}

// maxIdentity is the protocol's maximum length of an identity in bytes.
const maxIdentity = 255

// readReady returns the type of socket and the identity in a peer's READY command.
func readReady(body []byte) (kind, identity string, err error) {
	name, data, err := readCommand(body)
	switch {
	case err != nil:
		return "", "", err
	case name == "ERROR":
		return "", "", fmt.Errorf("the peer refuses the connection: %q", data)
	case name != "READY":
		return "", "", fmt.Errorf("%w: a command %q instead of READY", errProtocol, name)
	}
	for len(data) > 0 {
		n := int(data[0])
		if len(data) < 1+n+4 {
			return "", "", fmt.Errorf("%w: an incomplete property", errProtocol)
		}
		key, rest := string(data[1:1+n]), data[1+n:]
		length := binary.BigEndian.Uint32(rest)
		if rest = rest[4:]; uint64(length) > uint64(len(rest)) {
			return "", "", fmt.Errorf("%w: an incomplete property", errProtocol)
		}
		value := string(rest[:length])
		data = rest[length:]
		switch strings.ToLower(key) {
		case "socket-type":
			kind = value
		case "identity":
			identity = value
		}
	}
	if len(identity) > maxIdentity || strings.HasPrefix(identity, "\x00") {
		return "", "", fmt.Errorf("%w: the identity %.20q", errProtocol, identity)
	}
	return kind, identity, nil
}

// split returns the network and the address of an endpoint: tcp://HOST:PORT or ipc://PATH.
func split(endpoint string) (network, address string, err error) {
	switch kind, rest, _ := strings.Cut(endpoint, "://"); kind {
	case "tcp":
		return "tcp", rest, nil
	case "ipc":
		return "unix", rest, nil
	}
	return "", "", fmt.Errorf("not an endpoint of ZeroMQ: %q", endpoint)
}

// listen begins to listen. For ipc it removes the socket file of a process that was killed.
func listen(endpoint string) (net.Listener, error) {
	network, address, err := split(endpoint)
	if err != nil {
		return nil, err
	}
	if network != "unix" {
		return net.Listen(network, address)
	}
	if info, err := os.Lstat(address); err == nil && info.Mode().Type() == os.ModeSocket {
		os.Remove(address)
	}
	l, err := net.Listen(network, address)
	if err != nil {
		return nil, err
	}
	if err := os.Chmod(address, 0o600); err != nil {
		l.Close()
		return nil, err
	}
	return l, nil
}
