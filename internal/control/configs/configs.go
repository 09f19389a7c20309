package configs

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"

	"github.com/danielgtaylor/huma/v2"
	"github.com/tidwall/gjson"

	"sluice/internal/control/destination"
	"sluice/internal/control/resource"
	"sluice/internal/control/resource/jsonfield"
	"sluice/internal/control/resource/listing"
	"sluice/internal/domain/guardrail"
	"sluice/internal/domain/routing"
	"sluice/internal/kernel/fault"
	"sluice/internal/provider"
)

// configs are the saved gateway configs. routing.Parse validates their content. Each new text is
// a new version, and the newest is in force. Texts are sealed at rest, and responses mask the
// secrets in them.
// Source: contract/content-and-observability.yaml, configs.
func (k configs) configs() resource.Resource {
	return &resource.Kind[routing.Saved, configView]{
		Name: routing.SavedKind, Object: "config", Title: "config", Tag: "Configs", Audited: "configs",
		Path: "/configs", Param: "slug", Slug: "pc", SlugFrom: 6,
		Perm: "configs", Verbs: resource.AllVerbs, Scope: resource.InWorkspace, PageSize: 100,
		Create: configIn{}, Update: configPatch{}, PreparedFields: []string{"config", "isDefault"},
		Views:   []resource.Param{{Name: "version", Doc: "Version number, starting at 1, or version_id; defaults to the newest version"}},
		Prepare: k.prepareConfig,
		Index: func(r *resource.Row[routing.Saved]) []resource.IndexEntry {
			if !r.Value.IsDefault {
				return nil
			}
			return []resource.IndexEntry{{Name: "default", Value: "1"}}
		},
		Refs:    []resource.Ref[routing.Saved]{{Kind: guardrail.Kind, All: guardrails(k).configGuardrails}},
		After:   onlyDefault,
		View:    k.viewConfig,
		Receipt: &resource.WriteResponse[routing.Saved]{Shape: configReceipt{}, Make: receiveConfig},
		Done:    &resource.WriteResponse[routing.Saved]{Shape: configDone{}, Make: k.changedConfig},
		Actions: []resource.Action[routing.Saved]{{
			Name: "list", Method: "GET", Path: "/versions", ID: "listConfigVersions", Summary: "List the versions of a config, newest first",
			Query: listing.SearchParams("part of the name that the config had"), Response: resource.ListOf[configView]{}, Read: k.listVersions,
		}},
	}
}

// configIn is the body of a creation.
type configIn struct {
	Name        string         `json:"name" minLength:"1" maxLength:"255"`
	Config      configText     `json:"config" doc:"the gateway config, as an object or as its JSON text"`
	IsDefault   jsonfield.Flag `json:"isDefault,omitempty"`
	WorkspaceID string         `json:"workspace_id,omitempty" doc:"Id or slug of the workspace; for Admin keys"`
}

// configPatch is the body of an update.
type configPatch struct {
	Name        string         `json:"name,omitempty" minLength:"1" maxLength:"255"`
	Config      configText     `json:"config,omitempty" doc:"the gateway config, as an object or as its JSON text; a new text makes a new version; a secret may be sent back as the mask that was shown"`
	Status      string         `json:"status,omitempty" enum:"active,archived"`
	IsDefault   jsonfield.Flag `json:"isDefault,omitempty"`
	WorkspaceID string         `json:"workspace_id,omitempty" doc:"Id or slug of the workspace; for Admin keys"`
}

// configText is a config in a body: an object, or its text as responses show it.
type configText struct{}

// Schema describes configText.
func (configText) Schema(huma.Registry) *huma.Schema {
	return &huma.Schema{OneOf: []*huma.Schema{{Type: huma.TypeObject, AdditionalProperties: true}, {Type: huma.TypeString}}}
}

// sentConfig returns the document of a config that was sent in either form.
func sentConfig(sent json.RawMessage) (json.RawMessage, error) {
	var text string
	if json.Unmarshal(sent, &text) != nil {
		return sent, nil //nolint:nilerr // it is not a text; the schema checks every other value
	}
	if !gjson.Valid(text) || !gjson.Parse(text).IsObject() {
		return nil, fault.New(fault.InvalidParameter, "the text is not a JSON object").WithParam("config")
	}
	return json.RawMessage(text), nil
}

// configReceipt is the response to a creation: flat, with the same fields within data for
// clients that read them there.
type configReceipt struct {
	ConfigMade
	Success bool       `json:"success"`
	Data    ConfigMade `json:"data"`
}

// ConfigMade names a new config and its first version.
type ConfigMade struct {
	ID        string `json:"id" format:"uuid"`
	VersionID string `json:"version_id" format:"uuid"`
	Slug      string `json:"slug"`
	Object    string `json:"object" enum:"config"`
}

type configDone struct {
	VersionID string `json:"version_id" format:"uuid"`
}

