package bedrock

import (
	"sluice/internal/dialect"
	"sluice/internal/llm"
)

// textStream reads an InvokeModelWithResponseStream of a model that goes on from a
// text. It belongs to one goroutine.
type textStream struct {
	native   *native
	frames   dialect.FrameReader
	inner    []byte // the event in a frame
	finished bool   // why the answer ended
	done     bool
}

// sink takes what a stream says. Behind end and fail nothing comes.
type sink interface {
	write(s outputText)
	end(u llm.Usage) // not Reported where nothing was told
	fail(e dialect.Exception)
}

func (s *textStream) feed(p []byte, to sink) error {
	return s.frames.Feed(p, func(f *dialect.Frame) error { return s.frame(f, to) })
}

// close ends a stream that told why the answer ended but not what it used.
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
	if u, ok := metricsUsage(s.inner); ok { // the last event, whether it tells why or not
		s.done = true
		to.end(u)
	}
	return nil
}
