package layer

import (
	"encoding/json"
	"fmt"
	"os"
)

// connection is the content of a Jupyter connection file.
type connection struct {
	Scheme    string `json:"signature_scheme"`
	Transport string `json:"transport"`
	IP        string `json:"ip"`
	Key       string `json:"key"`
	Shell     int    `json:"shell_port"`
	Control   int    `json:"control_port"`
	Stdin     int    `json:"stdin_port"`
	IOPub     int    `json:"iopub_port"`
	Heartbeat int    `json:"hb_port"`
}

const scheme = "hmac-sha256"

func readConnection(path string) (connection, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return connection{}, fmt.Errorf("cannot read the connection file: %w", err)
	}
	c := connection{Transport: "tcp"}
	if err := json.Unmarshal(data, &c); err != nil {
		return connection{}, fmt.Errorf("%s is not a connection file: %w", path, err)
	}
	if c.Scheme != scheme && c.Key != "" {
		return connection{}, fmt.Errorf("%s: unknown signature scheme %q; the kernel supports %s", path, c.Scheme, scheme)
	}
	if c.Transport != "tcp" && c.Transport != "ipc" {
		return connection{}, fmt.Errorf("%s: unknown transport %q; the kernel supports tcp and ipc", path, c.Transport)
	}
	return c, nil
}

// address returns the address of a socket.
func (c connection) address(port int) string {
	if c.Transport == "ipc" {
		return fmt.Sprintf("ipc://%s-%d", c.IP, port)
	}
	return fmt.Sprintf("tcp://%s:%d", c.IP, port)
}

func (c connection) write(path string) error {
	data, err := json.Marshal(c)
	if err != nil {
		return err
	}
	return os.WriteFile(path, data, 0o600)
}
