package configs

import (
	"context"
	"encoding/json"
	"fmt"
	"reflect"

	"github.com/danielgtaylor/huma/v2"

	"sluice/internal/control/resource"
	"sluice/internal/control/resource/jsonfield"
	"sluice/internal/control/resource/listing"
	"sluice/internal/domain/guardrail"
	"sluice/internal/kernel/access"
	"sluice/internal/kernel/fault"
)

// guardrails are named sets of checks of a workspace or of the whole organisation. Configs and
// defaults name them by id or slug. Each change creates a version. The checks are sealed at
// rest, and responses mask the secrets in them.
// Source: contract/content-and-observability.yaml, guardrails.
func (k guardrails) guardrails() resource.Resource {
	return &resource.Kind[guardrail.Guardrail, guardrailView]{
		Name: guardrail.Kind, Object: "guardrail", Title: "guardrail", Tag: "Guardrails", Audited: "guardrails", Feature: "GUARDRAILS_ENABLED",
		Path: "/guardrails", Param: "guardrailId", Slug: "pg", SlugFrom: 6, Scopes: guardrailScopes, Verbs: resource.AllVerbs, PageSize: 100,
		Scope: resource.Located, Locate: locateGuardrail,
		Create: guardrailIn{}, Update: guardrailPatch{}, PreparedFields: []string{"checks", "actions"},
		Filters: []resource.Filter{
			{Param: resource.Param{Name: "organisation_id", Doc: "Organisation of the API key; selects its guardrails that do not belong to a workspace", Format: "uuid"}, Apply: ofOrganisation},
			listing.NamesFilter("ids"),
		},
		Select:  selectGuardrails,
		Prepare: k.prepareGuardrail,
		Index: func(r *resource.Row[guardrail.Guardrail]) []resource.IndexEntry {
			if r.WorkspaceID == "" {
				return []resource.IndexEntry{{Name: "level", Value: "organisation"}}
			}
			return nil
		},
		View:       k.viewGuardrail,
		CanArchive: canArchiveOrgGuardrail,
		Actions:    []resource.Action[guardrail.Guardrail]{k.dryRunAction()},
		Receipt:    &resource.WriteResponse[guardrail.Guardrail]{Shape: guardrailReceipt{}, Make: receiveGuardrail},
		Done:       &resource.WriteResponse[guardrail.Guardrail]{Shape: guardrailReceipt{}, Make: receiveGuardrail},
	}
}

// guardrailIn is the body of a creation.
type guardrailIn struct {
	jsonfield.OwnerIn
	Name    string      `json:"name" minLength:"1" maxLength:"255"`
	Slug    string      `json:"slug,omitempty" maxLength:"255" pattern:"^[a-zA-Z0-9_-]+$" doc:"Unique in the organisation; generated when absent"`
	Checks  []checkIn   `json:"checks" nullable:"false" minItems:"1" maxItems:"50"`
	Actions actionsSent `json:"actions"`
}

// guardrailPatch is the body of an update.
type guardrailPatch struct {
	Name        string      `json:"name,omitempty" minLength:"1" maxLength:"255"`
	Checks      []checkIn   `json:"checks,omitempty" nullable:"false" minItems:"1" maxItems:"50" doc:"Replaces all; a secret may be sent back as the mask that was returned"`
	Actions     actionsSent `json:"actions,omitempty" doc:"Replaces all actions"`
	WorkspaceID string      `json:"workspace_id,omitempty" doc:"Id or slug of the workspace; for Admin keys"`
}

type checkIn struct {
	ID         string         `json:"id" minLength:"1" maxLength:"255" doc:"Id of the check as source.check, for example default.wordCount"`
	Parameters map[string]any `json:"parameters,omitempty" doc:"Parameters of the check"`
	Name       string         `json:"name,omitempty" maxLength:"255"`
	IsEnabled  bool           `json:"is_enabled,omitempty" default:"true"`
}

// actionsSent are actions as they are sent. guardrail.ReadActions defines their fields, because some
// have several forms.
type actionsSent map[string]any

type guardrailReceipt struct {
	ID        string `json:"id" format:"uuid"`
	Slug      string `json:"slug"`
	VersionID string `json:"version_id" format:"uuid"`
}

func receiveGuardrail(_ context.Context, _ *resource.Call, ch *resource.Edit[guardrail.Guardrail]) (any, error) {
	return guardrailReceipt{ch.New.ID, ch.New.Slug, guardrail.VersionID(ch.New.ID, ch.New.Version)}, nil
}

