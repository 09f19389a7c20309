package credentials

import (
	"context"
	"encoding/json"
	"maps"
	"slices"

	"sluice/internal/control/grants"
	"sluice/internal/control/resource"
	"sluice/internal/control/resource/jsonfield"
	"sluice/internal/control/resource/listing"
	"sluice/internal/control/secretmapping"
	"sluice/internal/domain/credential"
	"sluice/internal/kernel/access"
	"sluice/internal/kernel/fault"
	"sluice/internal/kernel/sealed"
)

// integrations are stored credentials of model providers, of the organisation or of one
// workspace. Each has a list of models and the workspaces that may use it.
// Source: contract/identity-and-governance.yaml, integrations.
func (k integrations) integrations() resource.Resource {
	return &resource.Kind[credential.Integration, integrationView]{
		Name: credential.IntegrationKind, Object: "integration", Title: "integration", Tag: "Integrations", Audited: "integrations",
		Path: "/integrations", Param: "slug", Scopes: integrationScopes, Verbs: resource.AllVerbs, PageSize: 100,
		Scope: resource.Located, Locate: grants.LocateLevel[credential.Integration],
		Create: integrationIn{}, Update: integrationPatch{},
		PreparedFields: []string{"is_key_required", "key", "configurations", "create_default_provider", "default_provider_slug", "secret_mappings"},
		Filters:        []resource.Filter{grants.LevelFilter(), listing.TagFilter()},
		Select:         grants.SelectLevels("integrations"),
		Prepare:        k.prepareIntegration,
		Index: func(r *resource.Row[credential.Integration]) []resource.IndexEntry {
			return IntegrationIndex(&r.Value, r.WorkspaceID, r.Index)
		},
		Refs:    []resource.Ref[credential.Integration]{secretmapping.Ref(func(integration *credential.Integration) []sealed.Mapping { return integration.Mappings })},
		After:   k.afterIntegration,
		View:    k.viewIntegration,
		Receipt: &resource.WriteResponse[credential.Integration]{Shape: grants.IntegrationReceipt{}, Make: receiveIntegration},
		Actions: append(models(k).modelActions(), sharing(k).grantActions()...),
	}
}

// IntegrationIndex returns the index entries of an integration, also for integrations that other
// packages create. It retains the grants among the present entries; present is nil for a new
// integration.
func IntegrationIndex(integration *credential.Integration, workspaceID string, present []resource.IndexEntry) []resource.IndexEntry {
	entries := slices.DeleteFunc(slices.Clone(present), func(e resource.IndexEntry) bool { return e.Name != grants.WorkspaceName && e.Name != grants.GlobalName })
	if workspaceID != "" {
		entries = []resource.IndexEntry{{Name: grants.WorkspaceName, Value: workspaceID}}
	}
	return slices.Concat(entries, []resource.IndexEntry{grants.LevelEntry(grants.LevelOf(workspaceID))}, listing.TagEntries(integration.Tags))
}

func integrationScopes(action string, r *resource.Row[credential.Integration]) []access.Scope {
	return grants.LevelScopes("integrations", action, r)
}

// prepareIntegration validates the credentials against the requirements of the provider, and
// seals them.
func (k integrations) prepareIntegration(ctx context.Context, c *resource.Call, ch *resource.Edit[credential.Integration]) error {
	integration := &ch.New.Value
	if err := listing.CheckTags(integration.Tags); err != nil {
		return err
	}
	if ch.Sent.Has("is_key_required") {
		integration.KeyRequired = new(false)
		if err := jsonfield.SetFlag(ch.Sent, "is_key_required", integration.KeyRequired); err != nil {
			return err
		}
	}
	if err := checkAdjustments(ch.Sent, integration); err != nil {
		return err
	}
	if err := readDefaultProvider(ch); err != nil {
		return err
	}
	spec, err := specs(k).findSpec(integration.AIProviderID, "ai_provider_id")
	if err != nil {
		return err
	}
	integration.AIProviderID = spec.ID
	s := secrets{k: k.Deps, spec: spec, context: credential.IntegrationKind + "/" + ch.New.ID, field: "configurations"}
	values, err := s.open(integration.Key, integration.Configurations)
	if err != nil {
		return err
	}
	before := maps.Clone(values)
	s.takeKey(values, ch.Sent)
	var fields map[string]json.RawMessage
	if err := ch.Sent.Into("configurations", &fields); err != nil {
		return err
	}
	if fields, err = withoutMasks(fields, s.shown(before), s.field); err != nil {
		return err
	}
	if _, sent := ch.Sent["configurations"]; sent {
		if err := s.replace(values, fields, integration.Mappings); err != nil {
			return err
		}
	}
	if ch.Old != nil {
		if err := s.checkHostUnchanged(ch.Sent, fields, before, values, integration.Mappings); err != nil {
			return err
		}
	}
	return s.sealSent(ctx, c, ch.Sent, ch.New.WorkspaceID, "configurations.", before, values, storedSecret{&integration.Key, &integration.Configurations, &integration.MaskedKey, &integration.Mappings})
}

func readDefaultProvider(ch *resource.Edit[credential.Integration]) error {
	for _, name := range []string{"create_default_provider", "default_provider_slug"} {
		if ch.Sent.Has(name) && ch.New.WorkspaceID == "" {
			return fault.New(fault.InvalidParameter, "not allowed for an integration of the organisation; grants to workspaces create its providers").WithParam(name)
		}
	}
	return nil
}

// afterIntegration creates the default provider of a new workspace integration. If the
// integration is archived, it archives its providers and deletes the usage of its limits.
func (k integrations) afterIntegration(ctx context.Context, tx resource.Tx, c *resource.Call, ch *resource.Edit[credential.Integration]) error {
	switch {
	case ch.New.Status == resource.Archived:
		if err := k.Meters.DropMeters(ctx, tx, ch.New.ID, ""); err != nil {
			return err
		}
		return dropProviders(ctx, tx, c, ch.New.Record, "")
	case ch.Old == nil && ch.New.WorkspaceID != "" && string(ch.Sent["create_default_provider"]) != "false":
		return providers(k).makeProvider(ctx, tx, c, ch.New, ch.New.WorkspaceID, ch.Sent.Text("default_provider_slug"))
	}
	return nil
}
