package server

import (
	"net"
	"os"
)

// tlsReader is the connection from which TLS reads. While closed, it returns the error of a
// passed deadline, after which TLS can continue to read.
type tlsReader struct {
	net.Conn
	c      *conn
	closed bool // belongs to the reading goroutine
}

// Read implements net.Conn.
func (t *tlsReader) Read(p []byte) (int, error) {
	if t.closed {
		return 0, os.ErrDeadlineExceeded
	}
	return t.Conn.Read(p)
}

// drainTLSBuffer moves data that TLS has read but not returned into the input: TLS reads ahead
// and returns one record at a time. Nothing is read from the network.
func (in *inputReader) drainTLSBuffer() {
	if in.input == nil {
		in.input = getBuffer()
	}
	in.socket.tlsReader.closed = true
	_ = in.input.fill(in.socket.nc, bufferBytes) // the next read returns a permanent error again
	in.socket.tlsReader.closed = false
	in.consume(0)
}

// The TLS records by which a client closes a connection: an alert, which TLS 1.3 wraps into a
// data record of a fixed size. Source: RFC 8446 sections 5.1, 5.2 and 6.
const (
	recordHeader = 5
	recordAlert  = 21
	recordData   = 23
	wrappedAlert = 2 + 1 + 16 // two bytes, their type, the tag of the cipher
	// longestFarewell is larger than an alert under any cipher of TLS 1.2.
	longestFarewell = 128
)

// isTLSAlert reports whether the last bytes of a connection are exactly one alert.
func isTLSAlert(b []byte) bool {
	if len(b) < recordHeader || len(b) != recordHeader+int(b[3])<<8+int(b[4]) {
		return false
	}
	return b[0] == recordAlert || b[0] == recordData && len(b) == recordHeader+wrappedAlert
}
