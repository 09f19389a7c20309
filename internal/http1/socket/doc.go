// Package socket limits how long a write to a TCP connection may wait, without setting a deadline
// for each write, and looks at received bytes without consuming them. Start reading with Wrap.
package socket
