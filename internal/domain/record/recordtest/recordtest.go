// Package recordtest makes attempts for tests.
package recordtest

import (
	"fmt"
	"reflect"
	"strings"
	"time"

	"pgregory.net/rapid"

	"sluice/internal/domain/record"
	"sluice/internal/kernel/llm"
)

// Ids of the tenants in Chat.
const (
	Org       = "0191f3a0-0000-7000-8000-000000000001"
	Workspace = "0191f3a0-0000-7000-8000-000000000002"
	Key       = "0191f3a0-0000-7000-8000-000000000003"
)

// Epoch is when Chat(0) started.
var Epoch = time.Date(2026, 11, 20, 9, 30, 0, 0, time.UTC)

// Chat is the n-th of a row of chats, 10 ms apart: ids of its own, a body of
// about 700 bytes and an answer of about 1 KB.
func Chat(n int) *record.Attempt {
	started := Epoch.Add(time.Duration(n) * 10 * time.Millisecond)
	request := fmt.Sprintf(`{"model":"gpt-4o-mini","messages":[{"role":"system","content":"You answer in one sentence."},`+
		`{"role":"user","content":"Question %d: %s"}]}`, n, strings.Repeat("what is the tide at the lock today? ", 16))
	response := fmt.Sprintf(`{"id":"chatcmpl-%d","object":"chat.completion","model":"gpt-4o-mini-2024-07-18","choices":[{"index":0,`+
		`"message":{"role":"assistant","content":"%s"},"finish_reason":"stop"}],"usage":{"prompt_tokens":120,"completion_tokens":48,"total_tokens":168}}`,
		n, strings.Repeat(fmt.Sprintf("The water stands at %d cm. ", n%400), 30))
	return &record.Attempt{
		ID: ID(started, n), RequestID: ID(started, n+1<<40), TraceID: ID(started, n+1<<41),
		Started: started, Duration: 812*time.Millisecond + time.Duration(n)*time.Microsecond, FirstByte: 300 * time.Millisecond,
		OrgID: Org, WorkspaceID: Workspace, KeyID: Key, KeyName: "production", ConfigID: "pc-routing-3f9x2a",
		TargetPath: "config.targets[1]", Provider: "openai", ProviderID: "openai-main", Model: "gpt-4o-mini",
		ResponseModel: "gpt-4o-mini-2024-07-18", Endpoint: llm.ChatComplete, Method: "POST", Path: "/v1/chat/completions",
		UpstreamURL: "https://api.openai.com/v1/chat/completions", Status: 200, Upstream: 200, Outcome: record.OK,
		CacheStatus: "DISABLED", Usage: llm.Usage{InputTokens: 120, OutputTokens: 48, TotalTokens: 168, Reported: true},
		Metadata: map[string]string{"_user": "alice@example.com", "team": "search"},
		BytesIn:  int64(len(request)), BytesOut: int64(len(response)), Remote: "10.1.2.3",
		Request:  record.Body{Type: "application/json", Bytes: []byte(request), Size: int64(len(request))},
		Response: record.Body{Type: "application/json", Bytes: []byte(response), Size: int64(len(response))},
	}
}

// ID is a UUID of version 7 with a time and a number in it.
func ID(at time.Time, n int) string {
	ms := at.UnixMilli()
	return fmt.Sprintf("%08x-%04x-7000-8000-%012x", ms>>16&0xffffffff, ms&0xffff, n)
}

// Full is an attempt whose every field has a value of its own, so that one that is
// forgotten somewhere shows. A field of a kind it does not know panics.
func Full() *record.Attempt {
	a := new(record.Attempt)
	n := 0
	fill(reflect.ValueOf(a).Elem(), &n)
	a.ID, a.RequestID, a.TraceID = ID(Epoch, 1), ID(Epoch, 2), ID(Epoch, 3)
	return a
}

func fill(v reflect.Value, n *int) {
	*n++
	switch {
	case v.Type() == reflect.TypeFor[time.Time]():
		v.Set(reflect.ValueOf(Epoch.Add(time.Duration(*n) * time.Microsecond)))
	case v.Type() == reflect.TypeFor[time.Duration]():
		v.SetInt(int64(*n) * int64(time.Microsecond))
	case v.Kind() == reflect.Struct:
		for i := range v.NumField() {
			if isStored(v.Type().Field(i)) {
				fill(v.Field(i), n)
			}
		}
	case v.Kind() == reflect.String:
		v.SetString(fmt.Sprintf("text-%d", *n))
	case v.CanInt():
		v.SetInt(int64(*n))
	case v.CanFloat():
		v.SetFloat(float64(*n) + 0.25)
	case v.Kind() == reflect.Bool:
		v.SetBool(true)
	case v.Type() == reflect.TypeFor[[]byte]():
		v.SetBytes(fmt.Appendf(nil, "bytes-%d", *n))
	case v.Type() == reflect.TypeFor[map[string]string]():
		v.Set(reflect.ValueOf(map[string]string{"key": fmt.Sprint(*n)}))
	default:
		panic("recordtest: no value for " + v.Type().String())
	}
}

// isStored reports whether a record has a place for a field: what of a usage only its bill depends on
// is kept with that, in catalog.Basis.
func isStored(f reflect.StructField) bool { return f.Tag.Get("json") != "-" }

// Any draws an attempt with arbitrary texts, numbers and bodies; ids are what the
// texts are.
func Any(t *rapid.T) *record.Attempt {
	a := new(record.Attempt)
	draw(t, "attempt", reflect.ValueOf(a).Elem())
	return a
}

func draw(t *rapid.T, name string, v reflect.Value) {
	switch {
	case v.Type() == reflect.TypeFor[time.Time]():
		v.Set(reflect.ValueOf(time.Unix(0, rapid.Int64Range(1, 1<<62).Draw(t, name)).UTC()))
	case v.Kind() == reflect.Struct:
		for i := range v.NumField() {
			if f := v.Type().Field(i); isStored(f) {
				draw(t, name+"."+f.Name, v.Field(i))
			}
		}
	case v.Kind() == reflect.String:
		v.SetString(text().Draw(t, name))
	case v.CanInt():
		limit := int64(1)<<(v.Type().Bits()-1) - 1
		v.SetInt(rapid.Int64Range(-limit-1, limit).Draw(t, name))
	case v.CanFloat():
		v.SetFloat(rapid.Float64().Draw(t, name))
	case v.Kind() == reflect.Bool:
		v.SetBool(rapid.Bool().Draw(t, name))
	case v.Type() == reflect.TypeFor[[]byte]():
		if b := rapid.SliceOfN(rapid.Byte(), 0, 40).Draw(t, name); len(b) > 0 {
			v.SetBytes(b)
		}
	default:
		if m := rapid.MapOfN(text(), text(), 0, 4).Draw(t, name); len(m) > 0 {
			v.Set(reflect.ValueOf(m))
		}
	}
}

// text draws anything a header may carry: bytes that are no UTF-8 among it.
func text() *rapid.Generator[string] {
	return rapid.OneOf(rapid.String(), rapid.Map(rapid.SliceOfN(rapid.Byte(), 0, 12), func(b []byte) string { return string(b) }))
}
