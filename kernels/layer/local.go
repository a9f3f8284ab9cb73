package layer

import (
	"context"

	"github.com/hypermodels/hypermodels/kernels/layer/cells"
	"github.com/hypermodels/hypermodels/kernels/layer/wrapper"
)

// local answers requests that need no engine. As the protocol requires, it does not answer unknown requests.
func (k *kernel) local(c *channel, m message) {
	switch m.head.Type {
	case "kernel_info_request":
		k.reply(c, m, kernelInfo())
	case "is_complete_request":
		var r struct{ Code string }
		m.read(&r)
		k.reply(c, m, cells.IsComplete(unixLines(r.Code)))
	case "history_request":
		var r historyRequest
		m.read(&r)
		k.reply(c, m, map[string]any{"status": "ok", "history": k.history.find(r)})
	case "comm_info_request":
		var r struct {
			Target string `json:"target_name"`
		}
		m.read(&r)
		k.reply(c, m, map[string]any{"status": "ok", "comms": k.comms.open(r.Target)})
	case "debug_request":
		var r struct {
			Seq     int    `json:"seq"`
			Command string `json:"command"`
		}
		m.read(&r)
		k.reply(c, m, map[string]any{"type": "response", "seq": 0, "request_seq": r.Seq, "command": r.Command,
			"success": false,
			"message": "this kernel has no debugger"})
	case "shutdown_request":
		k.shutdown(c, m)
	}
}

func (k *kernel) shutdown(c *channel, m message) {
	var r struct {
		Restart bool `json:"restart"`
	}
	m.read(&r)
	answer := map[string]any{"status": "ok", "restart": r.Restart}
	k.reply(c, m, answer)
	k.publish(m, "shutdown_reply", answer)
}

// control handles a message of the control channel, at once.
func (k *kernel) control(ctx context.Context, m message) {
	k.during(m, false, func() {
		if m.head.Type == "interrupt_request" {
			k.interrupt(m)
			k.reply(k.front.control, m, map[string]any{"status": "ok"})
		} else {
			k.local(k.front.control, m)
		}
	})
	if m.head.Type == "shutdown_request" {
		k.quit()
	}
}

// interrupt interrupts the running cell.
func (k *kernel) interrupt(m message) {
	k.mu.Lock()
	e, current := k.engine, k.current
	k.mu.Unlock()
	if e == nil || current == nil {
		return
	}
	current.interrupt()
	wrapper.SetStop(wrapper.StopFile(k.config.Dir)) // This stops a cell that is still being compiled.
	e.control.send(m)
}
