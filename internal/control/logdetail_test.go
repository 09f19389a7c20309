package control_test

import (
	"encoding/json"
	"net/http/httptest"
	"testing"

	"sluice/internal/domain/record"
	"sluice/internal/storage/sqlstore/storetest"
)

// A log shows what the client sent and got, and what went on with the provider.
func TestLogShowsBothSides(t *testing.T) {
	t.Parallel()
	w := newWorld(t, storetest.Open(t, storetest.SQLite(t)))
	body := func(text, head string) record.Body {
		return record.Body{Type: "application/json", Bytes: []byte(text), Size: int64(len(text)), Head: []byte(head)}
	}
	var first string
	translated := w.putLog(t, func(a *record.Attempt) {
		first = a.ID
		a.Request, a.Response = body(`{"contents":[]}`, "user-agent: sluice\n"), body(`{"candidates":[]}`, "via: 1.1 a\nvia: 1.1 b\n")
		a.Translated, a.ClientRequest, a.ClientResponse = true, body(`{"messages":[]}`, "accept: */*\nx-gateway-provider: google\nauthorization: ***\n"), body(`{"choices":[]}`, "x-gateway-request-id: r\n")
	})
	plain := w.putLog(t, func(a *record.Attempt) {
		a.RequestID, a.Number, a.Named, a.Provider = first, 1, true, "groq"
		a.Request, a.Response = body(`{"messages":[]}`, ""), body(`{"choices":[]}`, "")
	})
	type side struct {
		Headers, GatewayHeaders map[string]string
		Body                    json.RawMessage
	}
	type shown struct {
		Request, Response                    side
		TransformedRequest, OriginalResponse side
		FinalUntransformedRequest            side
		Attempts                             []struct{ ID string }
	}
	read := func(id string) (s shown) {
		t.Helper()
		req, rec := httptest.NewRequest("GET", "/v1/logs/"+id, nil), httptest.NewRecorder()
		req.Header.Set("x-gateway-api-key", w.key("service"))
		w.admin.Handler().ServeHTTP(rec, req)
		if err := json.Unmarshal(rec.Body.Bytes(), &s); err != nil || rec.Code != 200 {
			t.Fatalf("%d %s: %v", rec.Code, rec.Body, err)
		}
		return s
	}
	edited := w.putLog(t, func(a *record.Attempt) {
		a.Request, a.ClientRequest, a.Reshaped, a.Translated = body(`{"contents":[],"temperature":0}`, ""), body(`{"messages":[]}`, ""), body(`{"messages":[],"temperature":0}`, ""), true
	})
	spliced := w.putLog(t, func(a *record.Attempt) {
		a.Request, a.ClientRequest = body(`{"messages":[],"temperature":0}`, ""), body(`{"messages":[]}`, "")
	})
	for id, want := range map[string]string{translated: `{"messages":[]}`, plain: `{"messages":[]}`, edited: `{"messages":[],"temperature":0}`, spliced: `{"messages":[],"temperature":0}`} {
		if got := string(read(id).FinalUntransformedRequest.Body); got != want {
			t.Errorf("before it was put in the provider's words the request is shown as %s, want %s", got, want)
		}
	}
	s := read(translated)
	for got, want := range map[string]string{
		string(s.Request.Body): `{"messages":[]}`, string(s.TransformedRequest.Body): `{"contents":[]}`,
		string(s.OriginalResponse.Body): `{"candidates":[]}`, string(s.Response.Body): `{"choices":[]}`,
		s.Request.Headers["authorization"]: "***", s.Request.GatewayHeaders["x-gateway-provider"]: "google", s.TransformedRequest.Headers["user-agent"]: "sluice",
		s.OriginalResponse.Headers["via"]: "1.1 a, 1.1 b", s.Response.Headers["x-gateway-request-id"]: "r",
	} {
		if got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
	if len(s.Attempts) != 2 || s.Attempts[0].ID != translated || s.Attempts[1].ID != plain {
		t.Errorf("attempts %v, want %s and %s", s.Attempts, translated, plain)
	}
	s = read(plain)
	if string(s.Request.Body) != `{"messages":[]}` || string(s.Response.Body) != `{"choices":[],"provider":"groq"}` || string(s.OriginalResponse.Body) != `{"choices":[]}` {
		t.Errorf("of one shape: %s, %s, %s", s.Request.Body, s.Response.Body, s.OriginalResponse.Body)
	}
}
