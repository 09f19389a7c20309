package admin

import (
	"context"
	"slices"
	"time"

	"sluice/internal/access"
	"sluice/internal/fault"
	"sluice/internal/ident"
	"sluice/internal/keys"
	"sluice/internal/resource"
	"sluice/internal/routing"
	"sluice/internal/sealed"
	"sluice/internal/tenant"
)

// maxMetadata is the maximum length of a metadata value, in characters.
// Source: contract/content-and-observability.md 3.3.
const maxMetadata = 128

// maxDefaultPairs is the maximum number of metadata pairs of a key and of a workspace. A request
// contains no more than that in total.
const maxDefaultPairs = 64

// prepareKey checks what the form of the body does not show, and generates the value of a new
// key.
func (k deps) prepareKey(ctx context.Context, c *resource.Call, ch *resource.Edit[keys.Key]) error {
	key := &ch.New.Value
	if err := checkExpiry(c, ch.Sent, key.ExpiresAt); err != nil {
		return err
	}
	if err := k.checkKeyMetadata(ctx, c, key); err != nil {
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
	if err := k.userKeyRules(ctx, c, ch); err != nil {
		return err
	}
	if err := withinCaller(c, ch); err != nil {
		return err
	}
	if err := takeRotation(ctx, c, ch); err != nil {
		return err
	}
	if err := applyLimits(k, c, ch, keyLimits); err != nil {
		return err
	}
	if ch.Old != nil {
		if reactivate(ch, key.ExpiresAt, c.Now); ch.Old.Status == "expired" && slices.Contains(key.Due(ch.New.Status, c.Now), keys.Rotate) {
			key.Rotation = key.Rotation.AfterRotation(c.Now) // a client that extends a key does not expect a new value immediately
		}
		return nil
	}
	key.CreationMode = sourceOf(c)
	return k.generateSecret(ch)
}

// checkKeyMetadata validates the metadata of a key against the schema of the organisation, and
// adds the defaults of the schema.
func (k deps) checkKeyMetadata(ctx context.Context, c *resource.Call, key *keys.Key) error {
	const path = "defaults.metadata"
	if err := checkMetadata(key.Defaults.Metadata, path); err != nil || key.Type == access.OrganisationService {
		return err
	}
	org, err := readOrganisation(ctx, c)
	if err != nil {
		return err
	}
	key.Defaults.Metadata, err = tenant.Fill(org.Value.Schemas.APIKey, key.Defaults.Metadata, path)
	return err
}

// userKeyRules applies the limits of the workspace to user keys: their number and their
// lifetime.
func (k deps) userKeyRules(ctx context.Context, c *resource.Call, ch *resource.Edit[keys.Key]) error {
	if ch.New.Value.Type != access.WorkspaceUser || ch.Old != nil && !sentAny(ch.Sent, []string{"expires_at"}) {
		return nil
	}
	workspace, err := c.Reader.Find(ctx, tenant.WorkspaceKind, ch.New.WorkspaceID)
	if err != nil {
		return err
	}
	settings, err := settingsOf(ctx, c.Reader, workspace)
	if err != nil {
		return err
	}
	if ch.Old == nil {
		if err := withinCount(ctx, c.Reader, workspace, ch.New.Value.UserID, settings); err != nil {
			return err
		}
	}
	ch.New.Value.ExpiryEnforced = false
	return limitLife(&ch.New.Value, settings, c.Now, sentAny(ch.Sent, []string{"expires_at"}))
}

// checkExpiry rejects an expiry in the past.
func checkExpiry(c *resource.Call, sent resource.Sent, expires *time.Time) error {
	if sent.Has("expires_at") && !expires.After(c.Now) {
		return fault.New(fault.InvalidParameter, "must be in the future").WithParam("expires_at")
	}
	return nil
}

// reactivate makes an expired record active if its expiry was moved or removed.
func reactivate[T any](ch *resource.Edit[T], expires *time.Time, now time.Time) {
	if ch.New.Status == "expired" && (expires == nil || now.Before(*expires)) {
		ch.New.Status = resource.Active
	}
}

// generateSecret generates a raw value for the key, which the response shows once.
func (k deps) generateSecret(ch *resource.Edit[keys.Key]) error {
	secret, raw, err := k.newSecret(ch.New.ID)
	ch.New.Value.Secret, ch.Raw = secret, sealed.New(raw)
	return err
}

// newSecret generates a value for the key with an id. It returns the stored form and the raw
// form.
func (k deps) newSecret(id string) (secret keys.Secret, raw string, err error) {
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
	u, err := userOf(ctx, c, key.UserID, "user_id")
	if err != nil {
		return err
	}
	if u.Value.Role == access.Member { // owners and admins belong to every workspace
		_, err = findMember(ctx, c.Reader, resource.Record{OrgID: r.OrgID, ID: r.WorkspaceID}, key.UserID)
	}
	switch {
	case fault.Has(err, fault.NotFound) && !c.Principal.IsOrgWide():
		return noUser("user_id") // do not reveal members of other workspaces
	case fault.Has(err, fault.NotFound):
		return fault.New(fault.InvalidParameter, "the user is not a member of the workspace; add them first").WithParam("user_id")
	case err == nil && key.UserID != c.Principal.UserID && !c.Principal.CanManageUsers(r.WorkspaceID):
		return fault.New(fault.Forbidden, "you can create keys only for yourself").WithParam("user_id")
	}
	return err
}

func checkMetadata(m map[string]string, path string) error {
	if len(m) > maxDefaultPairs {
		return fault.Newf(fault.InvalidParameter, "must not have more than %d metadata pairs", maxDefaultPairs).WithParam(path)
	}
	for name, v := range m {
		if name == "" || len(name) > maxMetadataKey || len([]rune(v)) > maxMetadata {
			return fault.Newf(fault.InvalidParameter, "metadata values must not exceed %d characters; names must have 1 to %d bytes", maxMetadata, maxMetadataKey).WithParam(path)
		}
	}
	return nil
}

// referAnywhere finds a live record of the organisation in any workspace. If there is none, it
// returns fault.ReferenceMissing with the path of the field.
func referAnywhere(ctx context.Context, c *resource.Call, kind, name, path string) (*resource.Record, error) {
	r, err := resource.FindByName(ctx, c.Reader, kind, access.Target{OrgID: c.OrgID}, name)
	switch {
	case fault.Has(err, fault.NotFound) || err == nil && r.Status == resource.Archived:
		return nil, fault.Newf(fault.ReferenceMissing, "the %s does not exist", kind).WithParam(path)
	case err != nil:
		return nil, fault.From(err).WithParam(path)
	}
	return &r, nil
}

// defaultConfig returns the reference of a field that names a config of the workspace.
func defaultConfig[T any](field func(*T) string, path string, missing fault.Code) resource.Ref[T] {
	return resource.Ref[T]{Kind: "config", Find: func(ctx context.Context, c *resource.Call, r *resource.Row[T]) (*resource.Record, error) {
		name := field(&r.Value)
		if name == "" {
			return nil, nil
		}
		workspace := r.WorkspaceID
		if r.Kind == tenant.WorkspaceKind {
			workspace = r.ID
		}
		rec, err := c.Refer(ctx, "config", workspace, name, path)
		if workspace == "" { // an Admin key, which does not belong to a workspace
			rec, err = referAnywhere(ctx, c, routing.SavedKind, name, path)
		}
		if fault.Has(err, fault.ReferenceMissing) {
			return nil, fault.New(missing, "the workspace does not have this config").WithParam(path)
		}
		return rec, err
	}}
}
