package gemini

import (
	"context"
	"errors"
	"slices"
	"strings"

	"sluice/internal/dialect"
	"sluice/internal/dialect/jsonwriter"
	"sluice/internal/kernel/fault"
	"sluice/internal/kernel/jsonedit"
	"sluice/internal/kernel/llm"
	"sluice/internal/kernel/wire"
)

// rows rewrites each line of the file.
func (f *uploaded) rows(ctx context.Context, r *dialect.Request, to *dialect.Target) (wire.Payload, error) {
	model := to.Value("vertex_model_name")
	if model == "" {
		return wire.Payload{}, fault.New(fault.InvalidRequest, "vertex-ai requires the model of the file; send x-gateway-provider-model").WithParam("x-gateway-provider-model")
	}
	if r.Lines == nil {
		return wire.Payload{}, fault.New(fault.NotSupported, "files of chat completions are not supported here")
	}
	rw := rowWriter{lines: r.Lines, model: strings.TrimPrefix(model, "google."), embeds: to.Value("vertex_batch_endpoint") == "/v1/embeddings"}
	out := r.NewSpool()
	err := f.Rewrite(out, func(dst, line []byte) ([]byte, error) {
		row, err := rw.row(ctx, line, f.purpose)
		return append(dst, row...), err
	})
	f.Dropped = append(f.Dropped, rw.dropped...)
	return out.Payload(), err
}

type rowWriter struct {
	lines   *dialect.FileLines
	model   string // "gemini-2.5-flash", "anthropic.claude-sonnet-4-5"
	embeds  bool
	dropped []string // fields of the lines that Gemini does not support, each once
}

// addDropped records the fields that are dropped from a line.
func (rw *rowWriter) addDropped(dropped []string) {
	for _, path := range dropped {
		if fieldPath := "file." + path; !slices.Contains(rw.dropped, fieldPath) && len(rw.dropped) < maxDroppedFields {
			rw.dropped = append(rw.dropped, fieldPath)
		}
	}
}

// maxDroppedFields is the maximum number of dropped fields reported for a file.
const maxDroppedFields = 32

func (rw *rowWriter) row(ctx context.Context, line []byte, purpose string) ([]byte, error) {
	if purpose == purposeFinetune {
		return rw.example(line)
	}
	id, _ := jsonedit.Find(line, "custom_id")
	url, _ := jsonedit.Find(line, "url")
	body, ok := jsonedit.Find(line, "body")
	if !ok {
		return nil, errors.New("has no body")
	}
	var w jsonwriter.Writer
	w.Open('{')
	if strings.HasPrefix(rw.model, claude) {
		request, err := rw.message(ctx, body)
		if err != nil {
			return nil, err
		}
		w.Raw("custom_id", id)
		w.Raw("request", request)
		w.Close('}')
		return w.B, nil
	}
	if rw.embeds || string(url) == `"/v1/embeddings"` {
		input, ok := jsonedit.Find(body, "input")
		if !ok || input[0] != '"' {
			return nil, errors.New("must have a body.input with one string")
		}
		w.Raw("content", input)
	} else {
		request, err := rw.request(body)
		if err != nil {
			return nil, err
		}
		w.Raw("request", request)
	}
	w.Raw(rowID, id)
	w.Close('}')
	return w.B, nil
}

// claude is the prefix of the names of Claude models.
const claude = "anthropic."

// message turns a chat completion request into one for Claude on Vertex AI: Anthropic's
// format, with a version instead of the model.
// Source: https://cloud.google.com/vertex-ai/generative-ai/docs/partner-models/claude/batch,
// read 2026-11.
func (rw *rowWriter) message(ctx context.Context, body []byte) ([]byte, error) {
	c, err := rw.lines.Client.DecodeCall(body)
	if err != nil {
		return nil, err
	}
	model := strings.TrimPrefix(rw.model, claude)
	to := &dialect.Target{Endpoint: llm.Messages, Model: model, Value: func(string) string { return "" }}
	out, err := rw.lines.Messages.EncodeCall(ctx, c, to)
	if err != nil {
		return nil, err
	}
	rw.addDropped(out.Dropped)
	var d jsonedit.Doc
	if err := jsonedit.Scan(out.Body, &d); err != nil {
		return nil, err
	}
	return d.Apply([]jsonedit.Edit{jsonedit.Drop("model"), jsonedit.Drop("stream"), jsonedit.SetDefault("anthropic_version", []byte(`"vertex-2023-10-16"`))}), nil
}

// request turns a chat completion request into a request to generate content.
func (rw *rowWriter) request(body []byte) ([]byte, error) {
	c, err := rw.lines.Client.DecodeCall(body)
	if err != nil {
		return nil, err
	}
	w := newWriter(c, rw.model)
	if err := w.request(); err != nil {
		return nil, err
	}
	rw.addDropped(w.t.Dropped())
	return w.B, nil
}

// example turns a training conversation, {"messages":[…]}, into systemInstruction and
// contents.
// Source: https://cloud.google.com/vertex-ai/generative-ai/docs/models/gemini-supervised-tuning-prepare,
// read 2026-11.
func (rw *rowWriter) example(line []byte) ([]byte, error) {
	c, err := rw.lines.Client.DecodeCall(line)
	if err != nil {
		return nil, err
	}
	w := newWriter(c, rw.model)
	w.Open('{')
	if err := w.conversation(); err != nil {
		return nil, err
	}
	w.tools()
	w.Close('}')
	rw.addDropped(w.t.Dropped())
	return w.B, nil
}
