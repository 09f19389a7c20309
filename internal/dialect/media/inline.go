package media

import (
	"bytes"
	"cmp"
	"context"
	"strconv"
	"strings"

	"sluice/internal/dialect/jsonwriter"
	"sluice/internal/kernel/fault"
	"sluice/internal/kernel/jsonedit"
)

// Fetch downloads a caller's URL. It returns the type, possibly with parameters, and the bytes.
type Fetch func(ctx context.Context, url string) (mime string, data []byte, err error)

// Inline replaces the URLs of images and documents in a request of messages with their bytes, for
// hosts of Claude that do not fetch URLs: Bedrock and Vertex AI. It returns the body itself if it
// contains no URL. A URL that cannot be fetched is rejected with its path,
// "messages[0].content[1]".
// Source: https://github.com/anthropics/anthropic-sdk-typescript/issues/1038, read 2026-11.
func Inline(ctx context.Context, body []byte, fetch Fetch) ([]byte, error) {
	if !bytes.Contains(body, []byte(`"url"`)) {
		return body, nil
	}
	inl := inliner{w: jsonwriter.Writer{B: make([]byte, 0, len(body)+jsonwriter.InitialCapacity)}}
	if fetch != nil {
		inl.fetch = func(url string) (string, []byte, error) { return fetch(ctx, url) }
	}
	if err := inl.members(body, "", "messages"); err != nil {
		return nil, err
	}
	if !inl.changed {
		return body, nil
	}
	return inl.w.B, nil
}

// inliner copies one body.
type inliner struct {
	fetch   func(url string) (mime string, data []byte, err error)
	w       jsonwriter.Writer
	changed bool
}

// members copies an object. In the members with the given names it searches for media.
func (inl *inliner) members(raw []byte, path string, names ...string) error {
	inl.w.Open('{')
	for name, val := range jsonedit.Members(raw) {
		inl.w.RawKey(name)
		if err := inl.member(raw, name, val, path, names); err != nil {
			return err
		}
	}
	inl.w.Close('}')
	return nil
}

func (inl *inliner) member(raw, name, val []byte, path string, names []string) error {
	for _, n := range names {
		switch {
		case !jsonedit.IsName(name, n):
		case val[0] == '[':
			return inl.list(val, strings.TrimPrefix(path+"."+n, "."))
		case n == "source" && val[0] == '{':
			return inl.source(raw, val, path)
		}
	}
	inl.w.Value(val)
	return nil
}

// list copies messages or the blocks of one. It does not change the arguments of tools.
func (inl *inliner) list(raw []byte, path string) error {
	inl.w.Open('[')
	i := 0
	for val := range jsonedit.Elements(raw) {
		if val[0] != '{' || !bytes.Contains(val, []byte(`"url"`)) {
			inl.w.Value(val)
		} else if err := inl.members(val, path+"["+strconv.Itoa(i)+"]", "content", "source"); err != nil {
			return err
		}
		i++
	}
	inl.w.Close(']')
	return nil
}

// source copies the source of a block's medium, {"type":"url","url":"https://…"}, or the blocks of
// a document.
func (inl *inliner) source(block, source []byte, path string) error {
	if jsonedit.Text(source, "type") != "url" {
		return inl.members(source, path+".source", "content")
	}
	url := jsonedit.Text(source, "url")
	if inl.fetch == nil {
		return fault.New(fault.InvalidParameter, "the provider does not support URLs; send the file as base64 instead").WithParam(path)
	}
	mime, data, err := inl.fetch(url)
	if err != nil {
		return fault.From(err).WithParam(path)
	}
	if mime, err = typeOf(jsonedit.Text(block, "type"), mime, url); err != nil {
		return fault.From(err).WithParam(path)
	}
	inl.changed = true
	inl.w.Open('{')
	if mime == "text/plain" {
		inl.w.Str("type", "text")
		inl.w.Str("media_type", mime)
		inl.w.Str("data", string(data))
	} else {
		inl.w.Str("type", "base64")
		inl.w.Str("media_type", mime)
		inl.w.Str("data", Base64(data))
	}
	inl.w.Close('}')
	return nil
}

// typeOf is the type of a fetched medium. It is the type that the host declares, if the block may
// have that type. Otherwise an image gets the type of its file name, and a document is a PDF.
func typeOf(block, declared, url string) (string, error) {
	declared, _, _ = strings.Cut(declared, ";")
	declared = strings.ToLower(strings.TrimSpace(declared))
	if block == "image" {
		if strings.HasPrefix(declared, "image/") {
			return declared, nil
		}
		if mime := MIMEOf(url); strings.HasPrefix(mime, "image/") {
			return mime, nil
		}
		return "", fault.New(fault.InvalidParameter, "the URL of an image returned another file type; send the image as base64 instead")
	}
	if declared != "application/pdf" && declared != "text/plain" {
		declared = ""
	}
	return cmp.Or(declared, "application/pdf"), nil
}
