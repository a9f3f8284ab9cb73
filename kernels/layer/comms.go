package layer

import "sync"

// comms holds the open connections of widgets. Either side may have opened them.
type comms struct {
	mu      sync.Mutex
	targets map[string]string // by id
}

// note updates the open connections after a comm message.
func (c *comms) note(m message) {
	var body struct {
		ID     string `json:"comm_id"`
		Target string `json:"target_name"`
	}
	if m.read(&body) != nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	switch m.head.Type {
	case "comm_open":
		if c.targets == nil {
			c.targets = map[string]string{}
		}
		c.targets[body.ID] = body.Target
	case "comm_close":
		delete(c.targets, body.ID)
	}
}

// open returns the connections with a target, or all connections if target is "", as in a comm_info_reply.
func (c *comms) open(target string) map[string]map[string]string {
	c.mu.Lock()
	defer c.mu.Unlock()
	list := map[string]map[string]string{}
	for id, t := range c.targets {
		if target == "" || t == target {
			list[id] = map[string]string{"target_name": t}
		}
	}
	return list
}

// clear removes all connections, because the engine that had them has ended.
func (c *comms) clear() {
	c.mu.Lock()
	defer c.mu.Unlock()
	clear(c.targets)
}
