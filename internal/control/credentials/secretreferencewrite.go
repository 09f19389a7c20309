package credentials

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"sluice/internal/control/directory"
	"sluice/internal/control/resource"
	"sluice/internal/control/resource/jsonfield"
	"sluice/internal/control/resource/listing"
	"sluice/internal/domain/agent"
	"sluice/internal/domain/credential"
	"sluice/internal/domain/mcp"
	"sluice/internal/kernel/access"
	"sluice/internal/kernel/fault"
)

// openAuth returns the decrypted credentials of a reference.
func (k secretReferences) openAuth(r *resource.Row[credential.SecretReference]) (map[string]string, error) {
	auth := map[string]string{}
	if len(r.Value.Auth) == 0 {
		return auth, nil
	}
	plain, err := k.Box.Open(r.Value.Auth, credential.ReferenceContext(r.ID))
	if err == nil {
		err = json.Unmarshal(plain, &auth)
	}
	if err != nil {
		return nil, fmt.Errorf("open secret reference %s: %w", r.ID, err)
	}
	return auth, nil
}

// prepareSecretReference merges the credentials that were sent into the present ones, and sets
// which workspaces may use the reference.
func (k secretReferences) prepareSecretReference(ctx context.Context, c *resource.Call, ch *resource.Edit[credential.SecretReference]) error {
	s := &ch.New.Value
	if err := listing.CheckTags(s.Tags); err != nil {
		return err
	}
	if ch.Old == nil {
		s.All, s.CreatedBy = true, c.Principal.ID
		if err := unusedSlug(ctx, c, ch.New.Record, credential.SecretReferenceKind); err != nil {
			return err
		}
	}
	if err := k.prepareAuth(ch); err != nil {
		return err
	}
	return allowWorkspaces(ctx, c, ch)
}

// unusedSlug rejects a slug that is already used with the error that the contract of secret
// references requires, which is not a conflict.
// Source: contract/identity-and-governance.md section 16, 11.
func unusedSlug(ctx context.Context, c *resource.Call, r resource.Record, kind string) error {
	other, err := resource.FindByName(ctx, c.Reader, kind, access.Target{OrgID: r.OrgID}, r.Slug)
	switch {
	case fault.Has(err, fault.NotFound):
		return nil
	case err == nil && other.Status != resource.Archived:
		return fault.Newf(fault.InvalidParameter, "another secret reference has the slug %q", r.Slug).WithParam("slug")
	}
	return err
}

func (k secretReferences) prepareAuth(ch *resource.Edit[credential.SecretReference]) error {
	s := &ch.New.Value
	auth, err := k.openAuth(ch.New)
	if err != nil {
		return err
	}
	before := maps.Clone(auth)
	sent, err := sentAuth(ch.Sent["auth_config"], before)
	if err != nil {
		return err
	}
	var named []string
	for name, v := range sent {
		if v == nil {
			delete(auth, name)
			continue
		}
		auth[name] = *v
		named = append(named, name)
	}
	raw, path, err := credential.CheckAuth(s.Manager, auth, named)
	if err != nil {
		return err
	}
	if ch.Old != nil && raw != "" && before[path[strings.LastIndexByte(path, '.')+1:]] != raw {
		for name := range auth {
			if credential.HidesAuth(name) && !slices.Contains(named, name) {
				return fault.New(fault.InvalidParameter, "the address points to another host; send the secret again").WithParam("auth_config." + name)
			}
		}
	}
	if raw != "" {
		if err := k.checkManagerURL(s.Manager, auth, raw, path); err != nil {
			return err
		}
	}
	s.Auth, err = k.Box.Seal(jsonfield.Encode(auth), credential.ReferenceContext(ch.New.ID))
	return err
}

// sentAuth reads the credential fields that were sent, without the masks of stored ones.
func sentAuth(raw json.RawMessage, stored map[string]string) (sent map[string]*string, err error) {
	if raw == nil {
		return nil, nil
	}
	var fields map[string]json.RawMessage
	shown := make(map[string]any, len(stored))
	for name, v := range shownAuth(stored) {
		shown[name] = v
	}
	if json.Unmarshal(raw, &fields) == nil {
		if fields, err = withoutMasks(fields, shown, "auth_config"); err != nil {
			return nil, err
		}
		raw = jsonfield.Encode(fields)
	}
	if json.Unmarshal(raw, &sent) != nil {
		return nil, fault.New(fault.InvalidParameter, "must be an object of strings").WithParam("auth_config")
	}
	return sent, nil
}

// checkManagerURL rejects private addresses. It also rejects hosts that would receive the
// gateway's identity without belonging to the cloud or being approved by the operator.
func (k secretReferences) checkManagerURL(m credential.Manager, auth map[string]string, raw, path string) error {
	if err := k.Guard.CheckURL(raw); err != nil {
		return fault.From(err).WithParam(path)
	}
	if to := credential.IdentityAddress(m, auth); to == "" || k.Guard.TakesStoredKeys(to) {
		return nil
	}
	return fault.New(fault.AddressRefused, "this sign-in method sends a token of the gateway itself; the operator must list its host and port in STORED_KEY_HOSTS").WithParam(path)
}

// allowWorkspaces sets which workspaces may use the reference.
func allowWorkspaces(ctx context.Context, c *resource.Call, ch *resource.Edit[credential.SecretReference]) error {
	s := &ch.New.Value
	var all *bool
	var names []string
	if err := ch.Sent.Into("allow_all_workspaces", &all); err != nil {
		return err
	}
	if err := ch.Sent.Into("allowed_workspaces", &names); err != nil {
		return err
	}
	switch {
	case all != nil && *all && names != nil:
		return fault.New(fault.InvalidParameter, "set allow_all_workspaces or allowed_workspaces, not both").WithParam("allowed_workspaces")
	case all != nil && *all:
		s.All, s.Workspaces = true, nil
	case names != nil:
		ids, err := directory.FindWorkspaceIDs(ctx, c, names, "allowed_workspaces")
		if err != nil {
			return err
		}
		s.All, s.Workspaces = false, ids
	case all != nil && len(s.Workspaces) == 0:
		return fault.New(fault.InvalidParameter, "must list at least one workspace that may use it").WithParam("allowed_workspaces")
	}
	return nil
}

// canArchiveSecretReference rejects deletion of a reference that is in use. The contract
// requires 400 here, not the usual 409.
func canArchiveSecretReference(ctx context.Context, c *resource.Call, r *resource.Row[credential.SecretReference]) error {
	for _, user := range []struct{ kind, title string }{{credential.IntegrationKind, "integration"}, {credential.VirtualKeyKind, "virtual key"}, {mcp.IntegrationKind, "MCP integration"}, {agent.IntegrationKind, "agent integration"}} {
		rows, err := resource.ListReferrers(ctx, c.Reader, user.kind, r.Record, "")
		if err != nil {
			return err
		}
		if len(rows) > 0 {
			return fault.Newf(fault.InvalidRequest, "still in use by %d %s(s), for example %s; remove these references first", len(rows), user.title, rows[0].ShownSlug())
		}
	}
	return nil
}
