package bedrock

import (
	"sluice/internal/dialect"
	"sluice/internal/kernel/llm"
)

// textStream reads an InvokeModelWithResponseStream of a model that continues a text. It is not safe
// for concurrent use.
type textStream struct {
	native   *native
	frames   dialect.FrameReader
	inner    []byte // the event in the current frame
	finished bool   // a finish reason has arrived
	done     bool
}

// sink receives the content of a stream. No call follows end or fail.
type sink interface {
	write(s outputText)
	end(u llm.Usage) // Reported is false when the stream contained no usage
	fail(e dialect.Exception)
}

func (s *textStream) feed(p []byte, to sink) error {
	return s.frames.Feed(p, func(f *dialect.Frame) error { return s.frame(f, to) })
}

// close ends a stream that contained a finish reason but no usage.
func (s *textStream) close(to sink) error {
	if err := s.frames.Close(); err != nil {
		return err
	}
	if s.finished && !s.done {
		s.done = true
		to.end(llm.Usage{})
	}
	return nil
}

func (s *textStream) frame(f *dialect.Frame, to sink) (err error) {
	if s.done {
		return nil
	}
	if e, ok := f.Exception(); ok {
		s.done = true
		to.fail(e)
		return nil
	}
	if s.inner, err = f.Inner(s.inner[:0]); err != nil || len(s.inner) == 0 {
		return err
	}
	for _, text := range s.native.outputTexts(s.inner) {
		s.finished = s.finished || text.reason != ""
		to.write(text)
	}
	if u, ok := metricsUsage(s.inner); ok { // the last event, with or without a finish reason
		s.done = true
		to.end(u)
	}
	return nil
}
