package upstreams

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/danielgtaylor/huma/v2"

	"sluice/internal/control/resource"
	"sluice/internal/control/resource/jsonfield"
	"sluice/internal/control/sidedata"
	"sluice/internal/domain/mcp"
)

// linkFound is the link set that stores the self-description of an upstream with its
// integration.
const linkFound = "mcp_integration.found"

// readFound returns what was discovered about an upstream; the zero value before the first
// request.
func readFound(ctx context.Context, from resource.Reader, integrationID string) (mcp.Discovery, error) {
	var found mcp.Discovery
	raw, err := sidedata.Find(ctx, from, linkFound, integrationID)
	if err != nil || raw == nil {
		return found, err
	}
	if err := json.Unmarshal(raw, &found); err != nil {
		return found, fmt.Errorf("read side data of MCP integration %s: %w", integrationID, err)
	}
	return found, nil
}

// findServerDiscovery returns the integration of a server, and what was discovered about its
// upstream.
func (k mcpServers) findServerDiscovery(ctx context.Context, from resource.Reader, s *mcp.Server) (*resource.Row[mcp.Integration], mcp.Discovery, error) {
	integration, err := k.kind().findIntegration(ctx, from, s)
	if err != nil {
		return nil, mcp.Discovery{}, err
	}
	found, err := readFound(ctx, from, integration.ID)
	return integration, found, err
}

// noteFound stores what was discovered about an upstream.
func (k mcpServers) noteFound(ctx context.Context, integrationID string, change func(*mcp.Discovery)) {
	sidedata.Update(ctx, k.SideData, linkFound, integrationID, readFound, change)
}

// mcpMetadataView is the self-description of an upstream.
// Source: contract/content-and-observability.yaml, McpMetadata.
type mcpMetadataView struct {
	ServerName      *string         `json:"server_name" nullable:"true"`
	ServerVersion   *string         `json:"server_version" nullable:"true"`
	Title           *string         `json:"title" nullable:"true"`
	Description     *string         `json:"description" nullable:"true"`
	WebsiteURL      *string         `json:"website_url" nullable:"true"`
	Icons           listOrNull      `json:"icons"`
	ProtocolVersion *string         `json:"protocol_version" nullable:"true"`
	Flags           objectOrNull    `json:"capability_flags"`
	Instructions    *string         `json:"instructions" nullable:"true"`
	SyncStatus      string          `json:"sync_status" enum:"pending,synced,error"`
	LastSyncedAt    *resource.Stamp `json:"last_synced_at" nullable:"true"`
	SyncError       *string         `json:"sync_error" nullable:"true"`
	Object          string          `json:"object" enum:"metadata"`
}

func viewMetadata(found mcp.Discovery) mcpMetadataView {
	m := found.Metadata
	v := mcpMetadataView{
		ServerName: jsonfield.OrNull(m.Name), ServerVersion: jsonfield.OrNull(m.Version), Title: jsonfield.OrNull(m.Title), Description: jsonfield.OrNull(m.Description),
		WebsiteURL: jsonfield.OrNull(m.WebsiteURL), Icons: listOrNull(m.Icons), ProtocolVersion: jsonfield.OrNull(m.ProtocolVersion), Flags: objectOrNull(m.Flags),
		Instructions: jsonfield.OrNull(m.Instructions), SyncStatus: "pending", SyncError: jsonfield.OrNull(found.Error), Object: "metadata",
	}
	if found.Synced != 0 {
		synced := jsonfield.FromMillis(found.Synced)
		v.SyncStatus, v.LastSyncedAt = "synced", resource.StampOf(&synced)
	}
	if found.Error != "" {
		v.SyncStatus = "error"
	}
	return v
}

// listOrNull is a JSON list as an upstream wrote it; null for none.
type listOrNull []byte

// MarshalJSON writes the list unchanged.
func (l listOrNull) MarshalJSON() ([]byte, error) { return jsonfield.OrNullDocument(l), nil }

// Schema describes listOrNull.
func (listOrNull) Schema(huma.Registry) *huma.Schema {
	return &huma.Schema{OneOf: []*huma.Schema{{Type: huma.TypeArray, Items: &huma.Schema{}}, {Type: "null"}}}
}

// objectOrNull is a JSON object as an upstream wrote it; null for none.
type objectOrNull []byte

// MarshalJSON writes the object unchanged.
func (o objectOrNull) MarshalJSON() ([]byte, error) { return jsonfield.OrNullDocument(o), nil }

// Schema describes objectOrNull.
func (objectOrNull) Schema(huma.Registry) *huma.Schema {
	return &huma.Schema{OneOf: []*huma.Schema{{Type: huma.TypeObject}, {Type: "null"}}}
}
