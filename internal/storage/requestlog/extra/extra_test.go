package extra_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"sluice/internal/domain/record"
	"sluice/internal/domain/record/recordtest"
	"sluice/internal/storage/requestlog/extra"
)

// What most calls have is written by hand, and all else by encoding/json: both alike, and
// both come back.
func TestTextComesBack(t *testing.T) {
	t.Parallel()
	for name, a := range map[string]*record.Attempt{
		"nothing":        {},
		"timings":        {Timings: record.Timings{Parsing: 12 * time.Microsecond, Decoding: time.Hour}},
		"named":          {Named: true},
		"both":           {Named: true, Timings: record.Timings{Queue: time.Millisecond}},
		"and more":       {Named: true, Timings: record.Timings{Queue: time.Millisecond}, Error: "broken"},
		"negative":       {Timings: record.Timings{Cache: -time.Second}},
		"everything":     recordtest.Full(),
		"nothing so far": recordtest.Chat(1),
	} {
		var x, decoded extra.Fields
		x.Take(a)
		text, err := x.Text()
		if err != nil {
			t.Fatal(err)
		}
		want, err := json.Marshal(x)
		if err != nil {
			t.Fatal(err)
		}
		if string(want) == "{}" {
			want = nil
		}
		if text != string(want) {
			t.Errorf("%s: %s, want %s", name, text, want)
		}
		if err := decoded.Read(text); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if diff := cmp.Diff(x, decoded); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}
