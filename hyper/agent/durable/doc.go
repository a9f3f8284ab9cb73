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
// `hyper evaluate agent/log --agent other.json` tells from the log how another agent would have done.
//
// # What it promises
//
// A record that wait has returned for is there when the log is opened again, once, in its place in the order, whether
// the program ended, was killed, or the machine lost its power; with Sync None, only after Close, or where the machine
// did not stop. What was being written then is there whole, or not at all; a torn tail is dropped, with a warning.
// Damage to what had been on the disk is not taken for one: the log is refused, and a reader has what is before it.
// Records have checksums of their own, and a version: testdata has a log, which later versions read. One process
// writes; others may read.
//
// When the disk fails a sync the program ends, as databases do: what is safe is then not known but by opening the log
// anew. Other errors of the disk make the log fail (ErrFailed), and it takes no more.
//
// The tests kill processes at random times (-kills 1000), lose what was not synced at random times, make each write,
// sync, creation and rename fail in turn, cut the log at each byte, and change each.
//
// # Why files of its own
//
// Records of 264 bytes, each waited for, on two cores of a machine that did other work. Rates and times beside those of
// Pebble, which kept the log before, are ratios in the same round, medians of 8 rounds; 0.7 to 1.5 is noise:
//
//	                              Pebble 2.1   bbolt 1.5   tidwall/wal 1.2   etcd's wal 3.7   these files
//	each, 1 goroutine             590/s        0.5         0.8               0.4              0.8
//	each, 8 goroutines            2,900/s      0.8         1.5               0.6              1.5
//	each, 32 goroutines           13,000/s     0.2         0.5               0.4              1.3
//	grouped, 32 goroutines        10,000/s     0.5         0.8               0.5              1.0
//	none, 1 goroutine             100,000/s    0.1         0.8               1.4              1.2
//	p99 of each, 32 goroutines    21 ms        2.3         1.9               0.8              0.9
//	open 300,000 records          107 ms       65 ms       31 ms             2,000 ms         7 ms
//	open and read them            2.1 s        0.9 s       0.7 s             2.0 s            0.9 s
//	disk they take, of 79 MB      84 MB        101 MB      80 MB             192 MB           86 MB
//	compile, seconds of CPU       100          3           1                 35               1
//	fail or lose writes in tests  yes          no          no                no               yes
//	a torn tail                   dropped      -           refused           dropped          dropped
//
// Compiling is beside the standard library. Pebble without the Zstandard in C takes 50 seconds and is as fast, but that
// is a build tag, which a package cannot set for the programs that import it.
//
// All are fast enough for an agent. The guarantees decide, and their tests. Only Pebble lets tests have a write fail,
// or lose what was not synced; the others open their files themselves. bbolt has checksums of two pages alone: of 6,000
// bytes that were changed in turn, it lost records without a word for 6, and panicked for 40. tidwall/wal has no
// checksums, and refuses the whole log where its last record is torn. These files are six hundred lines: of a database
// the log only needs to append, to read in order, and to drop what is old.
package durable