func receiveConfig(_ context.Context, _ *resource.Call, ch *resource.Edit[routing.Saved]) (any, error) {
	made := ConfigMade{ch.New.ID, guardrail.VersionID(ch.New.ID, 1), ch.New.Slug, "config"}
	return configReceipt{made, true, made}, nil
}

// changedConfig returns the version in force: the new one, or the old one if the text did not
// change.
func (k configs) changedConfig(ctx context.Context, c *resource.Call, ch *resource.Edit[routing.Saved]) (any, error) {
	if since := ch.New.Value.Since; since > 0 {
		return configDone{guardrail.VersionID(ch.New.ID, since)}, nil
	}
	versions, err := k.configVersions(ctx, c.Reader, ch.New.ID)
	if err != nil {
		return nil, err
	}
	return configDone{versions[0].ID()}, nil
}

// configView is a config as clients see it; the text is shown only when one config is read.
type configView struct {
	ID             string         `json:"id" format:"uuid"`
	Name           string         `json:"name"`
	Slug           string         `json:"slug"`
	OrganisationID string         `json:"organisation_id" format:"uuid"`
	WorkspaceID    string         `json:"workspace_id" format:"uuid"`
	IsDefault      int            `json:"is_default" enum:"0,1"`
	Status         string         `json:"status" enum:"active,archived"`
	CreatedAt      resource.Stamp `json:"created_at"`
	LastUpdatedAt  resource.Stamp `json:"last_updated_at"`
	OwnerID        string         `json:"owner_id,omitempty" format:"uuid" doc:"User or key that created it"`
	UpdatedBy      string         `json:"updated_by,omitempty" format:"uuid" doc:"User or key that last changed it"`
	Object         string         `json:"object" enum:"config"`
	Config         string         `json:"config,omitempty" doc:"JSON text with masked secrets"`
	Format         string         `json:"format,omitempty" enum:"json"`
	Type           string         `json:"type,omitempty" enum:"ORG_CONFIG"`
	VersionID      string         `json:"version_id,omitempty" format:"uuid"`
}

// prepareConfig checks and seals a text that was sent. A text equal to the stored one leaves the
// sealed bytes unchanged.
func (k configs) prepareConfig(ctx context.Context, c *resource.Call, ch *resource.Edit[routing.Saved]) error {
	if ch.New.Value.UpdatedBy = c.Principal.Actor(); ch.Old == nil {
		ch.New.Value.OwnerID = c.Principal.Actor()
	}
	if err := jsonfield.SetFlag(ch.Sent, "isDefault", &ch.New.Value.IsDefault); err != nil {
		return err
	}
	sent, isSent := ch.Sent["config"]
	if ch.Old != nil && !isSent {
		return nil
	}
	old, err := k.storedConfig(ch.Old)
	if err != nil {
		return err
	}
	if sent, err = sentConfig(sent); err != nil {
		return err
	}
	doc, err := unmaskConfig(withoutSpace(sent), old)
	if err != nil {
		return err
	}
	parsed, err := routing.Parse(doc, k.Limits)
	if err != nil || ch.Old != nil && bytes.Equal(doc, old) {
		return err
	}
	if err := k.checkInlineGuardrails(parsed); err != nil {
		return err
	}
	for _, target := range parsed.Leaves() {
		if err := destination.RejectGatewayIdentity(c, provider.Values(target.Fields), func(field string) string { return target.Path + "." + field }); err != nil {
			return err
		}
	}
	if err := k.numberConfig(ctx, c.Reader, ch); err != nil {
		return err
	}
	return ch.New.Value.Seal(k.Box, ch.New.ID, doc)
}

// storedConfig returns the text of a config; nil for none.
func (k configs) storedConfig(r *resource.Row[routing.Saved]) ([]byte, error) {
	if r == nil {
		return nil, nil
	}
	doc, err := r.Value.Open(k.Box, r.ID)
	if err != nil {
		return nil, fmt.Errorf("open config %s: %w", r.ID, err)
	}
	return doc, nil
}

// withoutSpace removes the white space between tokens: two texts that differ only in white space
// are the same version.
func withoutSpace(raw []byte) []byte {
	var b bytes.Buffer
	if json.Compact(&b, raw) != nil {
		return raw // cannot happen: the body was parsed as JSON
	}
	return b.Bytes()
}

// onlyDefault removes the default mark from the previous default config of the workspace.
func onlyDefault(ctx context.Context, tx resource.Tx, c *resource.Call, ch *resource.Edit[routing.Saved]) error {
	if !ch.New.Value.IsDefault || ch.Old != nil && ch.Old.Value.IsDefault {
		return nil
	}
	rows, err := tx.List(ctx, resource.Query{
		Kind: routing.SavedKind, OrgID: ch.New.OrgID, WorkspaceID: ch.New.WorkspaceID, Index: []resource.IndexEntry{{Name: "default", Value: "1"}},
	})
	for _, r := range rows {
		if r.ID == ch.New.ID {
			continue
		}
		if err := unmark(ctx, tx, c, r); err != nil {
			return err
		}
	}
	return err
}
