package dialect

import "sluice/internal/llm"

// Done reports whether the surface's last event has come, so that what Feed just
// returned is the end of the answer.
func (s *Stream) Done() bool { return s.watch.done }

// Usage is what the stream has said so far about what the call used.
func (s *Stream) Usage() llm.Usage { return s.watch.counts.usage() }

// Model is the model that the stream named; empty until it did.
func (s *Stream) Model() string { return s.watch.model }
