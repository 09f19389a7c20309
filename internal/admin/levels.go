package admin

import (
	"context"

	"sluice/internal/access"
	"sluice/internal/resource"
)

// Integrations of model providers and of upstreams have a level. They belong to the
// organisation, which grants them to workspaces, or to one workspace.
const (
	orgLevel       = "organisation"
	workspaceLevel = "workspace"
)

// scopeLevel returns workspaceLevel for a record with a workspace id and orgLevel for "".
func scopeLevel(workspaceID string) string {
	if workspaceID == "" {
		return orgLevel
	}
	return workspaceLevel
}

// levelEntry returns the index entry that finds the records of a level.
func levelEntry(level string) resource.IndexEntry {
	return resource.IndexEntry{Name: entryLevel, Value: level}
}

// levelScope returns the scope of an action on records of a level; stem is "mcp_integrations".
func levelScope(level, stem, action string) access.Scope {
	return access.Scope(level + "_" + stem + "." + action)
}

// levelScopes returns the organisation scopes for records without a workspace, the workspace
// scopes for others, and both for a nil record.
func levelScopes[T any](stem, action string, r *resource.Row[T]) []access.Scope {
	if r == nil {
		return []access.Scope{levelScope(orgLevel, stem, action), levelScope(workspaceLevel, stem, action)}
	}
	return []access.Scope{levelScope(scopeLevel(r.WorkspaceID), stem, action)}
}

// locateLevel assigns a record to the workspace of the call, or to the organisation if there is
// none.
func locateLevel[T any](_ context.Context, c *resource.Call, r *resource.Row[T]) error {
	r.WorkspaceID = c.WorkspaceID
	return nil
}

// selectLevels narrows a list to what the caller's workspace may use, and to the levels whose
// list scope the caller holds.
func selectLevels(stem string) func(context.Context, *resource.Call, *resource.Query) error {
	return func(_ context.Context, c *resource.Call, q *resource.Query) error {
		if c.WorkspaceID != "" {
			q.WorkspaceID = ""
			q.Index = append(q.Index, resource.IndexEntry{Name: entryWorkspace, Value: c.WorkspaceID})
		}
		for level, other := range map[string]string{orgLevel: workspaceLevel, workspaceLevel: orgLevel} {
			if !c.Holds(levelScope(level, stem, "list")) {
				q.Index = append(q.Index, levelEntry(other))
			}
		}
		return nil
	}
}

// levelFilter narrows a list to a level.
func levelFilter() resource.Filter {
	return resource.Filter{
		Param: resource.Param{Name: "type", Enum: []string{workspaceLevel, orgLevel, "all"}, Default: "all"},
		Apply: func(_ *resource.Call, v string, q *resource.Query) error {
			if v != "all" {
				q.Index = append(q.Index, levelEntry(v))
			}
			return nil
		},
	}
}
