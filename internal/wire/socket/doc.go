// Package socket makes the reads and writes of a TCP connection cheaper for a program that
// does thousands of small ones a second on few cores.
//
// The runtime takes part in each system call that it knows of: it lends the core of a
// thread that seems to be stuck in one to another thread, and has its monitor look after
// that 50,000 times a second. A call of a socket in non-blocking mode is never stuck, but
// where several programs share the cores it is often off the core for long enough to be
// taken for it. The calls here are not announced to the runtime; waiting is left to its
// poller as ever.
package socket
