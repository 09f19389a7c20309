package bedrock

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"strconv"
	"strings"

	"sluice/internal/dialect"
	"sluice/internal/fault"
	"sluice/internal/ident"
	"sluice/internal/llm"
	"sluice/internal/splice"
)

// lineMax is the largest line of a file: 32 MiB, room for images in base64.
const lineMax = 32 << 20

// newID is what the shapes put behind their prefixes: 26 characters.
func newID() string { return strings.ReplaceAll(ident.NewID(), "-", "")[:26] }

// rewrite turns each line of a file by each and gathers what comes of them. A line that
// is no JSON object is fault.InvalidParameter; so are errors of each, with the number of
// the line before their text.
func rewrite(file io.Reader, each func(dst, line []byte) ([]byte, error)) ([]byte, error) {
	var out []byte
	lines := bufio.NewScanner(file)
	lines.Buffer(make([]byte, 0, 64<<10), lineMax)
	for n := 1; lines.Scan(); n++ {
		line := bytes.TrimSpace(lines.Bytes())
		if len(line) == 0 {
			continue
		}
		if !splice.Valid(line) {
			return nil, badLine(n, errors.New("is not a JSON object"))
		}
		var err error
		if out, err = each(out, line); err != nil {
			return nil, badLine(n, err)
		}
		out = append(out, '\n')
	}
	if errors.Is(lines.Err(), bufio.ErrTooLong) {
		return nil, fault.Newf(fault.TooLarge, "the file has a line of more than %d bytes", lineMax)
	}
	return out, lines.Err()
}

func badLine(n int, err error) error {
	text := err.Error()
	var f *fault.Error
	if errors.As(err, &f) {
		text = "cannot be sent: " + f.Text()
	}
	return fault.New(fault.InvalidParameter, "line "+strconv.Itoa(n)+" of the file "+text).At("file")
}

// batchLine turns a line of a batch, {"custom_id":"1","body":{…}}, into a record of the
// job: {"recordId":"1","modelInput":{…}}. A line that is a record already stays as it is.
// Lost is told what of the bodies is left out.
func batchLine(ctx context.Context, r *dialect.Request, to *dialect.Target, lost func(paths []string)) func(dst, line []byte) ([]byte, error) {
	return func(dst, line []byte) ([]byte, error) {
		if _, ok := splice.Find(line, "modelInput"); ok {
			return append(dst, line...), nil
		}
		body, ok := splice.Find(line, "body")
		if !ok {
			return dst, errors.New("has no body")
		}
		if url := splice.Text(line, "url"); url != "" && url != chatPath {
			return dst, errors.New("has another url than " + chatPath + ", which alone this provider takes in batches")
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
		lost(input.Lost)
		w := dialect.On(dst)
		w.Open('{')
		if id, ok := splice.Find(line, "custom_id"); ok {
			w.Raw("recordId", id)
		}
		w.Raw("modelInput", input.Body)
		w.Close('}')
		return w.B, nil
	}
}

// modelInput is a call in the native form of the model's family.
// Source: contract/provider-transforms.md 3.12.
func modelInput(ctx context.Context, c *llm.Call, to *dialect.Target, lines *dialect.FileLines) (*dialect.Outgoing, error) {
	id, family := foundation(to.Underlying()), familyOf(to.Underlying())
	switch {
	case family == claude && lines.Messages != nil:
		out, err := lines.Messages.EncodeCall(ctx, c, to)
		if err == nil {
			out.Body = claudeBody(out.Body, to, 0)
		}
		return out, err
	case strings.HasPrefix(id, "amazon.nova"): // whose own form is that of Converse
		return conversation{}.EncodeCall(ctx, c, to)
	case natives[family] == nil || family == claude:
		return nil, fault.New(fault.NotSupported, "batches are not supported for this model by bedrock").At("model")
	}
	t := llm.NewTally(c)
	prompt, err := promptOf(t, c, id)
	if err != nil {
		return nil, err
	}
	dialect.LoseTools(t, c)
	dialect.LoseFormat(t, c)
	body := natives[family].encode(t, prompt, false)
	return &dialect.Outgoing{Body: body, Lost: t.Lost()}, nil
}

// promptOf writes a conversation as the one text that a model goes on from.
func promptOf(t *llm.Tally, c *llm.Call, id string) (string, error) {
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
	return dialogue(turns), nil
}
