package e2e

import (
	"bufio"
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tidwall/gjson"

	"sluice/internal/storage/requestlog/clickhousetest"
	"sluice/internal/storage/sqlstore/storetest"
	"sluice/internal/test/upstream"
)

// oneLog are the settings of nodes that share all that can be shared: the control plane, the
// rows of the log and their bodies. It returns the directory of the bucket too.
func oneLog(t *testing.T) (storage option, objects string) {
	t.Helper()
	rows := clickhousetest.Start(t)
	bucket, objects := objectStore(t)
	control := withDatabase(storetest.Postgres(t))
	return func(l *launch) {
		control(l)
		bucket(l)
		with("ANALYTICS_STORE_URL="+rows.URL, "ANALYTICS_STORE_USER="+clickhousetest.User, "ANALYTICS_STORE_PASSWORD="+clickhousetest.Password)(l)
	}, objects
}

// Two nodes on one PostgreSQL, one ClickHouse and one bucket have one log: what either
// served is listed, grouped, read with its bodies, followed and exported at the other.
func TestTwoNodesHaveOneLog(t *testing.T) {
	t.Parallel()
	storage, objects := oneLog(t)
	nodes := []*gateway{start(t, storage), start(t, storage)}
	up := upstream.Start(t)
	var tails []*follower
	for _, g := range nodes {
		tails = append(tails, g.follow(t))
	}
	began := time.Now().UTC().Truncate(time.Hour)
	ids := make([]string, 2)
	for i, g := range nodes {
		ids[i] = g.chat(custom(up)...).Header.Get("x-gateway-request-id")
	}
	for i, g := range nodes {
		eventually(t, logLimit, "both calls are listed on both nodes", func() bool {
			list := g.loggedIDs()
			return len(list) == 2 && slices.Contains(list, ids[0]) && slices.Contains(list, ids[1])
		})
		other := g.call("GET", "/v1/logs/"+ids[1-i], "").want(t, 200)
		if !strings.Contains(other.get("request.body").Raw, "Hello there") || !strings.Contains(other.get("response.body").Raw, "You said") {
			t.Errorf("the call of the other node is shown as %s", other.Body)
		}
		path := "/v1/analytics/groups/model?time_of_generation_min=" + began.Format(time.RFC3339) + "&time_of_generation_max=" + began.Add(2*time.Hour).Format(time.RFC3339)
		if groups := g.call("GET", path, "").want(t, 200); groups.get("data.0.requests").Int() != 2 || groups.get("total").Int() != 1 {
			t.Errorf("groups on node %d: %s", i, groups.Body)
		}
		if found := g.search("hello THERE"); len(found) != 2 {
			t.Errorf("the search on node %d finds %v", i, found)
		}
		if rows := tails[i].next(t, 2); !slices.Contains(rows, ids[0]) || !slices.Contains(rows, ids[1]) {
			t.Errorf("who follows the log of node %d was told of %v, want %v", i, rows, ids)
		}
	}

	order := nodes[0].call("POST", "/v1/logs/exports", `{"filters":{},"requested_data":["id","request","response_status_code"]}`).want(t, 200)
	path := "/v1/logs/exports/" + order.get("id").String()
	nodes[0].call("POST", path+"/start", "").want(t, 200)
	eventually(t, logLimit, "the export is done", func() bool { return nodes[1].call("GET", path, "").get("status").String() == "success" })
	nodes[0].stop()
	body := nodes[1].exported(path)
	for line := range strings.Lines(body) {
		if row := gjson.Parse(line); !slices.Contains(ids, row.Get("id").String()) || !strings.Contains(row.Get("request.body").Raw, "Hello there") {
			t.Errorf("the file has the line %s", line)
		}
	}
	if strings.Count(body, "\n") != 2 {
		t.Errorf("the file is %s", body)
	}
	if !slices.ContainsFunc(stored(t, objects), func(key string) bool { return strings.HasPrefix(key, "/logs/gateway/exports/") }) {
		t.Errorf("in the bucket are %v", stored(t, objects))
	}
}

// exported is the file of the export at a path, as a node serves it.
func (g *gateway) exported(path string) string {
	g.t.Helper()
	link := g.call("GET", path+"/download", "").want(g.t, 200).get("signed_url").String()
	_, query, _ := strings.Cut(link, "/file?")
	return g.call("GET", path+"/file?"+query, "", "x-gateway-api-key").want(g.t, 200).Body // the address has the port that was set, which is any
}

// follower is a follower of the log of a node.
type follower struct{ lines *bufio.Scanner }

// follow begins to follow the log; it ends with the test.
func (g *gateway) follow(t *testing.T) *follower {
	t.Helper()
	ctx, stop := context.WithTimeout(t.Context(), 5*time.Minute) // a bound for a tail that says nothing
	t.Cleanup(stop)
	res, err := g.send(ctx, "GET", "/v1/logs/stream", "")
	if err != nil || res.StatusCode != 200 {
		t.Fatalf("follow the log: %v %+v", err, res)
	}
	t.Cleanup(func() { _ = res.Body.Close() }) // it was read
	return &follower{bufio.NewScanner(res.Body)}
}

// next are the ids of the next n rows.
func (f *follower) next(t *testing.T, n int) (ids []string) {
	t.Helper()
	for len(ids) < n && f.lines.Scan() {
		if data, ok := strings.CutPrefix(f.lines.Text(), "data: "); ok {
			ids = append(ids, gjson.Get(data, "id").String())
		}
	}
	if len(ids) < n {
		t.Fatalf("the tail ended behind %v: %v", ids, f.lines.Err())
	}
	return ids
}
