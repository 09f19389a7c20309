package marks_test

import (
	"slices"
	"testing"

	"sluice/internal/gateway/promptcache/marks"
)

func TestDrop_RemovesEveryMarkAndNamesIt(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		form       marks.Form
		body, want string
		dropped    []string
	}{
		"Messages": {
			marks.Messages,
			`{` + five + `, "tools":[{"name":"a",` + hour + `}],"system":[{"type":"text","text":"s",` + hour + `}],"messages":[{"role":"user","content":[{` + five + `,"type":"tool_result","content":[{"type":"text","text":"r",` + five + `}]}]}]}`,
			`{"tools":[{"name":"a"}],"system":[{"type":"text","text":"s"}],"messages":[{"role":"user","content":[{"type":"tool_result","content":[{"type":"text","text":"r"}]}]}]}`,
			[]string{"cache_control", "tools[0].cache_control", "system[0].cache_control", "messages[0].content[0].cache_control", "messages[0].content[0].content[0].cache_control"},
		},
		"chat completions": {
			marks.Chat,
			`{"messages":[{"role":"system","content":[{"type":"text","text":"s",` + five + `}]},{"role":"user","content":"q",` + five + `}],"tools":[{"type":"function","function":{"name":"f",` + five + `},` + five + `}]}`,
			`{"messages":[{"role":"system","content":[{"type":"text","text":"s"}]},{"role":"user","content":"q"}],"tools":[{"type":"function","function":{"name":"f"}}]}`,
			[]string{"messages[0].content[0].cache_control", "messages[1].cache_control", "tools[0].function.cache_control", "tools[0].cache_control"},
		},
		"Converse": {
			marks.Converse,
			`{"system":[{"text":"s"},{"cachePoint":{"type":"default","ttl":"1h"}}],"messages":[{"role":"user","content":[{"text":"q"},{"cachePoint":{"type":"default"}},{"text":"r"}]}],"toolConfig":{"tools":[{"toolSpec":{"name":"f"}},{"cachePoint":{"type":"default"}}]}}`,
			`{"system":[{"text":"s"}],"messages":[{"role":"user","content":[{"text":"q"},{"text":"r"}]}],"toolConfig":{"tools":[{"toolSpec":{"name":"f"}}]}}`,
			[]string{"system[1]", "messages[0].content[1]", "toolConfig.tools[1]"},
		},
		"a member of that name in a call": {
			marks.Messages,
			`{"messages":[{"role":"assistant","content":[{"type":"tool_use","input":{` + five + `}}]}]}`,
			`{"messages":[{"role":"assistant","content":[{"type":"tool_use","input":{` + five + `}}]}]}`,
			nil,
		},
		"invalid JSON": {marks.Messages, `{` + five, `{` + five, nil},
	} {
		rest, dropped := marks.Drop([]byte(c.body), c.form)
		if string(rest) != c.want || !slices.Equal(dropped, c.dropped) {
			t.Errorf("%s: dropped %q:\n got %s\nwant %s", name, dropped, rest, c.want)
		}
	}
}