// guardrailView is a guardrail as clients see it; checks and actions are shown only when one is
// read.
type guardrailView struct {
	ID             string                    `json:"id" format:"uuid"`
	Name           string                    `json:"name"`
	Slug           string                    `json:"slug"`
	OrganisationID string                    `json:"organisation_id" format:"uuid"`
	WorkspaceID    *string                   `json:"workspace_id" nullable:"true" format:"uuid" doc:"null for a guardrail of the organisation"`
	Status         string                    `json:"status" enum:"active,archived"`
	CreatedAt      resource.Stamp            `json:"created_at"`
	LastUpdatedAt  resource.Stamp            `json:"last_updated_at"`
	OwnerID        string                    `json:"owner_id" format:"uuid"`
	UpdatedBy      *string                   `json:"updated_by" nullable:"true" format:"uuid"`
	Object         string                    `json:"object" enum:"guardrail"`
	Checks         *jsonfield.Raw[[]checkIn] `json:"checks,omitempty" doc:"Checks as sent, with masked secrets"`
	Actions        actionsShown              `json:"actions,omitempty" doc:"Actions as sent"`
	VersionID      string                    `json:"version_id,omitempty" format:"uuid"`
}

func (k guardrails) viewGuardrail(_ context.Context, _ *resource.Call, r resource.Row[guardrail.Guardrail], detail bool) (guardrailView, error) {
	g := r.Value
	v := guardrailView{
		ID: r.ID, Name: g.Name, Slug: r.Slug, OrganisationID: r.OrgID, WorkspaceID: jsonfield.OrNull(r.WorkspaceID), Status: r.Status,
		CreatedAt: resource.Stamp(r.Created), LastUpdatedAt: resource.Stamp(r.Updated), OwnerID: g.OwnerID, UpdatedBy: jsonfield.OrNull(g.UpdatedBy), Object: "guardrail",
	}
	if !detail {
		return v, nil
	}
	text, err := g.Text(k.Box, r.ID)
	if err != nil {
		return v, fmt.Errorf("open guardrail %s: %w", r.ID, err)
	}
	v.Checks, v.Actions = &jsonfield.Raw[[]checkIn]{RawMessage: json.RawMessage(maskConfig(text))}, actionsShown(g.SentActions)
	if v.Actions == nil {
		v.Actions = actionsShown(jsonfield.Encode(g.Actions))
	}
	v.VersionID = guardrail.VersionID(r.ID, r.Version)
	return v, nil
}

// actionsShown are actions in a response: JSON in the form in which they were sent.
type actionsShown json.RawMessage

// Schema describes them as they are sent.
func (actionsShown) Schema(r huma.Registry) *huma.Schema {
	return huma.SchemaFromType(r, reflect.TypeFor[actionsSent]())
}

// MarshalJSON writes them unchanged.
func (a actionsShown) MarshalJSON() ([]byte, error) { return a, nil }

// guardrailScopes returns the scopes of guardrails. Those of the organisation have additional
// scopes.
func guardrailScopes(action string, r *resource.Row[guardrail.Guardrail]) []access.Scope {
	scopes := []access.Scope{access.Scope("guardrails." + action)}
	if r == nil || r.WorkspaceID == "" {
		scopes = append(scopes, access.Scope("organisation_guardrails."+action))
	}
	return scopes
}

// locateGuardrail sets the workspace of a new guardrail. An Admin key creates it in the
// workspace that it names, otherwise in the organisation, which it must then name explicitly.
func locateGuardrail(_ context.Context, c *resource.Call, r *resource.Row[guardrail.Guardrail]) error {
	r.WorkspaceID = c.WorkspaceID
	if c.WorkspaceID == "" && !c.Sent.Has("organisation_id") {
		return fault.New(fault.InvalidParameter, "send workspace_id with an id or slug, or organisation_id for a guardrail of the organisation").WithParam("workspace_id")
	}
	return nil
}

func ofOrganisation(c *resource.Call, id string, q *resource.Query) error {
	if err := c.RequireOrganisation(id, "organisation_id"); err != nil {
		return err
	}
	if c.WorkspaceID == "" {
		q.Index = append(q.Index, resource.IndexEntry{Name: "level", Value: "organisation"})
	}
	return nil
}

// selectGuardrails narrows a list to what the caller may see and requested.
func selectGuardrails(ctx context.Context, c *resource.Call, q *resource.Query) error {
	if !c.Holds("guardrails.list") { // the scope for guardrails of the organisation shows nothing else
		q.Index = append(q.Index, resource.IndexEntry{Name: "level", Value: "organisation"})
	}
	return listing.FilterByNames("ids", guardrail.Kind)(ctx, c, q)
}
