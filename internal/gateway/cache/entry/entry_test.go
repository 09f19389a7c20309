package entry_test

import (
	"bytes"
	"errors"
	"reflect"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"sluice/internal/gateway/cache/cachekey"
	"sluice/internal/gateway/cache/entry"
	"sluice/internal/kernel/llm"
	"sluice/internal/kernel/sealed"
	"sluice/internal/kernel/wire"
)

var created = time.Date(2026, 11, 28, 12, 0, 0, 0, time.UTC)

func sample() *entry.Entry {
	return &entry.Entry{
		Endpoint: llm.ChatComplete, Status: 200, ContentType: "application/json",
		Header: wire.Header{{Name: "openai-version", Value: "2020-10-01"}}, Body: []byte(`{"choices":[{"message":{"content":"secret text"}}]}`),
		Usage: llm.Usage{InputTokens: 3, OutputTokens: 5, AudioSeconds: 1.5, Tier: "flex", Reported: true}, CostNano: 1200, Latency: time.Second,
		Provider: "openai", Model: "gpt-4o-2024", Created: created, Expires: created.Add(time.Hour),
		Tags:       entry.Tags{Organisation: "org-1", Workspace: "ws-1", APIKey: "key-1", Namespace: "n", Config: "c-1", Model: "gpt-4o"},
		Guardrails: []string{"gr-1@2"}, Matched: "what is it",
	}
}

// fill sets every number, text, flag and time of v to a value that is not zero.
func fill(v reflect.Value) {
	switch {
	case v.Type() == reflect.TypeFor[time.Time]():
		v.Set(reflect.ValueOf(created))
	case v.Kind() == reflect.Struct:
		for i := range v.NumField() {
			fill(v.Field(i))
		}
	case v.Kind() == reflect.Array:
		for i := range v.Len() {
			fill(v.Index(i))
		}
	case v.Kind() == reflect.Slice && v.Type().Elem().Kind() != reflect.Uint8:
		v.Set(reflect.MakeSlice(v.Type(), 2, 2))
		fill(v.Index(0))
		fill(v.Index(1))
	case v.Kind() == reflect.Slice:
		v.SetBytes([]byte("body"))
	case v.Kind() == reflect.String:
		v.SetString("text")
	case v.Kind() == reflect.Bool:
		v.SetBool(true)
	case v.CanInt():
		v.SetInt(1<<40 + 7)
	case v.CanFloat():
		v.SetFloat(2.25)
	}
}

func TestEveryFieldOfAnEntryIsEncoded(t *testing.T) {
	t.Parallel()
	var want entry.Entry
	fill(reflect.ValueOf(&want).Elem())
	b, err := want.Append(nil)
	if err != nil {
		t.Fatal(err)
	}
	got, err := entry.Decode(b)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(&want, got); diff != "" {
		t.Error(diff)
	}
}

func TestEntriesComeBackAsTheyWere(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		want := sample()
		want.Body = rapid.SliceOf(rapid.Byte()).Draw(t, "body")
		want.Guardrails = rapid.SliceOfN(rapid.String(), 0, 5).Draw(t, "guardrails")
		want.Usage.OutputTokens = rapid.Int64().Draw(t, "tokens")
		want.Header = nil
		for name, value := range rapid.MapOfN(rapid.String(), rapid.String(), 0, 4).Draw(t, "header") {
			want.Header = append(want.Header, wire.Field{Name: name, Value: value})
		}
		b, err := want.Append([]byte("before"))
		if err != nil {
			t.Fatal(err)
		}
		got, err := entry.Decode(b[len("before"):])
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
			t.Error(diff)
		}
	})
}

func TestAChangedByteIsCorrupt(t *testing.T) {
	t.Parallel()
	good, err := sample().Append(nil)
	if err != nil {
		t.Fatal(err)
	}
	for i := range good {
		b := bytes.Clone(good)
		b[i] ^= 0x20
		if _, err := entry.Decode(b); !errors.Is(err, entry.ErrCorrupt) {
			t.Errorf("with byte %d changed: %v", i, err)
		}
		if _, err := entry.Decode(good[:i]); !errors.Is(err, entry.ErrCorrupt) {
			t.Errorf("of %d bytes: %v", i, err)
		}
	}
}

