package people

import (
	"context"
	"encoding/json"
	"slices"
	"strings"

	"sluice/internal/control/budgets"
	"sluice/internal/control/defaults"
	"sluice/internal/control/directory"
	"sluice/internal/control/resource"
	"sluice/internal/control/resource/jsonfield"
	"sluice/internal/domain/tenant"
	"sluice/internal/kernel/access"
	"sluice/internal/kernel/fault"
)

// workspaces contain all other records. A workspace key sees only its workspace, and a user
// those that they belong to.
// Source: contract/identity-and-governance.yaml, workspaces.
func (k workspaces) workspaces() resource.Resource {
	return &resource.Kind[tenant.Workspace, workspaceView]{
		Name: tenant.WorkspaceKind, Object: "workspace", Title: "workspace", Tag: "Workspaces", Audited: "workspaces",
		Path: "/workspaces", Also: []string{"/admin/workspaces"}, Param: "workspaceId", Slug: "ws", SlugFrom: 6,
		Perm: "workspaces", Verbs: resource.AllVerbs, Scope: resource.IsWorkspace, Restorable: true,
		Create: workspaceIn{}, Update: workspacePatch{}, Delete: workspaceOut{}, PreparedFields: append([]string{"defaults", "users", "security_settings", "settings"}, budgets.Fields...),
		Filters: []resource.Filter{
			{Param: resource.Param{Name: "status", Doc: "active, archived, or both, separated by a comma", Default: resource.Active}, Apply: workspaceStatuses},
			resource.NameFilter("name"),
			{Param: resource.Param{Name: "exact_name"}, Index: nameEntry},
		},
		Called:  workspacesCalled,
		Bare:    true,
		Views:   []resource.Param{{Name: "name_format", Enum: []string{"display", "plain"}, Default: "display", Doc: "display puts the icon before the name"}},
		Prepare: k.prepareWorkspace,
		Index: func(r *resource.Row[tenant.Workspace]) []resource.IndexEntry {
			return []resource.IndexEntry{{Name: nameEntry, Value: shortened(r.Value.Name)}}
		},
		Refs: []resource.Ref[tenant.Workspace]{
			defaults.ConfigRef(func(w *tenant.Workspace) string { return w.Defaults.ConfigID }, "defaults.config_id", fault.ReferenceMissing),
			defaults.ConfigRef(func(w *tenant.Workspace) string { return w.Defaults.UserAPIKeyConfig }, "defaults.user_api_key_config", fault.ReferenceMissing),
			defaults.GuardrailRefs(func(r *resource.Row[tenant.Workspace]) (string, map[string][]string) {
				return r.ID, map[string][]string{"defaults.input_guardrails": r.Value.Defaults.InputGuardrails, "defaults.output_guardrails": r.Value.Defaults.OutputGuardrails}
			}),
		},
		CanArchive: canArchiveWorkspace,
		After:      k.afterWorkspace,
		View:       k.viewWorkspace,
		Receipt: &resource.WriteResponse[tenant.Workspace]{Shape: workspaceView{}, Make: func(ctx context.Context, c *resource.Call, ch *resource.Edit[tenant.Workspace]) (any, error) {
			return k.viewWorkspace(ctx, c, *ch.New, true)
		}},
	}
}

// nameEntry is the index entry of a name that lists can match exactly.
const nameEntry = "name"

// workspacesCalled finds workspaces by their names, with and without the icon that responses
// show before it.
func workspacesCalled(name string, q *resource.Query) func(*tenant.Workspace) []string {
	q.OneOf = []resource.IndexEntry{{Name: nameEntry, Value: shortened(name)}}
	if _, plain, ok := strings.Cut(name, " "); ok {
		q.OneOf = append(q.OneOf, resource.IndexEntry{Name: nameEntry, Value: shortened(plain)})
	}
	return func(w *tenant.Workspace) []string { return []string{w.Name, displayName(w)} }
}

// workspaceStatuses reads the status filter. Only callers who may name any workspace see
// archived ones.
func workspaceStatuses(c *resource.Call, v string, q *resource.Query) error {
	for s := range strings.SplitSeq(v, ",") {
		switch s = strings.TrimSpace(s); {
		case s != resource.Active && s != resource.Archived:
			return fault.New(fault.InvalidParameter, "must be active, archived, or both, separated by a comma").WithParam("status")
		case s == resource.Archived && !c.Principal.IsOrgWide():
			return fault.New(fault.Forbidden, "only an Admin key, or an owner or admin of the organisation, can list archived workspaces").WithParam("status")
		case !slices.Contains(q.Statuses, s):
			q.Statuses = append(q.Statuses, s)
		}
	}
	return nil
}

