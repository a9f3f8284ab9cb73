package layer

import "testing"

func TestComms(t *testing.T) {
	var c comms
	open := func(kind, id, target string) {
		c.note(message{}.answer("", kind, map[string]string{"comm_id": id, "target_name": target}))
	}
	open("comm_open", "1", "a")
	open("comm_open", "2", "b")
	open("comm_open", "3", "a")
	open("comm_close", "3", "")
	if got := c.open("a"); len(got) != 1 || got["1"]["target_name"] != "a" {
		t.Errorf("comms of target a: got %v, want one", got)
	}
	if got := c.open(""); len(got) != 2 {
		t.Errorf("all comms: got %v, want 2", got)
	}
}
