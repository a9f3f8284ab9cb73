// Package durable keeps the log of an agent on disk. Nothing that the agent has acknowledged is lost:
//
//	log, err := durable.Open("agent/log", durable.Options{})
//	a, err := agent.Open(config, "agent/file", log)
//
// A service closes the agent first, because its learner writes to the log, and the log last:
//
//	a.Close()
//	err = errors.Join(a.Save("agent/file"), log.Close())
//
// `hyper evaluate agent/log --agent other.json` estimates from the log how well another agent would have done.
//
// # What it promises
//
// After wait has returned for a record, the record is in the log whenever the log is opened again: once, and in its
// place in the order. This holds if the program ended, was killed, or the machine lost its power. With Sync None it
// holds only after Close, or if the machine did not stop. A record that was being written at that time is in the log
// completely or not at all; a torn end is dropped, with a warning. Damage to data that had reached the disk is not
// treated as a torn end: a reader gets the records before the damage, and then an error. Open reads only the last file,
// and refuses the log if this file is damaged. Records have their own checksums, and a version. testdata has a log that
// later versions must read. One process writes; others may read.
//
// If a sync of the disk fails, the program ends, as databases do, because only opening the log again shows what is
// safe. After another error of the disk the log fails (ErrFailed), and accepts no more records.
//
// The tests kill processes at random times (-kills 1000), lose unsynced writes at random times, make each write, sync,
// creation and rename fail in turn, and truncate the log at each byte and change each byte.
//
// # Why it has its own file format
//
// The table is for records of 264 bytes, each waited for, on two cores of a machine that also did other work. The
// column of Pebble has rates and times. The other columns have ratios to Pebble in the same round, medians of 8 rounds;
// a ratio of 0.7 to 1.5 is noise:
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
// The time to compile is in addition to the standard library. Pebble without the Zstandard in C compiles in 50 seconds
// and is as fast, but that needs a build tag, which a package cannot set for the programs that import it.
//
// All are fast enough for an agent, so the guarantees and their tests decide. Only Pebble lets tests make a write fail,
// or lose unsynced writes; the others open their files themselves. bbolt has checksums of only two pages: when each of
// 6,000 bytes was changed in turn, it lost records without an error for 6 of them, and panicked for 40. tidwall/wal has
// no checksums, and refuses the whole log if its last record is torn. The code of this format has some 750 lines:
// the log only appends records, reads them in order, and drops old ones.
package durable
