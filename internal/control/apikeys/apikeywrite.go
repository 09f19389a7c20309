package apikeys

import (
	"context"
	"slices"

	"sluice/internal/control/budgets"
	"sluice/internal/control/defaults"
	"sluice/internal/control/directory"
	"sluice/internal/control/expiry"
	"sluice/internal/control/resource"
	"sluice/internal/control/resource/jsonfield"
	"sluice/internal/domain/keys"
	"sluice/internal/domain/tenant"
	"sluice/internal/kernel/access"
	"sluice/internal/kernel/fault"
	"sluice/internal/kernel/ident"
	"sluice/internal/kernel/sealed"
)

// prepareKey checks what the form of the body does not show, and generates the value of a new
// key.
func (k apiKeys) prepareKey(ctx context.Context, c *resource.Call, ch *resource.Edit[keys.Key]) error {
	key := &ch.New.Value
	if err := expiry.Check(c, ch.Sent, key.ExpiresAt); err != nil {
		return err
	}
	if err := checkKeyMetadata(ctx, c, key); err != nil {
		return err
	}
	if ch.Old == nil {
		if err := checkUser(ctx, c, ch.New); err != nil {
			return err
		}
	}
	if ch.Sent.Has("scopes") {
		if err := checkKeyScopes(c, ch.New); err != nil {
			return err
		}
	}
	if err := userKeyRules(ctx, c, ch); err != nil {
		return err
	}
	if err := withinCaller(c, ch); err != nil {
		return err
	}
	if err := takeRotation(ctx, c, ch); err != nil {
		return err
	}
	if err := budgets.Apply(k.Budgets, c, ch, budgets.KeyLimits); err != nil {
		return err
	}
	if ch.Old != nil {
		if expiry.Reactivate(ch, key.ExpiresAt, c.Now); ch.Old.Status == "expired" && slices.Contains(key.Due(ch.New.Status, c.Now), keys.Rotate) {
			key.Rotation = key.Rotation.AfterRotation(c.Now) // a client that extends a key does not expect a new value immediately
		}
		return nil
	}
	key.CreationMode = directory.SourceOf(c)
	return k.generateSecret(ch)
}

// checkKeyMetadata validates the metadata of a key against the schema of the organisation, and
// adds the defaults of the schema.
func checkKeyMetadata(ctx context.Context, c *resource.Call, key *keys.Key) error {
	const path = "defaults.metadata"
	if err := defaults.CheckMetadata(key.Defaults.Metadata, path); err != nil || key.Type == access.OrganisationService {
		return err
	}
	org, err := directory.FindOrganisation(ctx, c)
	if err != nil {
		return err
	}
	key.Defaults.Metadata, err = tenant.Fill(org.Value.Schemas.APIKey, key.Defaults.Metadata, path)
	return err
}

// userKeyRules applies the limits of the workspace to user keys: their number and their
// lifetime.
func userKeyRules(ctx context.Context, c *resource.Call, ch *resource.Edit[keys.Key]) error {
	if ch.New.Value.Type != access.WorkspaceUser || ch.Old != nil && !jsonfield.SentAny(ch.Sent, []string{"expires_at"}) {
		return nil
	}
	workspace, err := c.Reader.Find(ctx, tenant.WorkspaceKind, ch.New.WorkspaceID)
	if err != nil {
		return err
	}
	settings, err := directory.SettingsOf(ctx, c.Reader, workspace)
	if err != nil {
		return err
	}
	if ch.Old == nil {
		if err := withinCount(ctx, c.Reader, workspace, ch.New.Value.UserID, settings); err != nil {
			return err
		}
	}
	ch.New.Value.ExpiryEnforced = false
	return limitLife(&ch.New.Value, settings, c.Now, jsonfield.SentAny(ch.Sent, []string{"expires_at"}))
}

// generateSecret generates a raw value for the key, which the response shows once.
func (k apiKeys) generateSecret(ch *resource.Edit[keys.Key]) error {
	secret, raw, err := k.newSecret(ch.New.ID)
	ch.New.Value.Secret, ch.Raw = secret, sealed.New(raw)
	return err
}

// newSecret generates a value for the key with an id. It returns the stored form and the raw
// form.
func (k apiKeys) newSecret(id string) (secret keys.Secret, raw string, err error) {
	raw = ident.NewKey(k.KeyPrefix)
	shut, err := k.Box.Seal([]byte(raw), keys.Context(id))
	return keys.Secret{Hash: k.Hasher.Sum(raw), Sealed: shut, Masked: keys.Mask(raw)}, raw, err
}

// checkUser determines the owner of a user key: the caller's user if the body does not name one.
// The owner must belong to the workspace. Only callers who manage the workspace may create keys
// for other users.
func checkUser(ctx context.Context, c *resource.Call, r *resource.Row[keys.Key]) error {
	key := &r.Value
	if key.Type != access.WorkspaceUser {
		if key.UserID != "" {
			return fault.New(fault.InvalidParameter, "only a user key can belong to a user; omit user_id").WithParam("user_id")
		}
		return nil
	}
	if key.UserID == "" {
		key.UserID = c.Principal.UserID
	}
	if key.UserID == "" {
		return fault.New(fault.InvalidParameter, "is required, because your API key is not a user key").WithParam("user_id")
	}
	u, err := directory.FindUser(ctx, c, key.UserID, "user_id")
	if err != nil {
		return err
	}
	if u.Value.Role == access.Member { // owners and admins belong to every workspace
		_, err = directory.FindMember(ctx, c.Reader, resource.Record{OrgID: r.OrgID, ID: r.WorkspaceID}, key.UserID)
	}
	switch {
	case fault.Has(err, fault.NotFound) && !c.Principal.IsOrgWide():
		return directory.UserNotFound("user_id") // do not reveal members of other workspaces
	case fault.Has(err, fault.NotFound):
		return fault.New(fault.InvalidParameter, "the user is not a member of the workspace; add them first").WithParam("user_id")
	case err == nil && key.UserID != c.Principal.UserID && !c.Principal.CanManageUsers(r.WorkspaceID):
		return fault.New(fault.Forbidden, "you can create keys only for yourself").WithParam("user_id")
	}
	return err
}
