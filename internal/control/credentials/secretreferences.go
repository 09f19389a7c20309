package credentials

import (
	"context"

	"sluice/internal/control/resource"
	"sluice/internal/control/resource/jsonfield"
	"sluice/internal/control/resource/listing"
	"sluice/internal/domain/credential"
	"sluice/internal/domain/keys"
	"sluice/internal/kernel/fault"
)

// secretReferences are the locations of secrets in external secret managers. Integrations and
// virtual keys map credential fields to them. The gateway reads a secret when it is needed; the
// administration never does.
// Source: contract/identity-and-governance.yaml, secret references; .md section 12.
func (k secretReferences) secretReferences() resource.Resource {
	return &resource.Kind[credential.SecretReference, secretReferenceView]{
		Name: credential.SecretReferenceKind, Object: "secret-reference", Title: "secret reference", Tag: "Secret references", Audited: "secret_references",
		Path: "/secret-references", Param: "secretReferenceId", Perm: "secret_references", Verbs: resource.AllVerbs, Scope: resource.InOrganisation,
		PageSize: 20, PageMax: 100,
		Create: secretReferenceIn{}, Update: secretReferencePatch{}, PreparedFields: []string{"auth_config", "allow_all_workspaces", "allowed_workspaces"},
		Hides: func(path []string) bool { return path[0] == "auth_config" && credential.HidesAuth(path[len(path)-1]) },
		Filters: []resource.Filter{
			{Param: resource.Param{Name: "manager_type", Enum: credential.Managers()}, Index: "manager"},
			listing.SearchFilter(),
			listing.TagFilter(),
		},
		Prepare:    k.prepareSecretReference,
		CanArchive: canArchiveSecretReference,
		Index: func(r *resource.Row[credential.SecretReference]) []resource.IndexEntry {
			return append(listing.TagEntries(r.Value.Tags), resource.IndexEntry{Name: "manager", Value: string(r.Value.Manager)})
		},
		View: k.viewSecretReference,
	}
}

// secretReferenceIn is the body of a creation.
type secretReferenceIn struct {
	OrganisationID string            `json:"organisation_id,omitempty" format:"uuid" doc:"Organisation of the API key"`
	Name           string            `json:"name" minLength:"1" maxLength:"255"`
	Slug           string            `json:"slug,omitempty" maxLength:"255" pattern:"^[a-zA-Z0-9_-]+$" doc:"Unique in the organisation; generated when absent"`
	Description    *string           `json:"description,omitempty" nullable:"true" maxLength:"1024"`
	ManagerType    string            `json:"manager_type" enum:"aws_sm,azure_kv,hashicorp_vault"`
	AuthConfig     map[string]any    `json:"auth_config" writeOnly:"true" doc:"Fields by manager: aws_auth_type, azure_auth_mode or vault_auth_type, and the fields that it requires"`
	SecretPath     string            `json:"secret_path" minLength:"1" maxLength:"1024" doc:"Name or path of the secret in the manager"`
	SecretKey      *string           `json:"secret_key,omitempty" nullable:"true" maxLength:"255" doc:"Member of a secret that is an object"`
	AllowAll       *bool             `json:"allow_all_workspaces,omitempty" doc:"Defaults to true unless allowed_workspaces is sent"`
	Allowed        []string          `json:"allowed_workspaces,omitempty" nullable:"false" minItems:"1" maxItems:"1000" doc:"Ids or slugs of the workspaces that may use it"`
	Tags           map[string]string `json:"tags,omitempty" nullable:"true"`
}

// secretReferencePatch is the body of an update.
type secretReferencePatch struct {
	Name        string            `json:"name,omitempty" minLength:"1" maxLength:"255"`
	Description *string           `json:"description,omitempty" nullable:"true" maxLength:"1024"`
	AuthConfig  map[string]any    `json:"auth_config,omitempty" writeOnly:"true" doc:"Merged into the present fields; null removes a field"`
	SecretPath  string            `json:"secret_path,omitempty" minLength:"1" maxLength:"1024"`
	SecretKey   *string           `json:"secret_key,omitempty" nullable:"true" maxLength:"255"`
	AllowAll    *bool             `json:"allow_all_workspaces,omitempty" doc:"true removes the list of workspaces"`
	Allowed     []string          `json:"allowed_workspaces,omitempty" nullable:"false" minItems:"1" maxItems:"1000" doc:"Replaces the list"`
	Tags        map[string]string `json:"tags,omitempty" nullable:"true"`
}

// secretReferenceView is a reference as clients see it; some fields are shown only when one is
// read.
type secretReferenceView struct {
	ID             string            `json:"id" format:"uuid"`
	Name           string            `json:"name"`
	Slug           string            `json:"slug"`
	ManagerType    string            `json:"manager_type" enum:"aws_sm,azure_kv,hashicorp_vault"`
	Status         string            `json:"status" enum:"ACTIVE"`
	CreatedAt      resource.Stamp    `json:"created_at"`
	LastUpdatedAt  resource.Stamp    `json:"last_updated_at"`
	Object         string            `json:"object" enum:"secret-reference"`
	OrganisationID string            `json:"organisation_id,omitempty" format:"uuid"`
	Description    *string           `json:"description,omitempty"`
	SecretPath     string            `json:"secret_path,omitempty"`
	SecretKey      *string           `json:"secret_key,omitempty"`
	AllowAll       *bool             `json:"allow_all_workspaces,omitempty"`
	Allowed        []string          `json:"allowed_workspaces,omitempty" nullable:"false" doc:"Slugs; absent when all are allowed"`
	Tags           map[string]string `json:"tags,omitempty"`
	CreatedBy      string            `json:"created_by,omitempty"`
	AuthConfig     map[string]string `json:"auth_config,omitempty" doc:"Fields; a secret member x is returned masked, as masked_x"`
}

func (k secretReferences) viewSecretReference(ctx context.Context, c *resource.Call, r resource.Row[credential.SecretReference], detail bool) (secretReferenceView, error) {
	s := r.Value
	v := secretReferenceView{
		ID: r.ID, Name: s.Name, Slug: r.Slug, ManagerType: string(s.Manager), Status: "ACTIVE",
		CreatedAt: resource.Stamp(r.Created), LastUpdatedAt: resource.Stamp(r.Updated), Object: "secret-reference",
	}
	if !detail {
		return v, nil
	}
	auth, err := k.openAuth(&r)
	if err != nil {
		return v, err
	}
	v.AuthConfig = shownAuth(auth)
	for _, id := range s.Workspaces {
		workspace, err := c.Reader.Find(ctx, "workspace", id)
		if fault.Has(err, fault.NotFound) {
			continue
		}
		if err != nil {
			return v, err
		}
		v.Allowed = append(v.Allowed, workspace.ShownSlug())
	}
	v.OrganisationID, v.Description, v.SecretPath, v.SecretKey = r.OrgID, jsonfield.OrNull(s.Description), s.Path, jsonfield.OrNull(s.Key)
	v.AllowAll, v.Tags, v.CreatedBy = &s.All, s.Tags, s.CreatedBy
	return v, nil
}

// shownAuth returns the credentials for a secret manager as responses show them: a secret is
// masked, as masked_<name>.
func shownAuth(auth map[string]string) map[string]string {
	out := make(map[string]string, len(auth))
	for name, value := range auth {
		if credential.HidesAuth(name) {
			name, value = maskPrefix+name, keys.Mask(value)
		}
		out[name] = value
	}
	return out
}
