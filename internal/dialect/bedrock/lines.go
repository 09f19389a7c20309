package bedrock

import (
	"context"
	"errors"
	"strings"

	"sluice/internal/dialect"
	"sluice/internal/dialect/conversation"
	"sluice/internal/dialect/jsonwriter"
	"sluice/internal/kernel/fault"
	"sluice/internal/kernel/ident"
	"sluice/internal/kernel/jsonedit"
	"sluice/internal/kernel/llm"
)

// newID returns the part of an object id that follows its prefix: 26 characters.
func newID() string { return strings.ReplaceAll(ident.NewID(), "-", "")[:26] }

// batchLine translates a line of a batch, {"custom_id":"1","body":{…}}, into a record of the job:
// {"recordId":"1","modelInput":{…}}. A line that is already a record remains unchanged. The function
// calls reportDropped with the paths that were dropped from a body.
func batchLine(ctx context.Context, r *dialect.Request, to *dialect.Target, reportDropped func(paths []string)) func(dst, line []byte) ([]byte, error) {
	return func(dst, line []byte) ([]byte, error) {
		if _, ok := jsonedit.Find(line, "modelInput"); ok {
			return append(dst, line...), nil
		}
		body, ok := jsonedit.Find(line, "body")
		if !ok {
			return dst, errors.New("has no body")
		}
		if url := jsonedit.Text(line, "url"); url != "" && url != chatPath {
			return dst, errors.New("must have the url " + chatPath + "; this provider supports no other url in batches")
		}
		c, err := r.Lines.Client.DecodeCall(body)
		if err != nil {
			return dst, err
		}
		c.Stream = false
		input, err := modelInput(ctx, c, to, r.Lines)
		if err != nil {
			return dst, err
		}
		reportDropped(input.Dropped)
		w := jsonwriter.AppendTo(dst)
		w.Open('{')
		if id, ok := jsonedit.Find(line, "custom_id"); ok {
			w.Raw("recordId", id)
		}
		w.Raw("modelInput", input.Body)
		w.Close('}')
		return w.B, nil
	}
}

// modelInput returns a call in the native format of the model's family.
// Source: contract/provider-transforms.md 3.12.
func modelInput(ctx context.Context, c *llm.Call, to *dialect.Target, lines *dialect.FileLines) (*dialect.Outgoing, error) {
	id, family := foundation(to.Underlying()), familyOf(to.Underlying())
	switch {
	case family == anthropic && lines.Messages != nil:
		out, err := lines.Messages.EncodeCall(ctx, c, to)
		if err == nil {
			out.Body, _ = claudeBody(out.Body, to, 0) // Claude's encoder wrote it, so no tool is strict
		}
		return out, err
	case strings.HasPrefix(id, "amazon.nova"): // whose native format is that of Converse
		return converseUpstream{}.EncodeCall(ctx, c, to)
	case natives[family] == nil || family == anthropic:
		return nil, fault.New(fault.NotSupported, "batches are not supported for this model by bedrock").WithParam("model")
	}
	t := llm.NewTally(c)
	prompt, err := promptOf(t, c, id)
	if err != nil {
		return nil, err
	}
	conversation.DropTools(t, c)
	conversation.DropFormat(t, c)
	body := natives[family].encode(t, prompt, false)
	return &dialect.Outgoing{Body: body, Dropped: t.Dropped()}, nil
}

// promptOf returns a conversation as one text for the model to continue.
func promptOf(t *llm.FieldTracker, c *llm.Call, id string) (string, error) {
	turns, err := turnsOf(t, c)
	switch {
	case err != nil:
		return "", err
	case strings.Contains(id, "llama2"):
		return llama2(turns), nil
	case strings.HasPrefix(id, meta+"."):
		return llama3(turns), nil
	case strings.HasPrefix(id, mistr+"."):
		return mistral(turns), nil
	}
	return transcriptPrompt(turns), nil
}
