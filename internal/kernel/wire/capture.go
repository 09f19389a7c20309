package wire

// Capture stores the beginning of a stream in pooled buffers. It adds buffers instead of growing
// one, because streams that outgrow their buffers at the same time would leave many unused
// buffers in the pool. The zero value with Max set is ready. It belongs to one goroutine.
type Capture struct {
	Max int // maximum number of bytes stored

	size int64     // bytes of the stream so far
	held int       // bytes stored
	full []*[]byte // the full buffers
	last *[]byte   // the buffer in use, nil before the first
	used int       // bytes used in last
}

// Add adds a chunk of the stream.
func (c *Capture) Add(p []byte) {
	c.size += int64(len(p))
	for p = p[:min(len(p), max(0, c.Max-c.held))]; len(p) > 0; {
		if c.last == nil || c.used == len(*c.last) {
			c.extend(len(p))
		}
		n := copy((*c.last)[c.used:], p)
		c.used, c.held, p = c.used+n, c.held+n, p[n:]
	}
}

// extend adds a buffer for n bytes. Its size depends on the bytes stored, so that a long response
// has few buffers with little unused memory.
func (c *Capture) extend(n int) {
	switch {
	case c.last == nil:
		c.last = GetBuffer(n)
	case n > c.held: // copying the bytes stored now costs less than copying all of them later
		c.join(c.held + n)
	default:
		c.full = append(c.full, c.last)
		c.last, c.used = GetBuffer(max(n, c.held/4)), 0
	}
}

// Size returns the number of bytes of the stream so far, stored or not.
func (c *Capture) Size() int64 { return c.size }

// Bytes returns the stored bytes as one slice. It is valid until the next Add or Free.
func (c *Capture) Bytes() []byte {
	if len(c.full) > 0 {
		c.join(c.held)
	}
	if c.last == nil {
		return nil
	}
	return (*c.last)[:c.used]
}

// join copies the stored bytes to one buffer for at least n bytes.
func (c *Capture) join(n int) {
	full := GetBuffer(n)
	data := (*full)[:0]
	for _, buf := range c.full {
		data = append(data, *buf...)
	}
	data = append(data, (*c.last)[:c.used]...)
	c.Free()
	c.last, c.used, c.held = full, len(data), len(data)
}

// IsComplete reports whether the complete stream is stored.
func (c *Capture) IsComplete() bool { return c.size == int64(c.held) }

// Free returns the buffers to the pool. What Bytes returned must not be used afterwards.
func (c *Capture) Free() {
	for _, buf := range c.full {
		PutBuffer(buf)
	}
	if c.last != nil {
		PutBuffer(c.last)
	}
	c.full, c.last, c.used, c.held = nil, nil, 0, 0
}
