package tokens

// meter counts texts one after another within limits of work.
type meter struct {
	load          func() *vocabulary
	exact, sample int // bytes that may still be counted
	bytes, tokens int64
	extrapolated  bool
}

// These are the samples of a text that is not counted completely.
const (
	sampleChunkBytes = 4 << 10
	maxSampleChunks  = 16
)

// count returns the number of tokens of s, an approximation once the limits are reached.
func (m *meter) count(s string) int64 {
	switch {
	case s == "":
		return 0
	case len(s) <= m.exact:
		m.exact -= len(s)
		return m.counted(len(s), m.load().tokens(s))
	}
	m.extrapolated = true
	if m.sample < sampleChunkBytes {
		return m.extrapolate(len(s))
	}
	return m.sampled(s)
}

// sampled estimates the tokens of s from evenly spaced chunks.
func (m *meter) sampled(s string) int64 {
	chunks := min(maxSampleChunks, m.sample/sampleChunkBytes, (len(s)+sampleChunkBytes-1)/sampleChunkBytes)
	stride := len(s) / chunks
	size := min(stride, sampleChunkBytes)
	var n int64
	for i := range chunks {
		n += m.load().tokens(s[i*stride : i*stride+size])
	}
	m.sample -= chunks * size
	m.counted(chunks*size, n)
	return (n*int64(len(s)) + int64(chunks*size) - 1) / int64(chunks*size)
}

// extrapolate returns the tokens of that many bytes at the rate of the text so far, or one for
// each byte if there is none.
func (m *meter) extrapolate(size int) int64 {
	if m.bytes == 0 {
		return int64(size)
	}
	return (int64(size)*m.tokens + m.bytes - 1) / m.bytes
}

func (m *meter) counted(size int, n int64) int64 {
	m.bytes += int64(size)
	m.tokens += n
	return n
}
