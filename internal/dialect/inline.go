package dialect

import (
	"bytes"
	"cmp"
	"context"
	"strconv"
	"strings"

	"sluice/internal/fault"
	"sluice/internal/splice"
)

// Fetch gets what a caller's URL names: its type, maybe with parameters, and its bytes.
type Fetch func(ctx context.Context, url string) (mime string, data []byte, err error)

// Inline is a request of messages in which images and documents stand with their bytes where
// the caller named them by URL, for hosts of Claude that fetch nothing: Bedrock and Vertex AI.
// It is the body itself when it names none. What cannot be had is refused at its place,
// "messages[0].content[1]".
// Source: https://github.com/anthropics/anthropic-sdk-typescript/issues/1038, read 2026-11.
func Inline(ctx context.Context, body []byte, fetch Fetch) ([]byte, error) {
	if !bytes.Contains(body, []byte(`"url"`)) {
		return body, nil
	}
	in := inliner{w: JSON{B: make([]byte, 0, len(body)+firstRoom)}}
	if fetch != nil {
		in.fetch = func(url string) (string, []byte, error) { return fetch(ctx, url) }
	}
	if err := in.members(body, "", "messages"); err != nil {
		return nil, err
	}
	if !in.changed {
		return body, nil
	}
	return in.w.B, nil
}

// inliner copies one body.
type inliner struct {
	fetch   func(url string) (mime string, data []byte, err error)
	w       JSON
	changed bool
}

// members copies an object; below the members of the names given, media are looked for.
func (in *inliner) members(raw []byte, at string, names ...string) error {
	in.w.Open('{')
	for name, val := range splice.Members(raw) {
		in.w.rawKey(name)
		if err := in.member(raw, name, val, at, names); err != nil {
			return err
		}
	}
	in.w.Close('}')
	return nil
}

func (in *inliner) member(raw, name, val []byte, at string, names []string) error {
	for _, n := range names {
		switch {
		case !splice.IsName(name, n):
		case val[0] == '[':
			return in.list(val, strings.TrimPrefix(at+"."+n, "."))
		case n == "source" && val[0] == '{':
			return in.source(raw, val, at)
		}
	}
	in.w.Value(val)
	return nil
}

// list copies messages, or the blocks of one. The arguments of a tool are the caller's own.
func (in *inliner) list(raw []byte, at string) error {
	in.w.Open('[')
	i := 0
	for val := range splice.Elements(raw) {
		if val[0] != '{' || !bytes.Contains(val, []byte(`"url"`)) {
			in.w.Value(val)
		} else if err := in.members(val, at+"["+strconv.Itoa(i)+"]", "content", "source"); err != nil {
			return err
		}
		i++
	}
	in.w.Close(']')
	return nil
}

// source copies where a block has its medium, {"type":"url","url":"https://…"}, or the blocks
// that a document is made of.
func (in *inliner) source(block, source []byte, at string) error {
	if splice.Text(source, "type") != "url" {
		return in.members(source, at+".source", "content")
	}
	url := splice.Text(source, "url")
	if in.fetch == nil {
		return fault.New(fault.InvalidParameter, "the provider takes no URLs; send the file as base64 instead").WithParam(at)
	}
	mime, data, err := in.fetch(url)
	if err != nil {
		return fault.From(err).WithParam(at)
	}
	if mime, err = typeOf(splice.Text(block, "type"), mime, url); err != nil {
		return fault.From(err).WithParam(at)
	}
	in.changed = true
	in.w.Open('{')
	if mime == "text/plain" {
		in.w.Str("type", "text")
		in.w.Str("media_type", mime)
		in.w.Str("data", string(data))
	} else {
		in.w.Str("type", "base64")
		in.w.Str("media_type", mime)
		in.w.Str("data", Base64(data))
	}
	in.w.Close('}')
	return nil
}

// typeOf is the type of a fetched medium: as its host says when that is one of the block's,
// else as its name tells, else the one that documents mostly have.
func typeOf(block, said, url string) (string, error) {
	said, _, _ = strings.Cut(said, ";")
	said = strings.ToLower(strings.TrimSpace(said))
	if block == "image" {
		if strings.HasPrefix(said, "image/") {
			return said, nil
		}
		if mime := MIMEOf(url); strings.HasPrefix(mime, "image/") {
			return mime, nil
		}
		return "", fault.New(fault.InvalidParameter, "the URL of an image names something of another type; send it as base64 instead")
	}
	if said != "application/pdf" && said != "text/plain" {
		said = ""
	}
	return cmp.Or(said, "application/pdf"), nil
}
