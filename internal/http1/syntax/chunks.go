package syntax

import (
	"errors"
	"io"
)

// Chunks removes the framing of chunked bodies, in chunks of any input size. It retains no
// bytes. It checks and drops chunk extensions and trailers. It refuses a size line above 4,000
// bytes, trailers above 16 KiB, and more framing than the data justifies plus 16 KiB. The zero
// Chunks is ready to use. Source: RFC 9112 section 7.1.
type Chunks struct {
	state  chunkState
	left   int64 // remaining bytes of the current chunk
	digits int   // digits of its size
	line   int   // bytes of the size line so far
	excess int   // bytes of framing beyond what data justifies
	tail   int   // bytes of the trailers
}

type chunkState int

const (
	inSize chunkState = iota
	inPadding
	inExtension
	sizeEnd
	inData
	dataCR
	dataLF
	trailerStart
	inTrailerName
	inTrailerValue
	trailerEnd
	lastLF
)

const (
	maxSizeDigits  = 15       // hexadecimal; keeps sizes far from overflow
	maxChunkLine   = 4000     // size and extension
	maxChunkExcess = 16 << 10 // a peer that sends framing instead of data
	maxTrailers    = 16 << 10
)

// ErrChunk is returned by Decode for malformed or excessive framing.
var ErrChunk = errors.New("a chunk of the body is not valid")

// Decode moves data from src to dst until one of them is used up. dst may be the beginning of
// src. io.EOF means that the body is complete. used is then the end of the body in src.
func (c *Chunks) Decode(dst, src []byte) (n, used int, err error) {
	for used < len(src) {
		if c.state == inData {
			k := copy(dst[n:], src[used:min(int64(len(src)), int64(used)+c.left)])
			if k == 0 { // dst is full
				return n, used, nil
			}
			n, used, c.left = n+k, used+k, c.left-int64(k)
			if c.left == 0 {
				c.state = dataCR
			}
			continue
		}
		b := src[used]
		used++
		if c.state == lastLF && b == '\n' {
			return n, used, io.EOF
		}
		if !c.step(b) {
			return n, used, ErrChunk
		}
	}
	return n, used, nil
}

// step processes one byte of framing and reports whether it is valid.
func (c *Chunks) step(b byte) bool {
	switch c.state {
	case inSize, inPadding, inExtension, sizeEnd:
		return c.sizeLine(b)
	case dataCR:
		c.state = dataLF
		return b == '\r'
	case dataLF:
		c.state = inSize
		return b == '\n'
	default:
		return c.trailer(b)
	}
}

// sizeLine processes a byte of "1a;name=value\r\n". Blanks may precede the line end.
func (c *Chunks) sizeLine(b byte) bool {
	if c.line++; c.line > maxChunkLine {
		return false
	}
	switch {
	case c.state == sizeEnd:
		return b == '\n' && c.begin()
	case c.digits == 0 && HexValue(b) < 0:
		return false
	case b == '\r':
		c.state = sizeEnd
		return true
	case c.state == inSize && HexValue(b) >= 0:
		c.digits++
		c.left = c.left<<4 | int64(HexValue(b))
		return c.digits <= maxSizeDigits
	case c.state == inSize && b == ';':
		c.state = inExtension
		return true
	case c.state == inSize || c.state == inPadding:
		c.state = inPadding
		return blank(b)
	}
	return printable(b)
}

// begin starts the chunk after its size line.
func (c *Chunks) begin() bool {
	c.excess = max(0, c.excess+c.line-16-int(min(2*c.left, maxChunkExcess)))
	c.digits, c.line = 0, 0
	c.state = inData
	if c.left == 0 {
		c.state = trailerStart
	}
	return c.excess <= maxChunkExcess
}

// trailer processes a byte after the last chunk: lines like those of a head, up to an empty
// one.
func (c *Chunks) trailer(b byte) bool {
	if c.tail++; c.tail > maxTrailers {
		return false
	}
	switch c.state {
	case trailerStart:
		c.state = inTrailerName
		if b == '\r' {
			c.state = lastLF
			return true
		}
		return tokens[b]
	case inTrailerName:
		if b == ':' {
			c.state = inTrailerValue
			return true
		}
		return tokens[b]
	case inTrailerValue:
		if b == '\r' {
			c.state = trailerEnd
			return true
		}
		return printable(b)
	case trailerEnd:
		c.state = trailerStart
		return b == '\n'
	default: // lastLF without a line feed
		return false
	}
}
