package configs

import (
	"context"
	"net/http"
	"strings"

	"sluice/internal/control/resource"
	"sluice/internal/domain/routing"
	"sluice/internal/kernel/access"
)

// breakers are the routes that show which targets the configs of a workspace skip at the moment.
func (k breakers) breakers() resource.Resource {
	return resource.Operations{{
		Method: http.MethodGet, Path: "/circuit-breakers", ID: "listCircuitBreakers", Summary: "List the circuit breakers of a workspace that have counted requests",
		Tag: "Configs", Scopes: []access.Scope{"configs.read"}, Response: resource.ListOf[breakerView]{},
		Query: []resource.Param{resource.WorkspaceParam, {Name: "state", Enum: []string{"open", "closed"}}},
		Run:   k.listBreakers,
	}}
}

// breakerView is the circuit of one target as this node sees it.
type breakerView struct {
	Object    string          `json:"object" enum:"circuit-breaker"`
	Config    string          `json:"config" doc:"Slug or id of the config; inline for a config sent with the request"`
	Version   string          `json:"config_fingerprint" doc:"Fingerprint of the config text"`
	Path      string          `json:"path" doc:"Path of the target in the config, for example config.targets[1]"`
	ID        string          `json:"id" doc:"Id that the config sets for the target, if any"`
	State     string          `json:"state" enum:"open,closed"`
	Failures  int             `json:"failures"`
	Successes int             `json:"successes"`
	OpenedAt  *resource.Stamp `json:"opened_at" nullable:"true"`
	ClosesAt  *resource.Stamp `json:"closes_at" nullable:"true"`
}

func (k breakers) listBreakers(_ context.Context, c *resource.Call) (any, error) {
	if err := c.RequireWorkspace(); err != nil {
		return nil, err
	}
	var list []breakerView
	for _, b := range k.Breakers(c.WorkspaceID) {
		if v := viewBreaker(b); c.Query("state") == "" || c.Query("state") == v.State {
			list = append(list, v)
		}
	}
	return resource.CompleteList(list), nil
}

func viewBreaker(b routing.BreakerState) breakerView {
	config := b.Scope[strings.LastIndexByte(b.Scope, '/')+1:] // the scope is that of the workspace, or below it
	v := breakerView{
		Object: "circuit-breaker", Config: config, Version: b.Config, Path: b.Path, ID: b.ID, State: strings.ToLower(b.State),
		Failures: b.Failures, Successes: b.Successes, OpenedAt: resource.StampOf(&b.OpenedAt), ClosesAt: resource.StampOf(&b.ClosesAt),
	}
	return v
}
