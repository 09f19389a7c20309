package bedrock

import (
	"context"
	"slices"

	"sluice/internal/dialect"
	"sluice/internal/dialect/fields"
	"sluice/internal/dialect/jsonwriter"
	"sluice/internal/dialect/upstreamerror"
	"sluice/internal/kernel/ident"
	"sluice/internal/kernel/llm"
)

// completion implements text completions, buffered and streamed.
type completion struct{}

var _ dialect.Streamer = completion{}

// EncodeRequest builds the native body of the model's family. A model whose family supports only
// chat is fault.NotSupported.
func (completion) EncodeRequest(_ context.Context, r *dialect.Request, to *dialect.Target) (*dialect.Outgoing, error) {
	n, err := nativeOf(to.Underlying())
	if err != nil {
		return nil, err
	}
	t := fields.Track(r.Body)
	prompt, err := dialect.Prompt(t)
	if err != nil {
		return nil, err
	}
	return &dialect.Outgoing{Body: n.encode(t, prompt, to.Stream), Dropped: t.Dropped()}, nil
}

// TranslateResponse reads a buffered response.
func (completion) TranslateResponse(incoming *dialect.Incoming) (*dialect.Response, error) {
	n, err := nativeOf(incoming.To.Underlying())
	if err != nil {
		return nil, err
	}
	c := dialect.Completion{ID: responseID(incoming.Body), Created: incoming.Created, Model: incoming.To.Model, Usage: n.usage(incoming.Header, incoming.Body)}
	for _, s := range n.outputTexts(incoming.Body) {
		c.Choices = append(c.Choices, dialect.CompletionChoice{Text: s.text, Finish: nativeFinish(s.reason)})
	}
	if len(c.Choices) == 0 {
		return nil, noText()
	}
	return c.BuildResponse(incoming.To.Stream), nil
}

// NewStream returns a translator from the events of a model to chunks of a completion.
func (completion) NewStream(incoming *dialect.Incoming) dialect.StreamTranscoder {
	n, err := nativeOf(incoming.To.Underlying())
	if err != nil { // cannot happen: EncodeRequest rejected the model
		n = natives[cohere]
	}
	var w jsonwriter.Writer
	w.Open('{')
	w.Str("id", ident.NewObjectID("cmpl-"))
	w.Str("object", "text_completion")
	w.Int("created", incoming.Created)
	w.Str("model", incoming.To.Model)
	w.Key("choices").Open('[')
	return &completionStream{stream: textStream{native: n}, head: w.B}
}

// completionStream writes the chunks of one stream. It holds back the finish reason until the
// usage arrives, because the last chunk contains both.
// Source: https://platform.openai.com/docs/api-reference/completions, read 2026-11.
type completionStream struct {
	stream textStream
	head   []byte // the prefix of every chunk
	held   []outputText
	out    []byte
}

// Append translates a part of the stream into chunks.
func (s *completionStream) Append(dst, p []byte) ([]byte, error) {
	s.out = dst
	err := s.stream.feed(p, s)
	return s.out, err
}

// Close ends a stream that did not report its usage.
func (s *completionStream) Close(dst []byte) ([]byte, error) {
	s.out = dst
	err := s.stream.close(s)
	return s.out, err
}

func (s *completionStream) write(t outputText) {
	if t.text != "" {
		s.chunk(&outputText{choice: t.choice, text: t.text}, nil)
	}
	if t.reason != "" && !slices.ContainsFunc(s.held, func(h outputText) bool { return h.choice == t.choice }) {
		s.held = append(s.held, outputText{choice: t.choice, reason: t.reason})
	}
}

func (s *completionStream) end(u llm.Usage) {
	if len(s.held) == 0 {
		s.held = []outputText{{reason: "stop"}}
	}
	for i := range s.held {
		last := i == len(s.held)-1 && u.Reported
		if last {
			s.chunk(&s.held[i], &u)
		} else {
			s.chunk(&s.held[i], nil)
		}
	}
	s.out = append(s.out, "data: [DONE]\n\n"...)
}

func (s *completionStream) fail(e dialect.Exception) {
	s.out = append(s.out, upstreamerror.Event(llm.Complete, e.Message, e.Name)...)
}

func (s *completionStream) chunk(t *outputText, u *llm.Usage) {
	w := jsonwriter.AppendTo(append(append(s.out, "data: "...), s.head...))
	w.Open('{')
	w.Str("text", t.text)
	w.Int("index", int64(t.choice))
	w.Raw("logprobs", []byte("null"))
	if t.reason != "" {
		w.Str("finish_reason", nativeFinish(t.reason).Chat())
	} else {
		w.Raw("finish_reason", []byte("null"))
	}
	w.Close('}')
	w.Close(']')
	if u != nil {
		w.Key("usage").Open('{')
		w.Int("prompt_tokens", u.InputTokens)
		w.Int("completion_tokens", u.OutputTokens)
		w.Int("total_tokens", u.TotalTokens)
		w.Close('}')
	}
	w.Close('}')
	s.out = append(w.B, "\n\n"...)
}
