// Package mcp contains the stored records of tool servers that use the Model Context
// Protocol: integrations (the upstream servers, registered for the organisation or a
// workspace), servers (their appearances in workspaces, to which clients connect) and
// connections (the tokens that users hold at them).
// Source: contract/content-and-observability.md section 9.
package mcp

import (
	"encoding/json"
	"slices"

	"sluice/internal/kernel/fault"
	"sluice/internal/kernel/sealed"
)

// The kinds of the stored records.
const (
	IntegrationKind = "mcp_integration"
	ServerKind      = "mcp_server"
	ConnectionKind  = "mcp_connection"
)

// AuthType is how the gateway signs in to an upstream server, as spelled on the
// wire.
type AuthType string

// The ways to sign in.
const (
	AuthNone              AuthType = "none"
	AuthHeaders           AuthType = "headers"                  // fixed headers, the same for all users
	AuthOAuth             AuthType = "oauth_auto"               // each user with tokens of their own
	AuthClientCredentials AuthType = "oauth_client_credentials" // one token for all users
)

// Transport is how an upstream server is spoken to.
type Transport string

// The transports.
const (
	HTTP Transport = "http" // Streamable HTTP
	SSE  Transport = "sse"  // the older one, with a stream of events
)

// Integration is the stored body of an upstream server.
// Source: contract/content-and-observability.yaml, McpIntegration.
type Integration struct {
	Name           string           `json:"name"`
	Description    string           `json:"description,omitempty"`
	OwnerID        string           `json:"owner_id,omitempty"`
	URL            string           `json:"url"` // "https://tools.example.com/mcp"
	AuthType       AuthType         `json:"auth_type"`
	Transport      Transport        `json:"transport"`
	Configurations []byte           `json:"configurations,omitempty"` // sealed JSON object, under IntegrationContext
	Mappings       []sealed.Mapping `json:"secret_mappings,omitempty"`
	Global         *bool            `json:"global_workspace_access,omitempty"` // every new workspace gets it; nil: never said
	Off            Switches         `json:"off,omitempty"`                     // what no workspace may use
}

// IntegrationContext is what the configurations of a record are sealed under.
func IntegrationContext(recordID string) string { return IntegrationKind + "/" + recordID }

// Validate checks the body: fault.InvalidParameter. What is sealed was checked by
// CheckConfigurations before.
func (integration *Integration) Validate() error {
	switch {
	case !slices.Contains([]AuthType{AuthNone, AuthHeaders, AuthOAuth, AuthClientCredentials}, integration.AuthType):
		return fault.New(fault.InvalidParameter, "must be none, headers, oauth_auto or oauth_client_credentials").WithParam("auth_type")
	case integration.Transport != HTTP && integration.Transport != SSE:
		return fault.New(fault.InvalidParameter, "must be http or sse").WithParam("transport")
	case integration.URL == "":
		return fault.New(fault.InvalidParameter, "is required").WithParam("url")
	}
	return nil
}

// Server is the stored body of the appearance of an integration in a workspace.
// Source: contract/content-and-observability.yaml, McpServer.
type Server struct {
	Name          string          `json:"name"`
	Description   string          `json:"description,omitempty"`
	OwnerID       string          `json:"owner_id,omitempty"`
	IntegrationID string          `json:"mcp_integration_id"` // id of the integration's record
	Deny          bool            `json:"deny_by_default,omitempty"`
	Users         map[string]bool `json:"users,omitempty"` // by user id, what beats the default
	Off           Switches        `json:"off,omitempty"`   // what the workspace may not use
}

// AllowsUser reports whether a user may connect, the integration aside.
func (s *Server) AllowsUser(userID string) bool {
	if enabled, set := s.Users[userID]; set {
		return enabled
	}
	return !s.Deny
}

// Connection is the stored body of what a user holds at the upstream of a server: the
// tokens of their own sign-in. There is at most one of a user and server.
type Connection struct {
	ServerID string `json:"server_id"`
	UserID   string `json:"user_id"`
	Tokens   []byte `json:"tokens,omitempty"` // sealed, under ConnectionContext
}

// ConnectionContext is what the tokens of a record are sealed under.
func ConnectionContext(recordID string) string { return ConnectionKind + "/" + recordID }

// Discovery is what an upstream server said of itself the last time that it was asked.
type Discovery struct {
	Metadata     Metadata     `json:"metadata"`
	Capabilities []Capability `json:"capabilities,omitempty"`
	Synced       int64        `json:"synced_ms,omitempty"` // 0: never
	Error        string       `json:"error,omitempty"`     // why the last attempt failed
}

// Metadata is an upstream server's description of itself.
// Source: contract/content-and-observability.yaml, McpMetadata.
type Metadata struct {
	Name            string          `json:"name,omitempty"`
	Version         string          `json:"version,omitempty"`
	Title           string          `json:"title,omitempty"`
	Description     string          `json:"description,omitempty"`
	WebsiteURL      string          `json:"website_url,omitempty"`
	Icons           json.RawMessage `json:"icons,omitempty"` // a list
	ProtocolVersion string          `json:"protocol_version,omitempty"`
	Flags           json.RawMessage `json:"capability_flags,omitempty"` // an object
	Instructions    string          `json:"instructions,omitempty"`
}
