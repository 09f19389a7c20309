package syntax

import (
	"errors"
	"io"
)

// Chunks takes the framing of chunked bodies off, in pieces of any size. It keeps
// no bytes. Chunk extensions and trailers are checked and dropped; more than 4,000
// bytes of a size line or 16 KiB of trailers, or of framing in all beyond what the data
// justifies, are refused. The zero Chunks is ready. Source: RFC 9112 section 7.1.
type Chunks struct {
	state  chunkState
	left   int64 // of the chunk at hand
	digits int   // of its size
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

// ErrChunk is returned by Decode for framing that is malformed or too much.
var ErrChunk = errors.New("a chunk of the body is not valid")

// Decode moves data from src to dst until one of them is used up. Dst may be the
// beginning of src. io.EOF means that the body is complete; used then tells where.
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

// step takes one byte of framing and reports whether it may stand there.
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

// sizeLine takes a byte of "1a;name=value\r\n". Blanks may stand at its end.
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

// begin starts the chunk whose size line has ended.
func (c *Chunks) begin() bool {
	c.excess = max(0, c.excess+c.line-16-int(min(2*c.left, maxChunkExcess)))
	c.digits, c.line = 0, 0
	c.state = inData
	if c.left == 0 {
		c.state = trailerStart
	}
	return c.excess <= maxChunkExcess
}

// trailer takes a byte behind the last chunk: lines like those of a head, up to an
// empty one.
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
