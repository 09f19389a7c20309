package apikeys

import (
	"context"
	"time"

	"sluice/internal/control/directory"
	"sluice/internal/control/resource"
	"sluice/internal/control/resource/jsonfield"
	"sluice/internal/domain/keys"
	"sluice/internal/domain/tenant"
	"sluice/internal/kernel/access"
	"sluice/internal/kernel/fault"
	"sluice/internal/kernel/ident"
	"sluice/internal/kernel/sealed"
)

// joiningScopes are the scopes of a key that is created when a member joins.
// Source: contract/identity-and-governance.yaml, scopes.invite_default_scopes.
var joiningScopes = []string{
	"completions.write", "prompts.render", "prompts.read", "prompts.list", "virtual_keys.list", "providers.list", "models.list", "logs.view", "logs.list", "analytics.view",
}

// keyOnJoining creates a user key for a new member if the workspace requires it.
// Source: contract/identity-and-governance.md section 4.
func (k userKeys) keyOnJoining(ctx context.Context, tx resource.Tx, c *resource.Call, workspace resource.Record, userID string) error {
	settings, err := directory.SettingsOf(ctx, tx, workspace)
	if err != nil || !*settings.KeyAutoCreate {
		return err
	}
	return k.makeUserKey(ctx, tx, c, workspace, userID, joiningScopes)
}

// makeUserKey creates a user key automatically. Its owner reads the raw value in a session.
func (k userKeys) makeUserKey(ctx context.Context, tx resource.Tx, c *resource.Call, workspace resource.Record, userID string, scopes []string) error {
	settings, err := directory.SettingsOf(ctx, tx, workspace)
	if err != nil {
		return err
	}
	id := ident.NewID()
	secret, _, err := apiKeys(k).newSecret(id)
	if err != nil {
		return err
	}
	key := keys.Key{Name: "Own key", Type: access.WorkspaceUser, Scopes: scopes, UserID: userID, CreationMode: "auto", Secret: secret}
	if err := limitLife(&key, settings, c.Now, false); err != nil {
		return err
	}
	if key.Rotation, err = key.Rotation.WithForcedPeriod(*settings.KeyRotationDays, c.Now); err != nil {
		return err
	}
	return tx.Insert(ctx, resource.Record{
		Kind: keys.Kind, ID: id, OrgID: workspace.OrgID, WorkspaceID: workspace.ID, Name: key.Name, Status: resource.Active, Version: 1,
		Created: c.Now, Updated: c.Now, Body: jsonfield.Encode(key), Index: KeyIndex(&key),
	})
}

// limitLife applies the lifetime of user keys: the default if none was sent, and the maximum. It
// rejects a sent expiry beyond the maximum and caps any other.
// Source: contract/identity-and-governance.md section 4.
func limitLife(key *keys.Key, s tenant.Settings, now time.Time, isSent bool) error {
	if key.ExpiresAt == nil && !isSent && *s.KeyTTL > 0 {
		until := now.Add(time.Duration(*s.KeyTTL) * time.Second)
		key.ExpiresAt = &until
	}
	if *s.KeyMaxTTL == 0 {
		return nil
	}
	last := now.Add(time.Duration(*s.KeyMaxTTL) * time.Second)
	switch {
	case key.ExpiresAt == nil:
		key.ExpiresAt, key.ExpiryEnforced = &last, true
	case key.ExpiresAt.After(last):
		return fault.Newf(fault.InvalidParameter, "a user key of this workspace must expire within %s", time.Duration(*s.KeyMaxTTL)*time.Second).WithParam("expires_at")
	}
	return nil
}

// withinCount rejects a user key beyond the number that a user may have in the workspace.
func withinCount(ctx context.Context, from resource.Reader, workspace resource.Record, userID string, s tenant.Settings) error {
	if *s.KeyCount < 0 {
		return nil
	}
	n, err := from.Count(ctx, resource.Query{
		Kind: keys.Kind, OrgID: workspace.OrgID, WorkspaceID: workspace.ID, Statuses: []string{resource.Active, "exhausted"},
		Index: []resource.IndexEntry{{Name: directory.UserEntry, Value: userID}},
	})
	if err == nil && n >= *s.KeyCount {
		err = fault.Newf(fault.InvalidParameter, "the maximum of %d keys per user in this workspace is reached; delete one first", *s.KeyCount).WithParam("user_id")
	}
	return err
}

// rawOf returns the value of a key for a caller who may see it in a session: the user of a user
// key, and after an automatic rotation a caller who may change a service key and gains no rights
// by it.
// Source: contract/identity-and-governance.md section 1.
func (k userKeys) rawOf(c *resource.Call, r *resource.Row[keys.Key]) (sealed.String, error) {
	if c.Principal.Kind != access.BySession || len(r.Value.Secret.Sealed) == 0 || !IsCallerKey(c, r) && !receives(c, r) {
		return sealed.String{}, nil
	}
	plain, err := k.Box.Open(r.Value.Secret.Sealed, keys.Context(r.ID))
	return sealed.New(string(plain)), err
}

// receives reports whether the caller may receive the new value of an automatically rotated key.
func receives(c *resource.Call, r *resource.Row[keys.Key]) bool {
	return r.Value.Type != access.WorkspaceUser && r.Value.AutoRotated &&
		c.May(Scopes("update", r), access.Target{OrgID: r.OrgID, WorkspaceID: r.WorkspaceID}) == nil && mayHave(c, r) == nil
}
