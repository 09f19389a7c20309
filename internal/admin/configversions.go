package admin

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"

	"github.com/google/uuid"

	"sluice/internal/fault"
	"sluice/internal/resource"
	"sluice/internal/routing"
)

// versionID names a version of a record, for ever the same.
func versionID(recordID string, version int64) string {
	space, err := uuid.Parse(recordID)
	if err != nil {
		return ""
	}
	return uuid.NewSHA1(space, strconv.AppendInt(nil, version, 10)).String()
}

// configVersion is one text that a config had.
type configVersion struct {
	record resource.Record // as it was when the text was new
	saved  routing.Saved
	text   []byte // in the clear
}

// configVersions returns the texts of a config, newest first. A change that left
// the text as it was makes no version.
func (k kinds) configVersions(ctx context.Context, from resource.Reader, id string) ([]configVersion, error) {
	records, err := from.Versions(ctx, routing.SavedKind, id)
	if err != nil {
		return nil, err
	}
	var versions []configVersion
	for _, r := range records {
		v := configVersion{record: r}
		if err := json.Unmarshal(r.Body, &v.saved); err != nil {
			return nil, fmt.Errorf("decode version %d of config %s: %w", r.Version, id, err)
		}
		if v.text, err = v.saved.Open(k.Box, id); err != nil {
			return nil, fmt.Errorf("open version %d of config %s: %w", r.Version, id, err)
		}
		if n := len(versions); n > 0 && bytes.Equal(versions[n-1].text, v.text) {
			versions[n-1] = v // the older of two with the same text began it
			continue
		}
		versions = append(versions, v)
	}
	return versions, nil
}

// viewConfig shows a config. When one is read its text is there too, that of the
// version that the parameter asks for.
func (k kinds) viewConfig(ctx context.Context, c *resource.Call, r resource.Row[routing.Saved], detail bool) (configView, error) {
	v := bareConfig(r.Record, r.Value)
	if !detail {
		return v, nil
	}
	versions, err := k.configVersions(ctx, c.Reader, r.ID)
	if err != nil {
		return v, err
	}
	slices.Reverse(versions)
	at := len(versions) - 1
	if want := c.Query("version"); want != "" {
		at = slices.IndexFunc(versions, func(cv configVersion) bool { return versionID(r.ID, cv.record.Version) == want })
		if n, err := strconv.Atoi(want); err == nil {
			at = n - 1
		}
	}
	if at < 0 || at >= len(versions) {
		return v, fault.New(fault.NotFound, "the config has no such version").At("version")
	}
	return withText(v, versions[at]), nil
}

func withText(v configView, cv configVersion) configView {
	v.Config, v.Format, v.Type = maskConfig(cv.text), "json", "ORG_CONFIG"
	v.VersionID = versionID(v.ID, cv.record.Version)
	return v
}

func bareConfig(r resource.Record, s routing.Saved) configView {
	return configView{
		ID: r.ID, Name: s.Name, Slug: r.ShownSlug(), OrganisationID: r.OrgID, WorkspaceID: r.WorkspaceID, IsDefault: bit(s.IsDefault),
		Status: r.Status, CreatedAt: stamp(r.Created), LastUpdatedAt: stamp(r.Updated), Object: "config",
		OwnerID: s.OwnerID, UpdatedBy: s.UpdatedBy,
	}
}

func (k kinds) listVersions(ctx context.Context, c *resource.Call, r resource.Row[routing.Saved]) (any, error) {
	versions, err := k.configVersions(ctx, c.Reader, r.ID)
	if err != nil {
		return nil, err
	}
	out := resource.ListOf[configView]{Object: "list", Total: len(versions), Data: make([]configView, len(versions))}
	for i, cv := range versions {
		cv.record.Slug = r.Slug
		out.Data[i] = withText(bareConfig(cv.record, cv.saved), cv)
	}
	return out, nil
}

// unmark takes the default mark off a config.
func unmark(ctx context.Context, tx resource.Tx, c *resource.Call, r resource.Record) error {
	var s routing.Saved
	if err := json.Unmarshal(r.Body, &s); err != nil {
		return fmt.Errorf("decode config %s: %w", r.ID, err)
	}
	s.IsDefault = false
	r.Body, r.Updated = encode(s), c.Now
	r.Index = slices.DeleteFunc(r.Index, func(e resource.IndexEntry) bool { return e.Name == "default" })
	return tx.Update(ctx, r)
}
