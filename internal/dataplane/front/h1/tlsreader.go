package h1

import (
	"net"
	"os"
)

// tlsReader is what TLS reads from. Closed, it has nothing, as a connection whose deadline has
// passed, after which TLS goes on when more comes.
type tlsReader struct {
	net.Conn
	c      *conn
	closed bool // belongs to who reads
}

// Read implements net.Conn.
func (t *tlsReader) Read(p []byte) (int, error) {
	if t.closed {
		return 0, os.ErrDeadlineExceeded
	}
	return t.Conn.Read(p)
}

// drainTLSBuffer takes into the input what TLS has read of the connection and not given out: it
// reads ahead, and gives out one record at a time. Nothing more is read.
func (c *conn) drainTLSBuffer() {
	if c.input == nil {
		c.input = getBuffer()
	}
	c.tlsReader.closed = true
	_ = c.input.fill(c.nc, bufferBytes) // what is an error for ever is that of the next read, too
	c.tlsReader.closed = false
	c.consume(0)
}

// The records of TLS by which a client takes its leave: an alert, which TLS 1.3 wraps
// into data of an alert's size. Source: RFC 8446 sections 5.1, 5.2 and 6.
const (
	recordHeader = 5
	recordAlert  = 21
	recordData   = 23
	wrappedAlert = 2 + 1 + 16 // two bytes, their type, the tag of the cipher
	// longestFarewell is more than an alert takes under any cipher of TLS 1.2.
	longestFarewell = 128
)

// isTLSAlert reports whether the last bytes of a connection are an alert and nothing else.
func isTLSAlert(b []byte) bool {
	if len(b) < recordHeader || len(b) != recordHeader+int(b[3])<<8+int(b[4]) {
		return false
	}
	return b[0] == recordAlert || b[0] == recordData && len(b) == recordHeader+wrappedAlert
}
