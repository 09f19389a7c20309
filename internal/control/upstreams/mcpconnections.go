package upstreams

import (
	"cmp"
	"context"
	"net/http"

	"sluice/internal/control/directory"
	"sluice/internal/control/resource"
	"sluice/internal/control/resource/listing"
	"sluice/internal/domain/mcp"
	"sluice/internal/domain/tenant"
	"sluice/internal/kernel/access"
	"sluice/internal/kernel/fault"
)

// entryServer is the index entry that finds the connections to a server.
const entryServer = "server"

// ConnectionIndex returns the index entries of a connection. A user has at most one connection
// to a server.
func ConnectionIndex(c *mcp.Connection) []resource.IndexEntry {
	return []resource.IndexEntry{
		{Name: entryServer, Value: c.ServerID}, {Name: directory.UserEntry, Value: c.UserID},
		{Name: "connection", Value: c.ServerID + "/" + c.UserID, Unique: true},
	}
}

type connectionView struct {
	UserID        string         `json:"user_id" format:"uuid"`
	Connected     bool           `json:"connected"`
	CreatedAt     resource.Stamp `json:"created_at"`
	LastUpdatedAt resource.Stamp `json:"last_updated_at"`
}

// connectionActions list and revoke the sign-ins of users at the upstream of a server: the
// caller's own ones, or those of any user for callers who manage the workspace. A revocation is
// written as a change of the server, so that every node closes its sessions.
// Source: contract/content-and-observability.yaml, connections; .md 9.5.
func (k mcpServers) connectionActions() []resource.Action[mcp.Server] {
	whose := resource.Param{Name: "user_id", Doc: "Id of the user; defaults to the caller, and for keys without a user to all users", Format: "uuid"}
	revoked := whose
	revoked.Doc = "Id of the user; defaults to the caller"
	return []resource.Action[mcp.Server]{
		{
			Name: "read", Method: http.MethodGet, Path: "/connections", ID: "listMcpServerConnections", Summary: "List the users who are signed in to a server's upstream",
			Query: []resource.Param{
				whose, directory.SearchParam("search"), directory.SearchParam("name"), {Name: "current_page", Doc: "Page number, starting at 0", Type: "integer", Default: "0", Max: 1_000_000},
				{Name: "page_size", Doc: "Rows per page", Type: "integer", Default: "100", Min: 1, Max: 500},
			},
			Response: resource.MoreOf[connectionView]{}, Read: listConnections,
		},
		{
			Name: "disconnect", Scope: "read", Method: http.MethodDelete, Path: "/connections", ID: "revokeMcpServerConnection",
			Summary: "Sign a user out of a server's upstream", Query: []resource.Param{revoked}, Response: doneView{}, Run: revokeConnection,
		},
	}
}

// whoseConnections returns the user that the call selects; "" for all. It returns fault.NotFound
// for a user whose connections the caller cannot see, whether or not the user exists.
func whoseConnections(c *resource.Call, workspaceID string) (string, error) {
	callerID, requested := c.Principal.UserID, c.Query("user_id")
	if requested != "" && requested != callerID && !c.Principal.CanManageUsers(workspaceID) {
		return "", fault.New(fault.NotFound, "the user does not exist, or you cannot see their connections; workspace admins and managers see those of all users").WithParam("user_id")
	}
	return cmp.Or(requested, callerID), nil
}

func connectionsOf(server resource.Record, userID string) resource.Query {
	q := resource.Query{
		Kind: mcp.ConnectionKind, OrgID: server.OrgID, WorkspaceID: server.WorkspaceID, Statuses: []string{resource.Active}, Limit: 1000,
		Index: []resource.IndexEntry{{Name: entryServer, Value: server.ID}},
	}
	if userID != "" {
		q.Index = append(q.Index, resource.IndexEntry{Name: directory.UserEntry, Value: userID})
	}
	return q
}

