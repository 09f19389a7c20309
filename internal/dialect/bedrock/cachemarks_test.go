package bedrock_test

import (
	"slices"
	"strings"
	"testing"

	"sluice/internal/dialect"
)

const (
	mark5m  = `,"cache_control":{"type":"ephemeral"}`
	mark1h  = `,"cache_control":{"type":"ephemeral","ttl":"1h"}`
	point5m = `{"cachePoint":{"type":"default"}}`
	point1h = `{"cachePoint":{"type":"default","ttl":"1h"}}`
)

func TestConverse_EveryMarkKeepsItsHour(t *testing.T) {
	t.Parallel()
	to := &dialect.Target{Model: sonnet, Value: values(nil)}
	out, err := encode(t, to, `{"messages":[{"role":"system","content":[{"type":"text","text":"s"`+mark1h+`}]},{"role":"user","content":"q"},`+
		`{"role":"assistant","tool_calls":[{"id":"c","type":"function","function":{"name":"w","arguments":"{}"}}]},`+
		`{"role":"tool","tool_call_id":"c","content":[{"type":"text","text":"r"`+mark1h+`}]},{"role":"user","content":[{"type":"text","text":"go on"`+mark1h+`}]}],`+
		`"tools":[{"type":"function","function":{"name":"w"}`+mark1h+`}]}`)
	if err != nil {
		t.Fatal(err)
	}
	body := string(out.Body)
	for _, want := range []string{
		`"system":[{"text":"s"},` + point1h + `]`,
		`{"toolResult":{"toolUseId":"c","content":[{"text":"r"}]}},` + point1h + `,{"text":"go on"},` + point1h + `]`,
		`"inputSchema":{"json":{"type":"object"}}}},` + point1h + `]`,
	} {
		if !strings.Contains(body, want) {
			t.Errorf("got %s\nwant %s in it", body, want)
		}
	}
	if len(out.Dropped) > 0 {
		t.Errorf("dropped %q", out.Dropped)
	}
}

func TestConverse_NoHourFollowsFiveMinutes(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		model, chat, points string
		dropped             []string
	}{
		"five minutes on the tools": {
			sonnet, `{"messages":[{"role":"system","content":[{"type":"text","text":"s"` + mark1h + `}]},{"role":"user","content":[{"type":"text","text":"q"` + mark5m + `}]}],"tools":[{"type":"function","function":{"name":"w"}` + mark5m + `}]}`,
			"system 1h, messages 5m", []string{"tools[0].cache_control"},
		},
		"late instructions, which come first here": {
			sonnet, `{"messages":[{"role":"user","content":[{"type":"text","text":"q"` + mark1h + `}]},{"role":"system","content":[{"type":"text","text":"s"` + mark5m + `}]}]}`,
			"messages 1h", []string{"messages[1]", "messages[1].content[0].cache_control"},
		},
		"a model that has five minutes only": {
			"us.anthropic.claude-sonnet-4-20250514-v1:0", `{"messages":[{"role":"system","content":[{"type":"text","text":"s"` + mark1h + `}]},{"role":"user","content":[{"type":"text","text":"q"` + mark5m + `}]}]}`,
			"system 5m, messages 5m", []string{"messages[0].content[0].cache_control.ttl"},
		},
		"Nova": {
			nova, `{"messages":[{"role":"system","content":[{"type":"text","text":"s"` + mark1h + `}]},{"role":"user","content":"q"}],"tools":[{"type":"function","function":{"name":"w"}` + mark1h + `}]}`,
			"system 5m", []string{"messages[0].content[0].cache_control.ttl", "tools[0].cache_control"},
		},
	} {
		out, err := encode(t, &dialect.Target{Model: c.model, Value: values(nil)}, c.chat)
		if err != nil {
			t.Fatal(err)
		}
		if got := points(out.Body); got != c.points || !slices.Equal(out.Dropped, c.dropped) {
			t.Errorf("%s: got %s, dropped %q, want %s and %q: %s", name, got, out.Dropped, c.points, c.dropped, out.Body)
		}
	}
}

// points lists the cache points of a body in its order, each with its part of the prompt.
func points(body []byte) string {
	var list []string
	part := ""
	for rest := string(body); rest != ""; rest = rest[1:] {
		for _, name := range []string{"system", "messages", "toolConfig"} {
			if strings.HasPrefix(rest, `"`+name+`":`) {
				part = name
			}
		}
		switch {
		case strings.HasPrefix(rest, point5m):
			list = append(list, part+" 5m")
		case strings.HasPrefix(rest, point1h):
			list = append(list, part+" 1h")
		}
	}
	return strings.Join(list, ", ")
}

func TestConverse_NoCachePointFollowsReasoning(t *testing.T) {
	t.Parallel()
	out, err := encode(t, &dialect.Target{Model: sonnet, Value: values(nil)}, `{"messages":[{"role":"user","content":"q"},{"role":"assistant","content_blocks":[`+
		`{"type":"thinking","thinking":"t","signature":"sig="`+mark5m+`},{"type":"text","text":"a"`+mark5m+`}]},{"role":"user","content":"r"}]}`)
	if err != nil {
		t.Fatal(err)
	}
	if got := points(out.Body); got != "messages 5m" || !strings.Contains(string(out.Body), `{"text":"a"},`+point5m) || !slices.Contains(out.Dropped, "messages[1].content[0].cache_control") {
		t.Errorf("got %s, dropped %q: %s", got, out.Dropped, out.Body)
	}
}

func TestConverse_ACachePointFollowsPDFsOnly(t *testing.T) {
	t.Parallel()
	for mime, want := range map[string]string{"application/pdf": "messages 5m, messages 5m", "text/csv": "messages 5m"} {
		out, err := encode(t, &dialect.Target{Model: sonnet, Value: values(nil)}, `{"messages":[{"role":"user","content":[{"type":"text","text":"a"`+mark5m+`},`+
			`{"type":"file","file":{"filename":"f","file_data":"data:`+mime+`;base64,QQ=="}`+mark5m+`}]}]}`)
		if err != nil {
			t.Fatal(err)
		}
		dropped := slices.Contains(out.Dropped, "messages[0].content[1].cache_control")
		if got := points(out.Body); got != want || dropped != (mime == "text/csv") {
			t.Errorf("%s: got %s, dropped %q, want %s: %s", mime, got, out.Dropped, want, out.Body)
		}
	}
}
