// Package agent contains the stored records of agents that use the A2A protocol:
// integrations (the upstream agents, registered for the organisation or a workspace)
// and servers (their appearances in workspaces, which clients call).
// Source: contract/content-and-observability.md section 11.
package agent

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"golang.org/x/net/http/httpguts"

	"sluice/internal/kernel/fault"
	"sluice/internal/kernel/sealed"
)

// The kinds of the stored records.
const (
	IntegrationKind = "agent_integration"
	ServerKind      = "agent_server"
)

// AuthType is how the gateway signs in to an agent, as the wire spells it.
type AuthType string

// The ways to sign in.
const (
	AuthNone    AuthType = "none"
	AuthHeaders AuthType = "headers" // fixed headers, the same for all users
)

// A2A is the only protocol of agents.
const A2A = "a2a"

// Integration is the stored body of an upstream agent.
// Source: contract/content-and-observability.yaml, AgentIntegration.
type Integration struct {
	Name           string           `json:"name"`
	Description    string           `json:"description,omitempty"`
	OwnerID        string           `json:"owner_id,omitempty"`
	URL            string           `json:"url"` // base of the agent: "https://agents.example.com/planner"
	AuthType       AuthType         `json:"auth_type"`
	Configurations []byte           `json:"configurations,omitempty"` // sealed JSON object, under IntegrationContext
	Mappings       []sealed.Mapping `json:"secret_mappings,omitempty"`
	Global         *bool            `json:"global_workspace_access,omitempty"` // every new workspace gets it; nil: never said
	Off            Switches         `json:"off,omitempty"`                     // skills that no workspace shows
}

// IntegrationContext is what the configurations of a record are sealed under.
func IntegrationContext(recordID string) string { return IntegrationKind + "/" + recordID }

// Validate checks the body: fault.InvalidParameter. What is sealed was checked by
// CheckConfigurations before.
func (integration *Integration) Validate() error {
	switch {
	case integration.AuthType != AuthNone && integration.AuthType != AuthHeaders:
		return fault.New(fault.InvalidParameter, "must be \"none\" or \"headers\"").WithParam("auth_type")
	case integration.URL == "":
		return fault.New(fault.InvalidParameter, "is required").WithParam("url")
	}
	return nil
}

// Server is the stored body of the appearance of an agent in a workspace.
// Source: contract/content-and-observability.yaml, AgentServer.
type Server struct {
	Name          string          `json:"name"`
	Description   string          `json:"description,omitempty"`
	OwnerID       string          `json:"owner_id,omitempty"`
	IntegrationID string          `json:"agent_integration_id"` // id of the integration's record
	Deny          bool            `json:"deny_by_default,omitempty"`
	Users         map[string]bool `json:"users,omitempty"` // by user id, what beats the default
	Off           Switches        `json:"off,omitempty"`   // skills that the workspace does not show
}

// AllowsUser reports whether a user may call the agent, the integration aside.
func (s *Server) AllowsUser(userID string) bool {
	if enabled, set := s.Users[userID]; set {
		return enabled
	}
	return !s.Deny
}

// Switches are the ids of the skills that are switched off. What is not among them is
// on.
type Switches []string

// maxSwitches bounds the skills that are off at one place.
const maxSwitches = 500

// Has reports whether a skill is off.
func (s Switches) Has(id string) bool { return slices.Contains(s, id) }

// Set returns the switches with one of them changed. The receiver may be used on.
func (s Switches) Set(id string, enabled bool) Switches {
	next := slices.DeleteFunc(slices.Clone(s), func(o string) bool { return o == id })
	if !enabled {
		next = append(next, id)
	}
	return next
}

// Check bounds their number: fault.InvalidParameter.
func (s Switches) Check() error {
	if len(s) > maxSwitches {
		return fault.Newf(fault.InvalidParameter, "must not disable more than %d skills", maxSwitches).WithParam("skills")
	}
	return nil
}

// Limits of configurations.
const (
	maxHeaders = 100
	maxText    = 16 << 10
)

// reservedHeaders are those that belong to the connection: a fixed value would break every
// call.
var reservedHeaders = []string{
	"host", "content-length", "content-type", "transfer-encoding", "connection", "keep-alive", "upgrade", "te", "trailer", "accept", "accept-encoding",
}

// CheckConfigurations holds configurations, a decoded JSON object, against what they
// may be: custom_headers, an object of texts. A refusal is fault.InvalidParameter at the
// field, for example "configurations.custom_headers.Host".
func CheckConfigurations(config map[string]any) error {
	for _, name := range slices.Sorted(maps.Keys(config)) {
		path := "configurations." + name
		if name != "custom_headers" {
			return fault.New(fault.InvalidParameter, "unknown field; must be custom_headers").WithParam(path)
		}
		sent, ok := config[name].(map[string]any)
		if !ok && config[name] != nil || len(sent) > maxHeaders {
			return fault.Newf(fault.InvalidParameter, "must be an object of at most %d headers", maxHeaders).WithParam(path)
		}
		if err := CheckHeaders(sent, path); err != nil {
			return err
		}
	}
	return nil
}

// CheckHeaders holds headers against what the gateway sends: fault.InvalidParameter
// below at.
func CheckHeaders(sent map[string]any, path string) error {
	for _, name := range slices.Sorted(maps.Keys(sent)) {
		v, ok := sent[name].(string)
		if why := refuseHeader(name); why != "" {
			return fault.New(fault.InvalidParameter, why).WithParam(path + "." + name)
		}
		if !ok || len(v) > maxText || !httpguts.ValidHeaderFieldValue(v) {
			return fault.New(fault.InvalidParameter, fmt.Sprintf("must be a string of at most %d bytes without control characters", maxText)).WithParam(path + "." + name)
		}
	}
	return nil
}

func refuseHeader(name string) string {
	switch lower := strings.ToLower(name); {
	case !httpguts.ValidHeaderFieldName(name) || len(name) > 255:
		return "must be a valid header name"
	case slices.Contains(reservedHeaders, lower) || strings.HasPrefix(lower, "proxy-"):
		return "must be omitted; the gateway sets this header"
	}
	return ""
}

// Hides reports whether the text at a path of the configurations is a secret: all are.
func Hides(path []string) bool { return len(path) > 0 }

// Mappable reports whether a text of the configurations may be read from a secret
// manager: "custom_headers" (an object), "custom_headers.Authorization".
func Mappable(field string) bool {
	section, name, isNested := strings.Cut(field, ".")
	return section == "custom_headers" && (!isNested || refuseHeader(name) == "")
}
