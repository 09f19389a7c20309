package dialect

import "sluice/internal/kernel/llm"

// Done reports whether the surface's last event has arrived, so that the bytes that Feed just
// returned end the response.
func (s *Stream) Done() bool { return s.watch.done }

// Usage is the usage that the stream has reported so far.
func (s *Stream) Usage() llm.Usage { return s.watch.counts.Usage() }

// Model is the model that the stream named, empty until then.
func (s *Stream) Model() string { return s.watch.model }
