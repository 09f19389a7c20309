package bedrock

import (
	"sluice/internal/dialect"
	"sluice/internal/llm"
)

// textStream reads an InvokeModelWithResponseStream of a model that goes on from a
// text. It belongs to one goroutine.
type textStream struct {
	native *native
	in     dialect.FrameReader
	inner  []byte // the event in a frame
	told   bool   // why the answer ended
	over   bool
}

// sink takes what a stream says. Behind end and fail nothing comes.
type sink interface {
	say(s outputText)
	end(u llm.Usage) // not Reported where nothing was told
	fail(e dialect.Exception)
}

func (s *textStream) feed(p []byte, to sink) error {
	return s.in.Feed(p, func(f *dialect.Frame) error { return s.frame(f, to) })
}

// close ends a stream that told why the answer ended but not what it used.
func (s *textStream) close(to sink) error {
	if err := s.in.Close(); err != nil {
		return err
	}
	if s.told && !s.over {
		s.over = true
		to.end(llm.Usage{})
	}
	return nil
}

func (s *textStream) frame(f *dialect.Frame, to sink) (err error) {
	if s.over {
		return nil
	}
	if e, ok := f.Exception(); ok {
		s.over = true
		to.fail(e)
		return nil
	}
	if s.inner, err = f.Inner(s.inner[:0]); err != nil || len(s.inner) == 0 {
		return err
	}
	for _, said := range s.native.outputTexts(s.inner) {
		s.told = s.told || said.word != ""
		to.say(said)
	}
	if u, ok := metricsUsage(s.inner); ok { // the last event, whether it tells why or not
		s.over = true
		to.end(u)
	}
	return nil
}