// prepareWorkspace merges the objects that were sent into the present ones, and checks them
// against the organisation.
func (k workspaces) prepareWorkspace(ctx context.Context, c *resource.Call, ch *resource.Edit[tenant.Workspace]) error {
	org, err := directory.FindOrganisation(ctx, c)
	if err != nil {
		return err
	}
	w := &ch.New.Value
	if ch.Old != nil && ch.Sent.Text("name") == displayName(&ch.Old.Value) { // sent back as it was shown
		w.Name = ch.Old.Value.Name
		ch.New.Name = w.Name
	}
	if ch.Old != nil && ch.Old.Status == resource.Archived && !c.Principal.IsOrgWide() {
		return fault.New(fault.Forbidden, "only an Admin key, or an owner or admin of the organisation, can restore archived workspaces").WithParam("status")
	}
	if ch.Old == nil {
		w.CreatedBy, w.Source = c.Principal.Actor(), directory.SourceOf(c)
	}
	if err := mergeDefaults(ch, &org.Value, w); err != nil {
		return err
	}
	if err := budgets.Apply(k.Budgets, c, ch, budgets.WorkspaceLimits); err != nil {
		return err
	}
	if err := mergeSecurity(c, ch, &org.Value, w); err != nil {
		return err
	}
	return k.mergeWorkspaceSettings(ch.Sent, &org.Value, w)
}

func mergeDefaults(ch *resource.Edit[tenant.Workspace], org *tenant.Organisation, w *tenant.Workspace) error {
	if ch.Sent.Cleared("defaults") {
		w.Defaults = tenant.Defaults{}
	}
	var fields resource.Sent
	if err := ch.Sent.Into("defaults", &fields); err != nil {
		return err
	}
	if err := resource.MergeFields(fields, &w.Defaults); err != nil {
		return err
	}
	if err := defaults.CheckMetadata(w.Defaults.Metadata, "defaults.metadata"); err != nil {
		return err
	}
	filled, err := tenant.Fill(org.Schemas.Workspace, w.Defaults.Metadata, "defaults.metadata")
	w.Defaults.Metadata = filled
	return err
}

// mergeSecurity sets toggles of a workspace. A toggle whose section workspaces may not change is
// accepted with the value in force, so that a client can send back what it read. Another value
// is rejected.
func mergeSecurity(c *resource.Call, ch *resource.Edit[tenant.Workspace], org *tenant.Organisation, w *tenant.Workspace) error {
	var fields map[string]bool
	if err := ch.Sent.Into("security_settings", &fields); err != nil || len(fields) == 0 {
		return err
	}
	now := org.SecurityOf(w).Map()
	next := make(map[string]bool)
	for name, enabled := range w.Security {
		next[name] = enabled
	}
	for _, name := range toggleNames() {
		enabled, there := fields[name]
		section := access.SectionOf(name)
		switch {
		case !there || !org.Open[section] && enabled == now[name]:
		case !org.Open[section]:
			return notOpen(section, "security_settings."+name)
		case enabled != now[name] && c.Principal.RoleAt(ch.New.ID) == access.Manager:
			return fault.New(fault.Forbidden, "managers cannot change these settings, because the settings restrict managers").WithParam("security_settings." + name)
		default:
			next[name] = enabled
		}
	}
	w.Security = next
	return nil
}

func notOpen(section, path string) error {
	return fault.Newf(fault.InvalidParameter, "the organisation does not allow workspaces to change this; it can allow the section %s with workspace_overrides", section).WithParam(path)
}

// mergeWorkspaceSettings does the same for settings; null removes a value.
func (k workspaces) mergeWorkspaceSettings(sent resource.Sent, org *tenant.Organisation, w *tenant.Workspace) error {
	var fields resource.Sent
	if err := sent.Into("settings", &fields); err != nil || len(fields) == 0 {
		return err
	}
	before := viewSettings(org.SettingsOf(w))
	next := *w
	if err := mergeSettings(fields, &next.Settings); err != nil {
		return err
	}
	if err := organisation(k).checkSettings(&next.Settings); err != nil {
		return err
	}
	now := make(resource.Sent)
	if err := json.Unmarshal(jsonfield.Encode(before), &now); err != nil {
		return err
	}
	for name := range fields {
		section := tenant.Section(name)
		if section == "" || org.Open[section] {
			continue
		}
		if string(fields[name]) != string(now[name]) && fields.Has(name) {
			return notOpen(section, "settings."+name)
		}
	}
	w.Settings = next.Settings
	return nil
}
