package main

import (
	"fmt"

	"sluice/test/bench/load"
	"sluice/test/bench/target"
)

// callers is how many administrators call at a time.
const callers = 50

// ofPlanes are the scenarios of the administration, each twice: as fast as the callers
// can, which tells what one deployment bears, and at a pace that 50 people and their
// tools come to, which tells how long they wait.
func ofPlanes() []*scenario {
	var all []*scenario
	for _, o := range []struct {
		name, title string
		rate        float64
		asks        func(*plane, int) call
	}{
		{"list", "Lists of 20 keys and of 20 workspaces in turn", 100, listed},
		{"get", "Keys and workspaces read one by one", 200, read},
		{"update", "Keys are updated", 50, updated},
		{"create", "Keys are made", 50, created},
	} {
		size := fmt.Sprintf("%s, %d callers; %d keys and %d workspaces", o.title, callers, target.Keys, target.Workspaces)
		job := load.Job{Conns: callers, Unmeasured: 2}
		all = append(all, &scenario{name: "admin-" + o.name + "-c50", title: size, asks: o.asks, job: job})
		job.Rate = o.rate
		all = append(all, &scenario{name: "admin-" + o.name + "-paced", title: fmt.Sprintf("%s, %g/s", size, o.rate), asks: o.asks, job: job})
	}
	return all
}

func listed(p *plane, n int) call {
	if n%2 == 0 {
		return call{method: "GET", path: fmt.Sprintf("/v1/workspaces?page_size=20&current_page=%d", n%40)}
	}
	return call{method: "GET", path: fmt.Sprintf("/v1/api-keys?workspace_id=%s&page_size=20&current_page=%d", p.WorkspaceIDs[0], n%200)}
}

func read(p *plane, n int) call {
	if n%2 == 0 {
		return call{method: "GET", path: "/v1/workspaces/" + p.WorkspaceIDs[n%len(p.WorkspaceIDs)]}
	}
	return call{method: "GET", path: "/v1/api-keys/" + p.InTurn[n%len(p.InTurn)]}
}

func updated(p *plane, n int) call {
	return call{method: "PUT", path: "/v1/api-keys/" + p.InTurn[n*7%len(p.InTurn)], contentType: "application/json", body: func() []byte {
		return fmt.Appendf(nil, `{"name":"Renamed %d"}`, n)
	}}
}

func created(p *plane, n int) call {
	return call{path: "/v1/api-keys/workspace/service", contentType: "application/json", body: func() []byte {
		return fmt.Appendf(nil, `{"name":"Made %d","workspace_id":"%s","scopes":["completions.write","logs.list","logs.view"]}`, n, p.WorkspaceIDs[n%len(p.WorkspaceIDs)])
	}}
}
