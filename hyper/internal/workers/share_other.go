//go:build !linux

package workers

// onShare calls f. Only Linux lets a thread choose its cores here.
func onShare(_, _ int, f func()) { f() }
