package record_test

import (
	"bytes"
	"compress/gzip"
	"testing"

	"sluice/internal/domain/record"
)

func TestNeedle(t *testing.T) {
	t.Parallel()
	var zipped bytes.Buffer
	z := gzip.NewWriter(&zipped)
	_, _ = z.Write([]byte("The tide at the Lock"))
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		text, encoding, body string
		found                bool
	}{
		{"tide", "", "the TIDE is high", true},
		{"TIDE at", "", "the tide at noon", true},
		{"tide", "", "ebb", false},
		{`say "hi"`, "", `{"content":"Say \"hi\" now"}`, true},
		{"Caf\u00c9", "", `{"content":"caf\u00e9"}`, true},
		{"caf\u00e9", "", "{\"content\":\"CAF\u00c9\"}", true},
		{"\U0001f30a wave", "", `{"content":"\ud83c\udf0a Wave"}`, true},
		{"a\nb", "", `{"content":"a\nb"}`, true},
		{`<b>"Tom" & Éva</b>`, "", `{"content":"\u003cB\u003e\"Tom\" \u0026 Éva\u003c/b\u003e"}`, true}, // as Go writes it
		{`it's <b>`, "", `{"content":"it\u0027s \u003cb\u003e"}`, true},                                 // as Gson does
		{"https://example.com/Été", "", `{"content":"https:\/\/example.com\/\u00e9t\u00e9"}`, true},     // as PHP does
		{"https://example.com", "", `{"content":"https:\\example.com"}`, false},
		{"the lock", "gzip", zipped.String(), true},
		{"lock", "gzip", "no gzip, but a lock", true},
		{"tide", "", "", false},
	} {
		for i := range 4 {
			var a record.Attempt
			*a.Bodies()[i] = record.Body{Bytes: []byte(c.body), Encoding: c.encoding}
			if found, _ := record.NewNeedle(c.text).Search(&a); found != c.found {
				t.Errorf("%q in %q: %v, want %v", c.text, c.body, found, c.found)
			}
		}
	}
}

// Text is found whatever its letters' case, escaped or not.
func TestSearchEscapedCase(t *testing.T) {
	for _, c := range []struct{ body, text string }{
		{`{"content":"\u041f\u0440\u0438\u0432\u0435\u0442"}`, "Привет"},
		{`{"content":"\u041f\u0440\u0438\u0432\u0435\u0442"}`, "привет"},
		{`{"content":"\u00c9cole"}`, "École"},
		{`cut behind \u00c9cole\u00`, "école"},
	} {
		a := record.Attempt{Request: record.Body{Type: "application/json", Bytes: []byte(c.body)}}
		if found, _ := record.NewNeedle(c.text).Search(&a); !found {
			t.Errorf("%s is not found in %s", c.text, c.body)
		}
	}
}
