package main

import (
	"fmt"

	"sluice/test/bench/load"
)

// callers is how many administrators call at a time.
const callers = 50

// ofPlanes are the scenarios of the administration.
func ofPlanes() []*scenario {
	of := func(name, title string, asks func(*plane, int) call) *scenario {
		return &scenario{name: name, title: title + ", 50 callers; 10,000 keys and 1,000 workspaces", asks: asks, job: load.Job{Conns: callers, Warm: 2}}
	}
	return []*scenario{
		of("admin-list-c50", "Lists of 20 keys and of 20 workspaces in turn", listed),
		of("admin-get-c50", "Keys and workspaces read one by one", read),
		of("admin-update-c50", "A key is updated", updated),
		of("admin-create-c50", "A key is made", created),
	}
}

func listed(p *plane, n int) call {
	if n%2 == 0 {
		return call{method: "GET", path: fmt.Sprintf("/v1/workspaces?page_size=20&current_page=%d", n%40)}
	}
	return call{method: "GET", path: fmt.Sprintf("/v1/api-keys?workspace_id=%s&page_size=20&current_page=%d", p.Places[0], n%200)}
}

func read(p *plane, n int) call {
	if n%2 == 0 {
		return call{method: "GET", path: "/v1/workspaces/" + p.Places[n%len(p.Places)]}
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
		return fmt.Appendf(nil, `{"name":"Made %d","workspace_id":"%s","scopes":["completions.write","logs.list","logs.view"]}`, n, p.Places[n%len(p.Places)])
	}}
}
