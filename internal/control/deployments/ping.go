package deployments

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"sluice/internal/control/resource"
	"sluice/internal/control/resource/jsonfield"
	"sluice/internal/control/sidedata"
	"sluice/internal/domain/deployment"
	"sluice/internal/kernel/access"
	"sluice/internal/kernel/fault"
)

// linkState is the link set that stores the state of a deployment with its record.
const linkState = "deployment.state"

// deploymentState is the last known state of a deployment.
type deploymentState struct {
	Connection string `json:"connection_status"` // healthy, unhealthy, unknown
	Synced     int64  `json:"last_synced_ms,omitempty"`
}

func (s deploymentState) syncedAt() *resource.Stamp {
	if s.Synced == 0 {
		return nil
	}
	t := jsonfield.FromMillis(s.Synced)
	return resource.StampOf(&t)
}

func readState(ctx context.Context, from resource.Reader, id string) (deploymentState, error) {
	s := deploymentState{Connection: "unknown"}
	raw, err := sidedata.Find(ctx, from, linkState, id)
	if err != nil || raw == nil {
		return s, err
	}
	return s, json.Unmarshal(raw, &s)
}

// note stores a change to the state of a deployment.
func (k deployments) note(ctx context.Context, id string, change func(*deploymentState)) {
	sidedata.Update(ctx, k.SideData, linkState, id, readState, change)
}

type pingView struct {
	Status   string  `json:"status" enum:"healthy,unhealthy,unknown"`
	BaseURL  string  `json:"gateway_base_url"`
	Outbound pingOut `json:"outbound" doc:"Result of the request to the gateway"`
	Inbound  pingIn  `json:"inbound" doc:"Whether the gateway has recently read its own record"`
	Object   string  `json:"object" enum:"deployment_ping"`
}

type pingOut struct {
	Status     string  `json:"status" enum:"healthy,unhealthy,unknown"`
	StatusCode *int    `json:"status_code" nullable:"true"`
	Version    *string `json:"version" nullable:"true"`
	Error      *string `json:"error" nullable:"true"`
}

type pingIn struct {
	Status string  `json:"status" enum:"healthy,unhealthy,unknown"`
	Error  *string `json:"error" nullable:"true"`
}

// Limits of a health check: the time to respond, the time since its last call after which a
// gateway counts as silent, and the size of a response.
const (
	pingTime   = 5 * time.Second
	silentTime = 10 * time.Minute
	maxHealth  = 64 << 10 // bytes of a response
)

// pingDeployment calls the gateway, and checks whether it has called us.
func (k deployments) pingDeployment(ctx context.Context, c *resource.Call, r resource.Row[deployment.Deployment]) (any, error) {
	state, err := readState(ctx, c.Reader, r.ID)
	if err != nil {
		return nil, err
	}
	v := pingView{BaseURL: r.Value.Auth.BaseURL, Outbound: k.callGateway(ctx, r.Value.Auth.BaseURL), Inbound: pingIn{Status: "healthy"}, Object: "deployment_ping"}
	switch {
	case state.Synced == 0:
		v.Inbound = pingIn{"unknown", reportedError("the gateway has not read its record yet")}
	case c.Now.Sub(jsonfield.FromMillis(state.Synced)) > silentTime:
		v.Inbound = pingIn{"unhealthy", reportedError("the gateway has not read its record for more than ten minutes")}
	}
	v.Status = v.Outbound.Status
	if v.Status == "healthy" && v.Inbound.Status == "unhealthy" {
		v.Status = "unhealthy"
	}
	k.note(ctx, r.ID, func(s *deploymentState) { s.Connection = v.Status })
	return v, nil
}

func reportedError(s string) *string { return &s }

// callGateway requests the health of a gateway. It reports network errors only in general words,
// so that they do not reveal internal addresses.
func (k deployments) callGateway(ctx context.Context, base string) pingOut {
	if base == "" {
		return pingOut{Status: "unknown", Error: reportedError("auth_settings.gateway_base_url is not set")}
	}
	ctx, stop := context.WithTimeout(ctx, pingTime)
	defer stop()
	root := strings.TrimSuffix(strings.TrimRight(base, "/"), "/v1")
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, root+"/v1/health", nil)
	if err != nil {
		return pingOut{Status: "unhealthy", Error: reportedError("the address is invalid")}
	}
	client := *k.Outside
	client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	res, err := client.Do(req)
	if err != nil {
		k.Log.Info("deployment unreachable", "gateway_base_url", base, "error", err.Error())
		return pingOut{Status: "unhealthy", Error: reportedError("the gateway cannot be reached")}
	}
	defer func() { _ = res.Body.Close() }() // read only as far as needed
	out := pingOut{Status: "healthy", StatusCode: &res.StatusCode}
	if res.StatusCode != http.StatusOK {
		out.Status, out.Error = "unhealthy", reportedError(fmt.Sprintf("the gateway returned status %d", res.StatusCode))
	}
	var health struct {
		Version string `json:"version"`
	}
	raw, err := io.ReadAll(io.LimitReader(res.Body, maxHealth))
	if err == nil && json.Unmarshal(raw, &health) == nil && health.Version != "" && len(health.Version) <= 64 {
		out.Version = &health.Version
	}
	return out
}

// caller is the route with which a gateway reads its own record. Its token is not an
// API key and permits nothing else, so the route identifies its callers itself.
func (k deployments) caller() resource.Resource {
	return resource.Operations{{
		Method: http.MethodGet, Path: "/deployments/self", ID: "getOwnDeployment", Summary: "Get the deployment that the client_auth in the request belongs to",
		Tag: "Deployments", Anywhere: true, Response: deploymentView{}, Identify: k.identifyDeployment, Run: k.readCallingDeployment,
	}}
}

func (k deployments) identifyDeployment(r *http.Request) (*access.Principal, error) {
	token := r.Header.Get("x-gateway-api-key")
	if token == "" {
		token = strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")
	}
	refused := fault.New(fault.Unauthenticated, "send the client_auth of a deployment as x-gateway-api-key")
	if token == "" || len(token) > 512 {
		return nil, refused
	}
	rows, err := k.Store.List(r.Context(), resource.Query{
		Kind: deployment.Kind, Statuses: []string{resource.Active}, Index: []resource.IndexEntry{{Name: "client_auth", Value: k.Hasher.Sum(token).String()}},
	})
	if err != nil {
		return nil, err
	}
	if len(rows) != 1 {
		return nil, refused
	}
	return &access.Principal{Kind: "deployment", ID: rows[0].ID, Name: rows[0].Name, OrgID: rows[0].OrgID}, nil
}

// readCallingDeployment returns the record, and records at most once a minute that it was read.
func (k deployments) readCallingDeployment(ctx context.Context, c *resource.Call) (any, error) {
	rec, err := c.Reader.Find(ctx, deployment.Kind, c.Principal.ID)
	if err != nil {
		return nil, err
	}
	state, err := readState(ctx, c.Reader, rec.ID)
	if err != nil {
		return nil, err
	}
	if c.Now.Sub(jsonfield.FromMillis(state.Synced)) > time.Minute {
		k.note(ctx, rec.ID, func(s *deploymentState) { s.Synced = c.Now.UnixMilli() })
	}
	r, err := resource.Decode[deployment.Deployment](rec)
	if err != nil {
		return nil, err
	}
	return k.viewDeployment(ctx, c, *r, true)
}
