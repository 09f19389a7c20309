package stability

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"mime/multipart"
	"net/textproto"
	"strconv"
	"strings"

	"sluice/internal/dialect"
	"sluice/internal/dialect/fields"
	"sluice/internal/dialect/images"
	"sluice/internal/dialect/media"
	"sluice/internal/kernel/fault"
	"sluice/internal/kernel/jsonedit"
	"sluice/internal/kernel/llm"
	"sluice/internal/kernel/wire"
)

// form translates for the models since version 1, which take a form and return JSON.
// Source: https://platform.stability.ai/docs/api-reference#tag/Generate, read 2026-11;
// contract/provider-transforms.md 7.9.
type form struct{}

var _ dialect.OpenAIEndpoint = form{}

// formFields are the fields of the form that are strings and numbers.
var formFields = []fields.Alias{
	{To: "negative_prompt"}, {To: "aspect_ratio"}, {To: "seed"},
	{To: "style_preset", From: []string{"style_preset", "style"}}, {To: "mode"}, {To: "output_format"},
	{To: "strength"}, {To: "cfg_scale"},
}

// formImages is the maximum number of images in one request. Each image is a separate call,
// because the API generates one at a time. (ours)
const formImages = 10

// EncodeRequest builds the form. Models of the Stable Diffusion 3 family, such as
// "sd3.5-large", share an address and are named in the form.
func (form) EncodeRequest(ctx context.Context, r *dialect.Request, to *dialect.Target) (*dialect.Outgoing, error) {
	t := fields.Track(r.Body)
	prompt, err := images.ReadPrompt(t)
	if err != nil {
		return nil, err
	}
	count, err := pictures(t)
	if err != nil {
		return nil, err
	}
	f := &formWriter{}
	f.add("prompt", prompt)
	for _, field := range formFields {
		if raw := field.Take(t); raw != nil {
			f.add(field.To, raw)
		}
	}
	if raw, ok := t.Consume("image"); ok {
		if err := f.image(ctx, raw, to); err != nil {
			return nil, err
		}
	}
	out := &dialect.Outgoing{}
	if strings.HasPrefix(to.Model, "sd3") && to.Model != "sd3" {
		out.Path = "/v2beta/stable-image/generate/sd3"
		f.add("model", jsonedit.Quote(to.Model))
	}
	var contentType string
	out.Body, contentType = f.close()
	out.Header.Add("content-type", contentType)
	out.Header.Add("accept", "application/json")
	for range count - 1 {
		out.More = append(out.More, out.Body)
	}
	images.Base64Only(t)
	out.Dropped = t.Dropped()
	return out, nil
}

// pictures returns the number of requested images.
func pictures(t *llm.FieldTracker) (int, error) {
	raw, ok := t.Consume("n")
	if !ok {
		return 1, nil
	}
	n, err := strconv.Atoi(string(raw))
	if err != nil || n < 1 || n > formImages {
		return 0, fault.Newf(fault.InvalidParameter, "n must be a number from 1 to %d", formImages).WithParam("n")
	}
	return n, nil
}

// formWriter builds a form whose boundary depends only on its content, so that the same request
// has the same bytes each time.
type formWriter struct {
	names  []string
	parts  [][]byte
	types  []string // content types of files
	digest []byte
}

// add adds a field with a raw JSON value. It removes the quotes of a string and leaves
// anything else unchanged.
func (f *formWriter) add(name string, raw []byte) {
	text, ok := jsonedit.Unquote(raw)
	if !ok {
		text = string(raw)
	}
	f.part(name, []byte(text), "")
}

func (f *formWriter) part(name string, data []byte, contentType string) {
	f.names, f.parts, f.types = append(f.names, name), append(f.parts, data), append(f.types, contentType)
	h := sha256.New()
	h.Write(f.digest)
	h.Write([]byte(name))
	h.Write(data)
	f.digest = h.Sum(nil)
}

// image adds the initial image: base64, a data URL or a URL.
func (f *formWriter) image(ctx context.Context, raw []byte, to *dialect.Target) error {
	text, ok := jsonedit.Unquote(raw)
	if !ok {
		return fault.New(fault.InvalidParameter, "image must be a string: base64, a data URL or a URL").WithParam("image")
	}
	if strings.HasPrefix(text, "https://") || strings.HasPrefix(text, "http://") {
		mime, data, err := to.Fetch(ctx, text)
		if err != nil {
			return fault.From(err).WithParam("image")
		}
		f.part("image", data, mime)
		return nil
	}
	mime, data, inside, err := media.DataURL(text)
	if !inside {
		mime, data, err = "application/octet-stream", text, media.CheckBase64(text)
	}
	if err == nil && !wire.ValidValue(mime) {
		err = fault.New(fault.InvalidParameter, "the data URL has a type with control characters")
	}
	if err != nil {
		return fault.From(err).WithParam("image")
	}
	bin, err := base64.RawStdEncoding.DecodeString(strings.TrimRight(data, "="))
	if err != nil {
		return fault.New(fault.InvalidParameter, "image must be base64").WithParam("image").WithCause(err)
	}
	f.part("image", bin, mime)
	return nil
}

// close returns the form and its content type.
func (f *formWriter) close() (body []byte, contentType string) {
	var buf bytes.Buffer
	w := multipart.NewWriter(&buf)
	_ = w.SetBoundary("form-" + hex.EncodeToString(f.digest)) // hexadecimal digits cannot be refused
	for i, name := range f.names {
		head := textproto.MIMEHeader{"Content-Disposition": {`form-data; name="` + name + `"`}}
		if f.types[i] != "" {
			head = textproto.MIMEHeader{"Content-Disposition": {`form-data; name="` + name + `"; filename="` + name + `"`}, "Content-Type": {f.types[i]}}
		}
		part, _ := w.CreatePart(head) // neither can fail: the buffer takes everything
		_, _ = part.Write(f.parts[i])
	}
	_ = w.Close()
	return buf.Bytes(), w.FormDataContentType()
}

// TranslateResponse reads {"image":…,"finish_reason":"SUCCESS","seed":1}, one for each call.
func (form) TranslateResponse(incoming *dialect.Incoming) (*dialect.Response, error) {
	m := images.Result{Created: incoming.Created, Items: []images.Item{image(incoming.Body, "image", "finish_reason")}}
	for _, body := range incoming.More {
		m.Items = append(m.Items, image(body, "image", "finish_reason"))
	}
	return m.BuildResponse()
}