func listConnections(ctx context.Context, c *resource.Call, r resource.Row[mcp.Server]) (any, error) {
	userID, err := whoseConnections(c, r.WorkspaceID)
	if err != nil {
		return nil, err
	}
	q := connectionsOf(r.Record, userID)
	if err := searchConnections(ctx, c, &q); err != nil {
		return nil, err
	}
	out := resource.MoreOf[connectionView]{ListOf: resource.ListOf[connectionView]{Object: "list", Data: []connectionView{}}}
	if out.Total, err = c.Reader.Count(ctx, q); err != nil {
		return nil, err
	}
	q.Limit = c.Int("page_size")
	q.Offset = c.Int("current_page") * q.Limit
	rows, err := resource.ListRows[mcp.Connection](ctx, c.Reader, q)
	for _, one := range rows {
		out.Data = append(out.Data, connectionView{one.Value.UserID, true, resource.Stamp(one.Created), resource.Stamp(one.Updated)})
	}
	out.HasMore = q.Offset+q.Limit < out.Total
	return out, err
}

// searchConnections narrows a query of connections to those of the users that search and name
// select.
func searchConnections(ctx context.Context, c *resource.Call, q *resource.Query) error {
	if text, err := listing.SearchText(c); text == "" || err != nil {
		return err
	}
	connections := make(map[string]string) // connection ids by user id
	err := resource.EachPage(ctx, c.Reader, *q, func(rows []*resource.Row[mcp.Connection]) error {
		for _, r := range rows {
			connections[r.Value.UserID] = r.ID
		}
		return nil
	})
	if err != nil {
		return err
	}
	return directory.SearchUsers(ctx, c, q, func(r *resource.Row[tenant.User]) (string, error) { return connections[r.ID], nil })
}

func revokeConnection(ctx context.Context, tx resource.Tx, c *resource.Call, ch *resource.Edit[mcp.Server]) (any, error) {
	userID, err := whoseConnections(c, ch.New.WorkspaceID)
	switch {
	case err != nil:
		return nil, err
	case userID == "":
		return nil, fault.New(fault.InvalidParameter, "is required: send the user whose connection is to end").WithParam("user_id")
	case userID != c.Principal.UserID:
		if err := c.May([]access.Scope{"mcp_servers.update"}, access.Target{OrgID: ch.New.OrgID, WorkspaceID: ch.New.WorkspaceID}); err != nil {
			return nil, err
		}
	}
	q := connectionsOf(ch.New.Record, userID)
	n, err := tx.Count(ctx, q)
	if err != nil {
		return nil, err
	}
	if n == 0 {
		return nil, fault.New(fault.NotFound, "the user is not signed in to this upstream").WithParam("user_id")
	}
	c.Note("user_id", userID)
	return doneView{true}, forget(ctx, tx, q)
}

// dropConnections ends every sign-in at a server that is deleted.
func dropConnections(ctx context.Context, tx resource.Tx, _ *resource.Call, server resource.Record) error {
	return forget(ctx, tx, connectionsOf(server, ""))
}

// forget deletes connections permanently, because their tokens are not needed any more.
func forget(ctx context.Context, tx resource.Tx, q resource.Query) error {
	return resource.DrainPages(func() ([]resource.Record, error) { return tx.List(ctx, q) }, func(r resource.Record) error { return tx.Delete(ctx, r.Kind, r.ID) })
}

// connectedUsers returns the users who are signed in at a server; nil if its kind has no
// sign-ins.
func connectedUsers[I, S any](ctx context.Context, from resource.Reader, f *serverKind[I, S], server resource.Record) (map[string]bool, error) {
	if f.server != mcp.ServerKind {
		return nil, nil
	}
	users := map[string]bool{}
	err := resource.EachPage(ctx, from, connectionsOf(server, ""), func(rows []*resource.Row[mcp.Connection]) error {
		for _, r := range rows {
			users[r.Value.UserID] = true
		}
		return nil
	})
	return users, err
}
