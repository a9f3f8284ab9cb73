// Package durable keeps the log of an agent on disk, so that nothing is lost that the agent has acknowledged:
//
//	log, err := durable.Open("agent/log", durable.Options{})
//	a, err := agent.Open(config, "agent/file", log)
//
// # What it promises
//
// A record that wait has returned for is there when the log is opened again, once, in its place in the order, whether
// the program ended, was killed, or the machine lost its power (with Sync None: the program alone). What was being
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
// 0.2 ms, with 1, 8 and 32 goroutines, and the bytes of each on the disk; a millisecond's wait to share syncs is
// "grouped":
//
//	                            each                     grouped                 none
//	                       1      8     32       1      8     32        1     8    32     bytes
//	Pebble 2.1.7       4,600 18,000 85,000     390  3,100 12,000  750,000 to 1,000,000    50 to 340
//	bbolt 1.4.3        3,300  3,000  3,000     370  3,000 12,000     33,000 to 42,000    430 to 530
//	SQLite 1.40 (Go)   2,300  3,400  3,900    (as each: it has no such choice)
//	                                                                 53,000 to 108,000   320 to 360
//
// Pebble shares a sync among those that wait, without being told. It opens a million records in 26 ms (bbolt 0.1,
// SQLite 0.7), and adds 9 MB to a program. What decides beside that is its file system, which can be replaced: so the
// tests can make each of its writes fail, and a machine lose its power at any moment. Licences: BSD (Pebble), MIT
// (bbolt), BSD (SQLite in Go).
package durable
