// Package socket makes the reads and writes of a TCP connection cheaper for a program that
// does thousands of small ones a second on few cores. Start reading with Wrap.
//
// The Go runtime tracks every system call that it is notified of. When a thread seems stuck
// in one, the runtime gives that thread's core to another thread. Its monitor checks for
// this 50,000 times a second. A call on a socket in non-blocking mode is never stuck. But
// where several programs share the cores, the thread often loses its core for long enough
// to look stuck. This package makes its calls without notifying the runtime. Waiting still
// uses the runtime's poller.
//
// It saves about 6 % of the CPU time of a call while the request log is written: 55 instead of 58 µs
// for a chat of 1 KB on 64 connections (medians of five alternating runs of "go run ./bench --only
// chat-1k-c64" in test, 2026-11-28, without those in which the machine was slower). Without the
// log, when few threads compete for the cores, there is no difference.
package socket
