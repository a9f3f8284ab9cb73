// Package durable keeps the log of an agent on disk, so that nothing is lost that the agent has acknowledged:
//
//	log, err := durable.Open("agent/log", durable.Options{})
//	a, err := agent.Open(config, "agent/file", log)
//
// A service ends with the agent first, whose learner writes to the log, and the log last:
//
//	a.Close()
//	err = errors.Join(a.Save("agent/file"), log.Close())
//
// # What it promises
//
// A record that wait has returned for is there when the log is opened again, once, in its place in the order, whether
// the program ended, was killed, or the machine lost its power; with Sync None, only after Close. What was being
// written then is there whole, or not at all; a torn tail is dropped, with a warning. Records have checksums of their
// own, and a version: testdata has a log of each version, which later ones read. One process writes; others may read.
//
// When the disk fails a sync the program ends, as databases do: what is safe is then not known but by opening the log
// anew. Other errors of the disk make the log fail (ErrFailed), and it takes no more.
//
// The tests kill processes at random times (-kills 1000), lose what was not synced at random times, make each write,
// sync, creation and rename fail in turn, and cut the log at each byte.
//
// # Why Pebble
//
// Records of 300 bytes a second that were appended on two cores of an Intel Xeon, on a virtual disk whose sync takes
// 0.2 ms, with 1, 8 and 32 goroutines, 3 seconds each, beside little else; grouped waits 2 ms to share a sync:
//
//	                            each                     grouped                      none
//	                       1      8     32       1      8     32             1 to 32
//	Pebble 2.1.7       4,600 18,000 85,000     390  3,100 12,000   730,000 to 1,000,000
//	bbolt 1.4.3        3,300  3,000  3,000     370  3,000 12,000      33,000 to 42,000
//	SQLite 1.40 (Go)   2,300 to 6,100                  no choice      53,000 to 110,000
//
// The numbers vary by a factor of 2 from one run to the next; that of Pebble with 32 goroutines, who share a sync
// without being told to, is 20 times the others'. It opens a million records in 26 ms (bbolt 0.1,
// SQLite 0.7), and adds 9 MB to a program. What decides beside that is its file system, which can be replaced: so the
// tests can make each of its writes fail, and a machine lose its power at any moment. Licences: BSD (Pebble), MIT
// (bbolt), BSD (SQLite in Go).
package durable
