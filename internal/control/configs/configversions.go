package configs

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"

	"sluice/internal/control/resource"
	"sluice/internal/control/resource/jsonfield"
	"sluice/internal/control/resource/listing"
	"sluice/internal/domain/guardrail"
	"sluice/internal/domain/routing"
	"sluice/internal/kernel/fault"
)

// ConfigVersion is one text that a config had.
type ConfigVersion struct {
	Record resource.Record // as it was when the text was new
	saved  routing.Saved
	number int
}

// ID returns the id of the text.
func (v *ConfigVersion) ID() string {
	return guardrail.VersionID(v.Record.ID, cmp.Or(v.saved.Since, v.Record.Version))
}

// numberConfig records in a config with a new text which version of the text that is.
func (k configs) numberConfig(ctx context.Context, from resource.Reader, ch *resource.Edit[routing.Saved]) error {
	to := &ch.New.Value
	if ch.Old == nil {
		to.Number, to.Since = 1, 1
		return nil
	}
	last := ch.Old.Value.Number
	if last == 0 {
		versions, err := k.configVersions(ctx, from, ch.Old.ID)
		if err != nil {
			return err
		}
		last = len(versions)
	}
	to.Number, to.Since = last+1, ch.Old.Version+1
	return nil
}

// configVersions returns the texts of a config, newest first, as far as the store has them. A
// change that did not change the text does not create a version.
func (k configs) configVersions(ctx context.Context, from resource.Reader, id string) ([]ConfigVersion, error) {
	records, err := from.Versions(ctx, routing.SavedKind, id)
	if err != nil {
		return nil, err
	}
	var versions []ConfigVersion
	for _, r := range records {
		v := ConfigVersion{Record: r}
		if err := json.Unmarshal(r.Body, &v.saved); err != nil {
			return nil, fmt.Errorf("decode version %d of config %s: %w", r.Version, id, err)
		}
		v.Record.Body = nil
		if n := len(versions); n > 0 {
			same, err := k.sameText(&versions[n-1], &v)
			if err != nil {
				return nil, err
			}
			if same {
				versions = versions[:n-1] // of two versions with the same text, the older one introduced it
			}
		}
		versions = append(versions, v)
	}
	for i := range versions {
		versions[i].number = cmp.Or(versions[i].saved.Number, len(versions)-i)
	}
	return versions, nil
}

// sameText reports whether two versions of a record have the same text.
func (k configs) sameText(a, b *ConfigVersion) (bool, error) {
	if a.saved.Number+b.saved.Number > 0 || bytes.Equal(a.saved.Sealed, b.saved.Sealed) {
		return a.saved.Number == b.saved.Number, nil
	}
	one, err := k.textOf(a)
	if err != nil {
		return false, err
	}
	other, err := k.textOf(b)
	return bytes.Equal(one, other), err
}

// textOf returns the text of a version in plain text.
func (k configs) textOf(v *ConfigVersion) ([]byte, error) {
	text, err := v.saved.Open(k.Box, v.Record.ID)
	if err != nil {
		return nil, fmt.Errorf("open version %d of config %s: %w", v.Record.Version, v.Record.ID, err)
	}
	return text, nil
}

// viewConfig shows a config. A read of one config includes its text, in the version that the
// parameter selects.
func (k configs) viewConfig(ctx context.Context, c *resource.Call, r resource.Row[routing.Saved], detail bool) (configView, error) {
	v := bareConfig(r.Record, r.Value)
	if !detail {
		return v, nil
	}
	requested := c.Query("version")
	if requested == "" && r.Value.Since > 0 {
		return k.withText(v, &ConfigVersion{Record: r.Record, saved: r.Value})
	}
	versions, err := k.configVersions(ctx, c.Reader, r.ID)
	if err != nil {
		return v, err
	}
	index := 0
	if number, err := strconv.Atoi(requested); err == nil {
		index = slices.IndexFunc(versions, func(cv ConfigVersion) bool { return cv.number == number })
	} else if requested != "" {
		index = slices.IndexFunc(versions, func(cv ConfigVersion) bool { return cv.ID() == requested })
	}
	if index < 0 {
		return v, fault.New(fault.NotFound, "the config does not have this version").WithParam("version")
	}
	return k.withText(v, &versions[index])
}

func (k configs) withText(v configView, cv *ConfigVersion) (configView, error) {
	text, err := k.textOf(cv)
	if err != nil {
		return v, err
	}
	v.Config, v.Format, v.Type, v.VersionID = maskConfig(text), "json", "ORG_CONFIG", cv.ID()
	return v, nil
}

func bareConfig(r resource.Record, s routing.Saved) configView {
	return configView{
		ID: r.ID, Name: s.Name, Slug: r.ShownSlug(), OrganisationID: r.OrgID, WorkspaceID: r.WorkspaceID, IsDefault: jsonfield.Bit(s.IsDefault),
		Status: r.Status, CreatedAt: resource.Stamp(r.Created), LastUpdatedAt: resource.Stamp(r.Updated), Object: "config",
		OwnerID: s.OwnerID, UpdatedBy: s.UpdatedBy,
	}
}

func (k configs) listVersions(ctx context.Context, c *resource.Call, r resource.Row[routing.Saved]) (any, error) {
	versions, err := k.configVersions(ctx, c.Reader, r.ID)
	if err != nil {
		return nil, err
	}
	text, err := listing.SearchText(c)
	if err != nil {
		return nil, err
	}
	out := resource.ListOf[configView]{Object: "list", Total: versions[0].number, Data: make([]configView, 0, len(versions))}
	for i := range versions {
		cv := &versions[i]
		cv.Record.Slug = r.Slug
		v, err := k.withText(bareConfig(cv.Record, cv.saved), cv)
		if err != nil {
			return nil, err
		}
		if listing.HasText(text, v.Name) {
			out.Data = append(out.Data, v)
		}
	}
	if text != "" {
		out.Total = len(out.Data)
	}
	return out, nil
}

// unmark removes the default mark from a config.
func unmark(ctx context.Context, tx resource.Tx, c *resource.Call, r resource.Record) error {
	var s routing.Saved
	if err := json.Unmarshal(r.Body, &s); err != nil {
		return fmt.Errorf("decode config %s: %w", r.ID, err)
	}
	s.IsDefault = false
	r.Body, r.Updated = jsonfield.Encode(s), c.Now
	r.Index = slices.DeleteFunc(r.Index, func(e resource.IndexEntry) bool { return e.Name == "default" })
	return tx.Update(ctx, r)
}
