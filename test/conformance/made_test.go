package conformance

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"
)

// What the gateway itself puts into an answer: ids that it makes where the provider
// gave none, and the time where the provider tells none.
var (
	madeID   = regexp.MustCompile(`\b([a-z]+[-_])[0-9A-Za-z]{24,26}(\b|__thought__)`) // a signature may follow
	madeTime = regexp.MustCompile(`("created(?:_at)?":)([0-9]{10})\b`)
)

// steady gives what the gateway made the same value in every run: ids are numbered in
// their order, so that one id stays one, and times are noon. What stands in the request
// or in what the provider said stays as it is.
func steady(response message, known ...string) message {
	knownText := strings.Join(known, "\n")
	ids := map[string]string{}
	response.body = madeID.ReplaceAllStringFunc(response.body, func(id string) string {
		m := madeID.FindStringSubmatch(id)
		id = strings.TrimSuffix(id, m[2])
		if strings.Contains(knownText, id) {
			return id + m[2]
		}
		if ids[id] == "" {
			ids[id] = fmt.Sprintf("%smade-%d", m[1], len(ids)+1)
		}
		return ids[id] + m[2]
	})
	response.body = madeTime.ReplaceAllStringFunc(response.body, func(member string) string {
		m := madeTime.FindStringSubmatch(member)
		made, _ := strconv.ParseInt(m[2], 10, 64) // ten digits
		if strings.Contains(knownText, m[2]) || time.Since(time.Unix(made, 0)).Abs() > time.Hour {
			return member
		}
		return m[1] + strconv.FormatInt(noon{}.Now().Unix(), 10)
	})
	response.body = requestID.ReplaceAllString(response.body, `${1}uuid-made-1"`)
	return response
}

// requestID is the id of a request in an error on messages.
var requestID = regexp.MustCompile(`("request_id":")[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f-]{17}"`)

// madeUUID is an id that the gateway makes for something that it sends.
var madeUUID = regexp.MustCompile(`\b[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}\b`)

// steadyRequest does for a request to the provider what steady does for an answer.
func steadyRequest(m message, known ...string) message {
	knownText := strings.Join(known, "\n")
	made := 0
	number := func(id string) string {
		if strings.Contains(knownText, id) {
			return id
		}
		made++
		return fmt.Sprintf("uuid-made-%d", made)
	}
	m.first = madeUUID.ReplaceAllStringFunc(m.first, number)
	m.body = madeUUID.ReplaceAllStringFunc(m.body, number)
	return m
}

func TestSteady(t *testing.T) {
	t.Parallel()
	now := strconv.FormatInt(time.Now().Unix(), 10)
	body := `{"id":"chatcmpl-0123456789abcdef0123456789","x":"call_0123456789abcdef01234567","created":` + now + `,"created_at":1700000000}` + "\n" +
		`{"id":"chatcmpl-0123456789abcdef0123456789","y":"call_abcdefghijklmnopqrstuvwx"}`
	want := `{"id":"chatcmpl-made-1","x":"call_0123456789abcdef01234567","created":1795176000,"created_at":1700000000}` + "\n" +
		`{"id":"chatcmpl-made-1","y":"call_made-2"}`
	if got := steady(message{body: body}, `{"id":"call_0123456789abcdef01234567"}`).body; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if got := steady(message{body: `{"created":` + now + `}`}, now).body; got != `{"created":`+now+`}` {
		t.Errorf("a time that the provider told became %s", got)
	}
}

func TestSteadyRequest(t *testing.T) {
	t.Parallel()
	const known, made = "0199c2a4-5b6d-7e8f-9a0b-1c2d3e4f5a6b", "0199c2a4-5b6d-7e8f-9a0b-1c2d3e4f5a6c"
	m := steadyRequest(message{first: "POST https://a/b?name=" + made, body: known + " " + made}, known)
	if m.first != "POST https://a/b?name=uuid-made-1" || m.body != known+" uuid-made-2" {
		t.Errorf("%+v", m)
	}
}
