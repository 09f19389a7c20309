package dialecttest

import (
	"io"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"sluice/internal/dialect"
	"sluice/internal/kernel/fault"
	"sluice/internal/kernel/llm"
)

// RequestCase is a request to a unified endpoint, and what becomes of it.
type RequestCase struct {
	Name    string
	Request dialect.Request
	Want    string   // the provider's body; with Query the query instead
	Dropped []string // what is named as lost
	Param   string   // of the refusal fault.InvalidParameter; empty: none
}

// Requests proves what a unified endpoint asks its provider for.
func Requests(t *testing.T, u dialect.OpenAIEndpoint, to *dialect.Target, cases []RequestCase) {
	t.Helper()
	for i := range cases {
		c := &cases[i]
		out, err := u.EncodeRequest(t.Context(), &c.Request, to)
		switch {
		case c.Param != "":
			if f := fault.From(err); err == nil || f.Code != fault.InvalidParameter || f.Param != c.Param {
				t.Errorf("%s: got %v, want a refusal of %s", c.Name, err, c.Param)
			}
		case err != nil:
			t.Errorf("%s: %v", c.Name, err)
		case string(out.Body)+out.Query != c.Want || !slices.Equal(out.Dropped, c.Dropped):
			t.Errorf("%s: lost %q\ngot  %s\nwant %s", c.Name, out.Dropped, string(out.Body)+out.Query, c.Want)
		}
	}
}

// JSON is a request with a body alone.
func JSON(body string) dialect.Request { return dialect.Request{Body: []byte(body)} }

// ResponseCase is an answer of a provider, and what the caller gets.
type ResponseCase struct {
	Name  string
	Sent  dialect.Request
	Body  string
	More  []string
	Want  string // empty: it is refused with fault.UpstreamInvalid
	Usage llm.Usage
}

// Responses proves what a unified endpoint makes of its provider's answers. They come at
// second 1795176000.
func Responses(t *testing.T, u dialect.OpenAIEndpoint, to *dialect.Target, cases []ResponseCase) {
	t.Helper()
	for i := range cases {
		c := &cases[i]
		incoming := &dialect.Incoming{Status: 200, Body: []byte(c.Body), Sent: &c.Sent, To: to, Created: 1795176000}
		for _, m := range c.More {
			incoming.More = append(incoming.More, []byte(m))
		}
		a, err := u.TranslateResponse(incoming)
		switch {
		case c.Want == "":
			if !fault.Has(err, fault.UpstreamInvalid) {
				t.Errorf("%s: got %v, want a refusal", c.Name, err)
			}
		case err != nil:
			t.Errorf("%s: %v", c.Name, err)
		case string(a.Body) != c.Want || a.Usage != c.Usage:
			t.Errorf("%s: usage %+v\ngot  %s\nwant %s", c.Name, a.Usage, a.Body, c.Want)
		}
	}
}

// File is what becomes of a file that a dialect turns into the caller's as it is read, in
// small pieces.
func File(t testing.TB, turn func(io.Reader) io.Reader, file string) string {
	t.Helper()
	out, err := io.ReadAll(turn(iotest.OneByteReader(strings.NewReader(file))))
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}
