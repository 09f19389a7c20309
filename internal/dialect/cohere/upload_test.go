package cohere_test

import (
	"bytes"
	"context"
	"io"
	"mime"
	"mime/multipart"
	"regexp"
	"strings"
	"testing"

	"sluice/internal/dialect"
	"sluice/internal/dialect/dialecttest"
	"sluice/internal/kernel/fault"
	"sluice/internal/kernel/llm"
	"sluice/internal/kernel/wire"
)

// form is a caller's upload of a file with that text.
func form(t *testing.T, text string) *dialect.Request {
	t.Helper()
	var body bytes.Buffer
	w := multipart.NewWriter(&body)
	_ = w.WriteField("purpose", "batch")
	_ = w.WriteField("expires_after", "1")
	f, _ := w.CreateFormFile("file", "rows & more.jsonl")
	_, _ = io.WriteString(f, text)
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return dialecttest.Upload(t, &dialect.Request{Endpoint: llm.UploadFile, ContentType: w.FormDataContentType(), Payload: wire.Bytes(body.Bytes())})
}

var uuid = regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}`)

func TestUpload(t *testing.T) {
	t.Parallel()
	const lines = `{"custom_id":"1","method":"POST","url":"/v1/embeddings","body":{"model":"m","input":"a\nb"}}` + "\n\n" +
		`{"custom_id":"2","body":{"input":["c"]}}` + "\r\n" + `{"text":"d"}`
	r := form(t, lines)
	out, err := unified(llm.UploadFile).EncodeRequest(context.Background(), r, target)
	if err != nil {
		t.Fatal(err)
	}
	if got := uuid.ReplaceAllString(out.Query, "U"); got != "name=rows+%26+more-U" || len(out.Dropped) != 1 || out.Dropped[0] != "expires_after" {
		t.Errorf("query %s, lost %q", got, out.Dropped)
	}
	dialecttest.LoadBody(t, out)
	_, params, err := mime.ParseMediaType(out.Header.Get("content-type"))
	if err != nil {
		t.Fatal(err)
	}
	p, err := multipart.NewReader(bytes.NewReader(out.Body), params["boundary"]).NextPart()
	if err != nil {
		t.Fatal(err)
	}
	rows, _ := io.ReadAll(p)
	want := `{"custom_id":"1","text":"a\nb","id":"U"}` + "\n" + `{"custom_id":"2","text":"c","id":"U"}` + "\n" + `{"text":"d","id":"U"}` + "\n"
	if got := uuid.ReplaceAllString(string(rows), "U"); p.FormName() != "data" || p.FileName() != "rows.jsonl" || got != want {
		t.Errorf("%s %s\n%s\nwant\n%s", p.FormName(), p.FileName(), got, want)
	}
	a, err := unified(llm.UploadFile).TranslateResponse(&dialect.Incoming{Body: []byte(`{"id":"d1"}`), Created: 9, Sent: r, To: target})
	if err != nil {
		t.Fatal(err)
	}
	if got := string(a.Body); got != `{"id":"d1","object":"file","bytes":`+length(lines)+`,"created_at":9,"filename":"rows & more.jsonl","purpose":"batch","status":"uploaded"}` {
		t.Errorf("answered %s", got)
	}
}

func TestUploadRefuses(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"{\"text\":\"a\"}\nnot json\n":     "line 2",
		`{"body":{"input":["a","b"]}}`:     "line 1",
		`{"body":{"messages":[]}}`:         "line 1",
		"{\"text\":\"a\"}\n{\"text\":5}\n": "line 2",
	} {
		_, err := unified(llm.UploadFile).EncodeRequest(context.Background(), form(t, text), target)
		if f := fault.From(err); err == nil || f.Param != "file" || !strings.Contains(f.Public, want) {
			t.Errorf("%s: %v", text, err)
		}
	}
	r := form(t, `{"text":"a"}`)
	r.Form = nil
	if _, err := unified(llm.UploadFile).EncodeRequest(context.Background(), r, target); !fault.Has(err, fault.InvalidRequest) {
		t.Errorf("no form: %v", err)
	}
}
