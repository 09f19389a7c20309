package e2e

import (
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tidwall/gjson"
)

// handoverLimit is how soon another node has finished the export of one that was killed: its
// lease lives 30 seconds, orders are looked for every 30, and then all rows are written anew
// on a machine that may be busy.
const handoverLimit = 4 * time.Minute

// An export whose node is killed in the middle of it is taken over, begun anew and finished
// by another node, and every row of either node is in its file once. The node that comes
// back serves the same file, and keeps nothing of its own.
func TestExportOfAKilledNodeGoesOn(t *testing.T) {
	t.Parallel()
	const each = 300 // rows of a node, of 40 KiB: 24 MiB, and an export counts what it has by 8
	storage, objects := oneLog(t)
	a, b := start(t, storage), start(t, storage)
	want := a.recordCustom("first", each, 40<<10)
	maps.Copy(want, b.recordCustom("second", each, 40<<10))
	eventually(t, startLimit, "all rows are listed", func() bool {
		return a.call("GET", "/v1/logs?page_size=1", "").want(t, 200).get("total").Int() == 2*each
	})

	order := a.call("POST", "/v1/logs/exports", `{"filters":{},"requested_data":["id","request"]}`).want(t, 200)
	path := "/v1/logs/exports/" + order.get("id").String()
	a.call("POST", path+"/start", "").want(t, 200)
	var seen callResult
	eventually(t, startLimit, "the export is under way", func() bool {
		seen = b.call("GET", path, "").want(t, 200)
		return seen.get("rows_written").Int() > 0
	})
	a.child.kill()
	seen = b.call("GET", path, "").want(t, 200)
	if done := seen.get("rows_written").Int(); seen.get("status").String() != "in_progress" || done >= 2*each {
		t.Fatalf("the export was over before its node was killed: %s", seen.Body)
	}
	first := seen.get("node").String()
	eventually(t, handoverLimit, "the other node has finished the export", func() bool {
		seen = b.call("GET", path, "").want(t, 200)
		return seen.get("status").String() != "in_progress"
	})
	if seen.get("status").String() != "success" || seen.get("rows_written").Int() != 2*each || seen.get("node").String() == first {
		t.Fatalf("the export ended as %s, by node %s", seen.Body, first)
	}

	file := b.exported(path)
	got := map[string]string{}
	for line := range strings.Lines(file) {
		row := gjson.Parse(line)
		id := row.Get("id").String()
		if _, twice := got[id]; twice {
			t.Errorf("row %s is in the file twice", id)
		}
		got[id] = row.Get("request.body.messages.0.content").String()
	}
	if !maps.Equal(got, want) {
		t.Errorf("the file has %d rows, want %d; of them others, or with other bodies: %s", len(got), len(want), firstDifference(got, want))
	}
	runs := map[string]bool{} // that left objects
	for _, key := range stored(t, objects) {
		if rest, ok := strings.CutPrefix(key, "/logs/gateway/exports/"+order.get("id").String()+"/"); ok {
			run, _, _ := strings.Cut(rest, "/")
			runs[run] = true
		}
	}
	if len(runs) != 1 {
		t.Errorf("runs %v are in the bucket, want one", slices.Collect(maps.Keys(runs)))
	}

	a = a.again()
	if a.exported(path) != file {
		t.Error("the node that was killed serves another file when it is back")
	}
	eventually(t, startLimit, "the half file of the killed node is gone", func() bool {
		left, err := filepath.Glob(filepath.Join(a.dir, "exports", "*"))
		return err == nil && len(left) == 0
	})
}

// recordCustom puts calls on record that were made elsewhere, each with a question of some
// bytes, and returns the questions by the id of their log.
func (g *gateway) recordCustom(label string, n, size int) map[string]string {
	g.t.Helper()
	questions := make(map[string]string, n)
	for len(questions) < n {
		var entries, texts []string
		for len(texts) < min(n-len(questions), 100) { // a call takes 16 MiB
			text := fmt.Sprintf("question %d of the %s ", len(questions)+len(texts), label)
			texts = append(texts, strings.Repeat(text, size/len(text)))
			entries = append(entries, fmt.Sprintf(`{"request":{"url":"https://llm.example/v1/chat/completions","provider":"openai",
				"body":{"model":"gpt-4o","messages":[{"role":"user","content":%q}]}},"response":{"body":{"choices":[]}}}`, texts[len(texts)-1]))
		}
		for i, id := range g.call("POST", "/v1/logs", "["+strings.Join(entries, ",")+"]").want(g.t, 200).get("ids").Array() {
			questions[id.String()] = texts[i]
		}
	}
	return questions
}

// firstDifference shows one entry that two maps do not share.
func firstDifference(got, want map[string]string) string {
	for _, id := range slices.Sorted(maps.Keys(want)) {
		if got[id] != want[id] {
			return fmt.Sprintf("%s is %.60q of %d bytes, want %.60q of %d", id, got[id], len(got[id]), want[id], len(want[id]))
		}
	}
	return "one that nobody recorded"
}
