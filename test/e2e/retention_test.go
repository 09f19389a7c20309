package e2e

import (
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"net/url"
	"strings"
	"testing"
	"time"
)

// endLimit is how soon a node that starts has ended what is due of a few rows, on a machine
// that may be busy.
const endLimit = time.Minute

// noted are two spans of an application that a node put on record at once for a workspace:
// one began days ago, one just now. Each has a text of its own.
type noted struct {
	desk
	old, young         string // ids of their logs
	oldText, youngText string
}

// note puts two spans on record and waits until they are listed.
func (d desk) note(g *gateway, age time.Duration) *noted {
	g.t.Helper()
	n := &noted{desk: d, oldText: rand.Text(), youngText: rand.Text()}
	now := time.Now()
	span := func(text string, at time.Time) (trace, json string) {
		var id [24]byte
		_, _ = rand.Read(id[:]) // never fails
		trace = hex.EncodeToString(id[:16])
		return trace, fmt.Sprintf(`{"traceId":%q,"spanId":%q,"name":"work","startTimeUnixNano":"%d","endTimeUnixNano":"%d","attributes":[{"key":"note","value":{"stringValue":%q}}]}`,
			trace, hex.EncodeToString(id[16:]), at.UnixNano(), at.UnixNano(), text)
	}
	oldTrace, old := span(n.oldText, now.Add(-age))
	youngTrace, young := span(n.youngText, now)
	g.call("POST", "/v1/otel/v1/traces", `{"resourceSpans":[{"scopeSpans":[{"spans":[`+old+`,`+young+`]}]}]}`, d.as()).want(g.t, 200)
	for trace, id := range map[string]*string{oldTrace: &n.old, youngTrace: &n.young} {
		eventually(g.t, logLimit, "the span is listed", func() bool {
			*id = g.call("GET", "/v1/logs?trace_id="+trace, "", d.as()).want(g.t, 200).get("data.0.id").String()
			return *id != ""
		})
	}
	return n
}

// shows reports whether a node shows a log, and whether with its text.
func (d desk) shows(g *gateway, id, text string) (found, complete bool) {
	g.t.Helper()
	a := g.call("GET", "/v1/logs/"+id, "", d.as())
	if a.Status != 404 {
		a.want(g.t, 200)
	}
	return a.Status == 200, strings.Contains(a.Body, text)
}

// counted is how many rows figures are worked out from, and listed how many are in the list.
func (d desk) counted(g *gateway) (counted, listed int64) {
	g.t.Helper()
	now := time.Now().UTC()
	q := url.Values{"time_of_generation_min": {now.AddDate(0, 0, -20).Format(time.RFC3339)}, "time_of_generation_max": {now.Add(time.Hour).Format(time.RFC3339)}}
	return g.call("GET", "/v1/analytics/graphs/requests?"+q.Encode(), "", d.as()).want(g.t, 200).get("summary.total").Int(),
		g.call("GET", "/v1/logs", "", d.as()).want(g.t, 200).get("total").Int()
}

// What workspaces keep for less time than others goes on a shared log when it is due, kind by
// kind, whichever node has it, also what became due while no node ran; everything else stays.
// And what is gone is no longer in the bucket, however the nodes come back.
func TestRetentionOfWorkspacesOnASharedLog(t *testing.T) {
	t.Parallel()
	const age = 5 * 24 * time.Hour
	storage, objects := oneLog(t)
	a, b := start(t, storage), start(t, storage)
	nodes := []*gateway{a, b}
	a.do(adminKey, "PUT", "/v1/organisations/self", object{"workspace_overrides": object{"request_logging": true}})
	logs := map[string][]*noted{} // of both nodes, by workspace
	for _, w := range []struct {
		slug     string
		retained object
	}{{"long", nil}, {"bodies", object{"bodies_days": 2}}, {"rows", object{"rows_days": 2}}, {"metrics", object{"metrics_days": 2}}} {
		d := newDesk(t, nodes, w.slug)
		if w.retained != nil {
			a.do(adminKey, "PUT", "/v1/workspaces/"+w.slug, object{"settings": object{"log_retention": w.retained}})
		}
		for _, g := range nodes {
			logs[w.slug] = append(logs[w.slug], d.note(g, age)) // in an object of its own
		}
	}
	var due, retained []string
	for slug, both := range logs {
		for _, n := range both {
			if retained = append(retained, n.youngText); slug == "long" {
				retained = append(retained, n.oldText)
			} else {
				due = append(due, n.oldText)
			}
		}
	}
	if there := holds(t, objects, append(due, retained...)); len(there) < (len(due)+len(retained))*3/4 {
		t.Fatalf("%d of %d texts are found in the bucket: the search for them says nothing", len(there), len(due)+len(retained))
	}
	a.stop()
	b.stop()

	// as has one node show what is to be of the logs that all nodes recorded.
	as := func(g *gateway, slug string, counted, listed int64, found, complete bool) bool {
		t.Helper()
		n, l := logs[slug][0].counted(g)
		ok := n == counted && l == listed
		for _, n := range logs[slug] {
			f, w := n.shows(g, n.old, n.oldText)
			yf, yw := n.shows(g, n.young, n.youngText)
			ok = ok && f == found && w == complete && yf && yw
		}
		return ok
	}
	a = a.again()
	eventually(t, endLimit, "old entries of both nodes are in no list of the first node", func() bool {
		return as(a, "rows", 4, 2, false, false)
	})
	b = b.again()
	for i, g := range []*gateway{a, b} {
		for _, w := range []struct {
			slug            string
			counted, listed int64
			found, complete bool
		}{{"long", 4, 4, true, true}, {"bodies", 4, 4, true, false}, {"rows", 4, 2, false, false}, {"metrics", 2, 2, false, false}} {
			eventually(t, endLimit, fmt.Sprintf("node %d shows of workspace %q what is kept, and nothing else", i, w.slug), func() bool {
				return as(g, w.slug, w.counted, w.listed, w.found, w.complete)
			})
		}
	}
	if there := holds(t, objects, due); len(there) > 0 {
		t.Errorf("%d texts are still in the bucket that were due", len(there))
	}
	if there := holds(t, objects, retained); len(there) < len(retained)*3/4 {
		t.Errorf("%d of %d texts are found in the bucket that are kept", len(there), len(retained))
	}
}
