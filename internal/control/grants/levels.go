package grants

import (
	"context"

	"sluice/internal/control/resource"
	"sluice/internal/kernel/access"
)

// Names of index entries of integrations.
const (
	WorkspaceName = "workspace" // a workspace that may use it
	GlobalName    = "global"    // granted to every new workspace
	levelName     = "level"     // organisation or workspace
)

// GlobalEntry marks integrations that every new workspace gets.
var GlobalEntry = resource.IndexEntry{Name: GlobalName, Value: "1"}

// Integrations of model providers and of upstreams have a level. They belong to the
// organisation, which grants them to workspaces, or to one workspace.
const (
	OrganisationLevel = "organisation"
	WorkspaceLevel    = "workspace"
)

// LevelOf returns WorkspaceLevel for a record with a workspace id and OrganisationLevel for "".
func LevelOf(workspaceID string) string {
	if workspaceID == "" {
		return OrganisationLevel
	}
	return WorkspaceLevel
}

// LevelEntry returns the index entry that finds the records of a level.
func LevelEntry(level string) resource.IndexEntry {
	return resource.IndexEntry{Name: levelName, Value: level}
}

// levelScope returns the scope of an action on records of a level; stem is "mcp_integrations".
func levelScope(level, stem, action string) access.Scope {
	return access.Scope(level + "_" + stem + "." + action)
}

// LevelScopes returns the organisation scopes for records without a workspace, the workspace
// scopes for others, and both for a nil record.
func LevelScopes[T any](stem, action string, r *resource.Row[T]) []access.Scope {
	if r == nil {
		return []access.Scope{levelScope(OrganisationLevel, stem, action), levelScope(WorkspaceLevel, stem, action)}
	}
	return []access.Scope{levelScope(LevelOf(r.WorkspaceID), stem, action)}
}

// LocateLevel assigns a record to the workspace of the call, or to the organisation if there is
// none.
func LocateLevel[T any](_ context.Context, c *resource.Call, r *resource.Row[T]) error {
	r.WorkspaceID = c.WorkspaceID
	return nil
}

// SelectLevels narrows a list to what the caller's workspace may use, and to the levels whose
// list scope the caller holds.
func SelectLevels(stem string) func(context.Context, *resource.Call, *resource.Query) error {
	return func(_ context.Context, c *resource.Call, q *resource.Query) error {
		if c.WorkspaceID != "" {
			q.WorkspaceID = ""
			q.Index = append(q.Index, resource.IndexEntry{Name: WorkspaceName, Value: c.WorkspaceID})
		}
		for level, other := range map[string]string{OrganisationLevel: WorkspaceLevel, WorkspaceLevel: OrganisationLevel} {
			if !c.Holds(levelScope(level, stem, "list")) {
				q.Index = append(q.Index, LevelEntry(other))
			}
		}
		return nil
	}
}

// LevelFilter narrows a list to a level.
func LevelFilter() resource.Filter {
	return resource.Filter{
		Param: resource.Param{Name: "type", Enum: []string{WorkspaceLevel, OrganisationLevel, "all"}, Default: "all"},
		Apply: func(_ *resource.Call, v string, q *resource.Query) error {
			if v != "all" {
				q.Index = append(q.Index, LevelEntry(v))
			}
			return nil
		},
	}
}