func TestEntriesBeyondTheLimitsAreNotEncoded(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*entry.Entry){
		"headers":    func(e *entry.Entry) { e.Header = make(wire.Header, 65) },
		"guardrails": func(e *entry.Entry) { e.Guardrails = make([]string, 257) },
		"body":       func(e *entry.Entry) { e.Body = make([]byte, entry.MaxBytes) },
	} {
		e := sample()
		change(e)
		if _, err := e.Append(nil); err == nil {
			t.Errorf("an entry with too many %s was encoded", name)
		}
	}
}

func TestEnvelopesOpenOnlyUnderTheirKey(t *testing.T) {
	t.Parallel()
	box, err := sealed.NewBox([]byte("0123456789abcdef"))
	if err != nil {
		t.Fatal(err)
	}
	key, other := cachekey.Key{1}, cachekey.Key{2}
	b, err := entry.Envelope(box, key, sample())
	if err != nil {
		t.Fatal(err)
	}
	if bytes.Contains(b, []byte("secret")) || bytes.Contains(b, []byte("org-1")) {
		t.Error("a sealed envelope shows its content")
	}
	got, err := entry.Open(box, key, b)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(sample(), got); diff != "" {
		t.Error(diff)
	}
	if _, err := entry.Open(box, other, b); err == nil {
		t.Error("an envelope opens under another key")
	}
	for i := range b {
		changed := bytes.Clone(b)
		changed[i] ^= 1
		if _, err := entry.Open(box, key, changed); err == nil {
			t.Errorf("an envelope opens with byte %d changed", i)
		}
	}
}

func TestEnvelopesNeedNoSealer(t *testing.T) {
	t.Parallel()
	b, err := entry.Envelope(nil, cachekey.Key{1}, sample())
	if err != nil {
		t.Fatal(err)
	}
	got, err := entry.Open(nil, cachekey.Key{1}, b)
	if err != nil || !cmp.Equal(sample(), got) {
		t.Error(err, cmp.Diff(sample(), got))
	}
	head, err := entry.ReadHead(b[:entry.HeadBytes])
	if err != nil || !head.Created.Equal(created) || !head.Expires.Equal(created.Add(time.Hour)) || head.Digests != sample().Tags.Digests() {
		t.Errorf("head %+v, %v", head, err)
	}
}

func TestFiltersSelectEntriesOfOneOrganisation(t *testing.T) {
	t.Parallel()
	tags := sample().Tags
	digests := tags.Digests()
	for _, c := range []struct {
		name   string
		filter entry.Filter
		want   bool
	}{
		{"nothing", entry.Filter{}, false},
		{"no organisation", entry.Filter{Model: "gpt-4o"}, false},
		{"organisation", entry.Filter{Organisation: "org-1"}, true},
		{"another organisation", entry.Filter{Organisation: "org-2", Model: "gpt-4o"}, false},
		{"workspace", entry.Filter{Organisation: "org-1", Workspace: "ws-1"}, true},
		{"another workspace", entry.Filter{Organisation: "org-1", Workspace: "ws-2"}, false},
		{"key", entry.Filter{Organisation: "org-1", APIKey: "key-1"}, true},
		{"another key", entry.Filter{Organisation: "org-1", APIKey: "key-2"}, false},
		{"a key by the name of the model", entry.Filter{Organisation: "org-1", APIKey: "gpt-4o"}, false},
		{"all", entry.Filter{Organisation: "org-1", Workspace: "ws-1", APIKey: "key-1", Namespace: "n", Config: "c-1", Model: "gpt-4o", Before: created.Add(1)}, true},
		{"all but one", entry.Filter{Organisation: "org-1", Workspace: "ws-1", APIKey: "key-1", Namespace: "n", Config: "c-2", Model: "gpt-4o"}, false},
		{"older", entry.Filter{Organisation: "org-1", Before: created.Add(time.Second)}, true},
		{"newer", entry.Filter{Organisation: "org-1", Before: created}, false},
	} {
		if got := c.filter.Matcher().Matches(&digests, created); got != c.want {
			t.Errorf("%s: got %v", c.name, got)
		}
	}
}

func FuzzDecodeNeverPanics(f *testing.F) {
	b, err := sample().Append(nil)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(b)
	f.Fuzz(func(t *testing.T, b []byte) {
		e, err := entry.Decode(b)
		if err != nil && !errors.Is(err, entry.ErrCorrupt) {
			t.Errorf("got %v", err)
		}
		if err == nil && e.Size() <= 0 {
			t.Error("an entry without a size")
		}
		_, _ = entry.Open(nil, cachekey.Key{}, b)
	})
}
