package dialect

import (
	"cmp"
	"strconv"

	"sluice/internal/dialect/jsonwriter"
	"sluice/internal/kernel/ident"
	"sluice/internal/kernel/jsonedit"
	"sluice/internal/kernel/llm"
)

// CompletionStream converts the events that d reads from a provider's stream into OpenAI's stream
// of a text completion. It relays only text, because such a stream has no field for anything else.
func CompletionStream(incoming *Incoming, d EventDecoder) StreamTranscoder {
	return &completionStream{dec: d, id: ident.NewObjectID("cmpl-"), created: incoming.Created, model: incoming.To.Model}
}

type completionStream struct {
	dec     EventDecoder
	id      string
	created int64
	model   string
	head    []byte // start of every chunk
	usage   []byte
	ended   []held // ended choices, to be emitted with the usage
	dst     []byte
}

// held is the end of a choice.
type held struct {
	index  []byte
	finish string
}

// Append appends the translation of the provider's next bytes.
func (s *completionStream) Append(dst, p []byte) ([]byte, error) {
	s.dst = dst
	err := s.dec.Feed(p, s.event)
	return s.dst, err
}

// Close ends the stream for the decoder.
func (s *completionStream) Close(dst []byte) ([]byte, error) {
	s.dst = dst
	err := s.dec.Close(s.event)
	return s.dst, err
}

func (s *completionStream) event(e *llm.Event) {
	switch e.Kind {
	case llm.EventStart:
		s.start(e)
	case llm.EventText:
		if e.Part == llm.TextPart {
			s.dst = completionChunk(s.dst, s.head, strconv.AppendInt(nil, int64(e.Choice), 10), e.Text, nullJSON, nil)
		}
	case llm.EventFinish:
		s.ended = append(s.ended, held{strconv.AppendInt(nil, int64(e.Choice), 10), e.Finish.Chat()})
	case llm.EventUsage:
		s.usage = completionUsage(e.Usage)
	case llm.EventEnd:
		s.end()
	case llm.EventFault:
		s.fault(e)
	default: // not supported in a text completion
	}
}

// fault emits the error, with the known usage, by which the call is metered.
func (s *completionStream) fault(e *llm.Event) {
	if e.Usage != nil {
		s.usage = completionUsage(e.Usage)
	}
	var w jsonwriter.Writer
	w.Open('{')
	w.Key("error").Open('{')
	w.StrOrNull("code", e.ID)
	w.Str("message", e.Text)
	w.Raw("param", nullJSON)
	w.Str("type", cmp.Or(e.Name, "upstream_error"))
	w.Close('}')
	if s.usage != nil {
		w.Raw("usage", s.usage)
	}
	w.Close('}')
	s.dst = append(append(append(s.dst, "data: "...), w.B...), "\n\n"...)
}

func (s *completionStream) start(e *llm.Event) {
	var w jsonwriter.Writer
	w.Open('{')
	w.Str("id", cmp.Or(e.ID, s.id))
	w.Str("object", "text_completion")
	w.Int("created", s.created)
	w.Str("model", cmp.Or(e.Model, s.model))
	s.head = w.B
}

// end emits the ends of the choices, with the usage in the last one.
func (s *completionStream) end() {
	for i, h := range s.ended {
		var usage []byte
		if i == len(s.ended)-1 {
			usage = s.usage
		}
		s.dst = completionChunk(s.dst, s.head, h.index, "", jsonedit.Quote(h.finish), usage)
	}
	s.dst = append(s.dst, "data: [DONE]\n\n"...)
}

func completionUsage(u *llm.Usage) []byte {
	var w jsonwriter.Writer
	w.Open('{')
	w.Int("prompt_tokens", u.InputTokens)
	w.Int("completion_tokens", u.OutputTokens)
	w.Int("total_tokens", u.TotalTokens)
	w.Close('}')
	return w.B
}
