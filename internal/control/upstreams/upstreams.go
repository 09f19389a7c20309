// Package upstreams is the part of the administration that serves upstream tool servers (MCP) and
// agents (A2A): the integrations that an administrator registers once, and the servers through
// which workspaces use them. Start reading at Resources; serverKind has what both share.
package upstreams

import (
	"context"
	"log/slog"
	"net/http"

	"sluice/internal/control/resource"
	"sluice/internal/control/sidedata"
	"sluice/internal/domain/credential"
	"sluice/internal/kernel/ident"
	"sluice/internal/kernel/sealed"
)

// Deps are the dependencies and settings of the area. All are required.
type Deps struct {
	SideData sidedata.Writer // stores what was discovered about upstreams
	Box      *sealed.Sealer
	Clock    ident.Clock
	Log      *slog.Logger
	// Version is the program version, which upstreams see: "1.0.0".
	Version string
	// ConsoleURL is the public address of agents, without a trailing slash:
	// "https://gateway.example.com". "/v1/agent/" and the slug of a server follow it.
	ConsoleURL string
	// MCPURL is the public address of tool servers, without a trailing slash:
	// "https://mcp.example.com". The slug of a server and "/mcp" follow it.
	MCPURL    string
	Addresses Addresses
	Outside   *http.Client // for addresses that callers name; blocks private addresses
	Secrets   Secrets
	// OpenReference returns the decrypted credentials of a secret reference.
	OpenReference func(ref *resource.Row[credential.SecretReference]) (map[string]string, error)
}

// Addresses checks URLs that callers name: *netguard.Guard.
type Addresses interface {
	// CheckURL returns fault.InvalidRequest or fault.AddressRefused for a URL that is not
	// allowed.
	CheckURL(raw string) error
}

// Secrets reads from external secret managers: *secretmanager.Reader.
type Secrets interface {
	// Read returns the values of fields by their names; the error is fault.SecretUnavailable.
	Read(ctx context.Context, uses []credential.SecretUse) (map[string]string, error)
}

// Resources returns everything that the area serves. To add a resource, add its line here.
func Resources(d Deps) []resource.Resource {
	return []resource.Resource{
		mcpServers{d}.integrations(),
		mcpServers{d}.servers(),
		agents{d}.integrations(),
		agents{d}.cardFetcher(),
		agents{d}.servers(),
	}
}

// GrantNew grants the integrations with global access to a new workspace.
func GrantNew(ctx context.Context, d Deps, tx resource.Tx, c *resource.Call, workspace resource.Record) error {
	if err := (mcpServers{d}).kind().grantNew(ctx, tx, c, workspace); err != nil {
		return err
	}
	return agents{d}.kind().grantNew(ctx, tx, c, workspace)
}

// Handlers of the area, by what they serve.
type (
	mcpServers struct{ Deps }
	agents     struct{ Deps }
	prober     struct{ Deps } // calls upstreams on behalf of an administrator
)
