package upstreams

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"sluice/internal/control/destination"
	"sluice/internal/control/grants"
	"sluice/internal/control/resource"
	"sluice/internal/control/resource/jsonfield"
	"sluice/internal/domain/credential"
	"sluice/internal/domain/keys"
	"sluice/internal/kernel/fault"
	"sluice/internal/kernel/sealed"
)

// maxConfigBytes is the maximum size of the configurations of an integration, as JSON.
const maxConfigBytes = 256 << 10

func (f *serverKind[I, S]) context(id string) string { return f.integration + "/" + id }

// open decrypts the configurations of an integration. The secrets in the result are not
// encrypted; it must not outlive its request.
func (f *serverKind[I, S]) open(r *resource.Row[I]) (map[string]any, error) {
	config := map[string]any{}
	data := *f.upstreamOf(&r.Value).config
	if len(data) == 0 {
		return config, nil
	}
	plain, err := f.k.Box.Open(data, f.context(r.ID))
	if err == nil {
		err = json.Unmarshal(plain, &config)
	}
	if err != nil {
		return nil, fmt.Errorf("open %s %s: %w", f.integration, r.ID, err)
	}
	return config, nil
}

func (f *serverKind[I, S]) seal(r *resource.Row[I], config map[string]any) error {
	to := f.upstreamOf(&r.Value).config
	if len(config) == 0 {
		*to = nil
		return nil
	}
	plain := jsonfield.Encode(config)
	if len(plain) > maxConfigBytes {
		return fault.Newf(fault.InvalidParameter, "must not exceed %d bytes", maxConfigBytes).WithParam("configurations")
	}
	data, err := f.k.Box.Seal(plain, f.context(r.ID))
	*to = data
	return err
}

// configure returns the new configurations of an integration: the sent ones with each mask
// replaced by the stored secret, or the stored ones if none were sent. Stored secrets do not
// follow an integration to another host; the caller must send them again. Otherwise a caller
// who may change an integration could read secrets that responses never show.
func (f *serverKind[I, S]) configure(ch *resource.Edit[I]) (map[string]any, error) {
	stored, moved := map[string]any{}, false
	if ch.Old != nil {
		var err error
		if stored, err = f.open(ch.Old); err != nil {
			return nil, err
		}
		moved = destination.Origin(*f.upstreamOf(&ch.Old.Value).url) != destination.Origin(*f.upstreamOf(&ch.New.Value).url)
	}
	_, remapped := ch.Sent["secret_mappings"]
	if moved && !remapped && len(*f.upstreamOf(&ch.Old.Value).mappings) > 0 {
		return nil, fault.New(fault.InvalidParameter, "the address points to another host; send the mappings again").WithParam("secret_mappings")
	}
	raw, isSent := ch.Sent["configurations"]
	if !isSent {
		if moved && f.hasSecret(stored, nil) {
			return nil, fault.New(fault.InvalidParameter, "the address points to another host; send the configurations again, with their secrets").WithParam("configurations")
		}
		return stored, nil
	}
	sent := map[string]any{}
	if err := json.Unmarshal(raw, &sent); err != nil {
		return nil, fault.New(fault.InvalidParameter, "must be an object").WithParam("configurations").WithCause(err)
	}
	maps.DeleteFunc(sent, func(_ string, v any) bool { return v == nil })
	if moved || !maps.Equal(f.addresses(stored), f.addresses(sent)) {
		stored = nil
	}
	var known any
	if stored != nil {
		known = stored
	}
	unmasked, misfit := f.unmask(sent, known, nil)
	if misfit != "" {
		return nil, fault.New(fault.InvalidParameter, "is a mask but does not match a stored secret for this address; send the secret itself").WithParam("configurations" + misfit)
	}
	config, _ := unmasked.(map[string]any)
	if err := f.check(config); err != nil {
		return nil, err
	}
	for path, raw := range f.addresses(config) {
		if err := f.k.Addresses.CheckURL(raw); err != nil {
			return nil, fault.From(err).WithParam(path)
		}
	}
	return config, nil
}

// mask returns a value of the configurations as responses show it, with its secrets masked.
func (f *serverKind[I, S]) mask(v any, path []string) any {
	switch v := v.(type) {
	case string:
		if f.hides(path) && v != "" {
			return strings.ToValidUTF8(keys.Mask(v), "�")
		}
	case map[string]any:
		out := make(map[string]any, len(v))
		for name, inner := range v {
			out[name] = f.mask(inner, appendPath(path, name))
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i, inner := range v {
			out[i] = f.mask(inner, appendPath(path, strconv.Itoa(i)))
		}
		return out
	}
	return v
}

func appendPath(path []string, name string) []string { return append(slices.Clone(path), name) }

// unmask replaces each mask in v by the stored secret at the same path. misfit is the path of a
// mask that does not match a stored secret, with a leading dot; "" if all match.
func (f *serverKind[I, S]) unmask(v, stored any, path []string) (unmasked any, misfit string) {
	switch v := v.(type) {
	case string:
		if !f.hides(path) || !keys.IsMask(v) {
			return v, ""
		}
		if old, ok := stored.(string); ok && keys.Mask(old) == v {
			return old, ""
		}
		return v, "." + strings.Join(path, ".")
	case map[string]any:
		old, _ := stored.(map[string]any)
		for _, name := range slices.Sorted(maps.Keys(v)) {
			if v[name], misfit = f.unmask(v[name], old[name], appendPath(path, name)); misfit != "" {
				return v, misfit
			}
		}
	case []any:
		old, _ := stored.([]any)
		for i := range v {
			var was any
			if i < len(old) {
				was = old[i]
			}
			if v[i], misfit = f.unmask(v[i], was, appendPath(path, strconv.Itoa(i))); misfit != "" {
				return v, misfit
			}
		}
	}
	return v, ""
}

// hasSecret reports whether v contains a non-empty string that responses mask.
func (f *serverKind[I, S]) hasSecret(v any, path []string) bool {
	switch v := v.(type) {
	case string:
		return v != "" && f.hides(path)
	case map[string]any:
		for name, inner := range v {
			if f.hasSecret(inner, appendPath(path, name)) {
				return true
			}
		}
	case []any:
		return slices.ContainsFunc(v, func(inner any) bool { return f.hasSecret(inner, appendPath(path, "0")) })
	}
	return false
}

// maskedView contains configurations with masked secrets.
type maskedView map[string]any

// shown returns the configurations as responses show them, null if there are none.
func (f *serverKind[I, S]) shown(r *resource.Row[I]) (jsonfield.Nullable[maskedView], error) {
	config, err := f.open(r)
	if err != nil || len(config) == 0 {
		return jsonfield.Nullable[maskedView]{}, err
	}
	masked, _ := f.mask(config, nil).(map[string]any) // mask returns a map for a map
	return jsonfield.Nullable[maskedView]{Object: new(maskedView(masked))}, nil
}

// listedOrRead returns the fields that differ between lists and single responses. Lists show how
// many workspaces may use the integration. The response for a single integration (detail)
// shows its configurations.
func (f *serverKind[I, S]) listedOrRead(r *resource.Row[I], detail bool) (workspaces *int, config jsonfield.Nullable[maskedView], err error) {
	if !detail {
		return new(len(grants.GrantedTo(r.Index))), config, nil
	}
	config, err = f.shown(r)
	return nil, config, err
}

// hidesInBody reports whether the string at a path of a body is a secret.
func (f *serverKind[I, S]) hidesInBody(path []string) bool {
	return len(path) > 0 && path[0] == "configurations" && f.hides(path[1:])
}

const configPrefix = "configurations."

// parseMappingTarget parses the target of a mapping, with or without "configurations.". It
// returns fault.InvalidParameter at path for a field that cannot be mapped.
func (f *serverKind[I, S]) parseMappingTarget(target, path string) (sealed.Mapping, error) {
	field := strings.TrimPrefix(target, configPrefix)
	if !f.mappable(field) {
		return sealed.Mapping{}, fault.New(fault.InvalidParameter, "this field cannot be mapped; map configurations.custom_headers.<name> instead").WithParam(path + ".target_field")
	}
	return sealed.Mapping{Target: configPrefix + field, Field: field}, nil
}

const headersField = "custom_headers"

// headers returns the headers with which the gateway authenticates at the upstream. Values that
// mappings read from secret managers replace stored ones. workspaceID selects the workspace, ""
// the organisation. The error is fault.SecretUnavailable if a secret cannot be obtained.
func (f *serverKind[I, S]) headers(ctx context.Context, c *resource.Call, r *resource.Row[I], workspaceID string) (http.Header, error) {
	h := http.Header{}
	up := f.upstreamOf(&r.Value)
	if !up.headers {
		return h, nil
	}
	config, err := f.open(r)
	if err != nil {
		return nil, err
	}
	mapped, err := prober{f.k}.mapped(ctx, c, *up.mappings, workspaceID)
	if err != nil {
		return nil, err
	}
	all, _ := config[headersField].(map[string]any)
	if all == nil {
		all = map[string]any{}
	}
	if raw, ok := mapped[headersField]; ok {
		if err := json.Unmarshal([]byte(raw), &all); err != nil {
			return nil, fault.New(fault.SecretUnavailable, "the mapped secret of custom_headers must be a JSON object of strings")
		}
	}
	for field, v := range mapped {
		if name, ok := strings.CutPrefix(field, headersField+"."); ok {
			all[name] = v
		}
	}
	if err := f.check(map[string]any{headersField: all}); err != nil { // mapped headers were not checked before
		return nil, err
	}
	for name, v := range all {
		if s, ok := v.(string); ok {
			h.Set(name, s)
		}
	}
	return h, nil
}

// mapped reads the values of mappings from their secret managers, by field. workspaceID selects
// the workspace, "" the organisation.
func (k prober) mapped(ctx context.Context, c *resource.Call, mappings []sealed.Mapping, workspaceID string) (map[string]string, error) {
	if len(mappings) == 0 {
		return nil, nil
	}
	uses := make([]credential.SecretUse, len(mappings))
	for i, m := range mappings {
		uses[i] = credential.SecretUse{Field: m.Field, Key: m.Key, Format: m.Format}
		ref, err := resource.FindLive[credential.SecretReference](ctx, c.Reader, credential.SecretReferenceKind, m.Reference)
		if fault.Has(err, fault.NotFound) || err == nil && workspaceID != "" && !ref.Value.VisibleTo(workspaceID) {
			continue
		}
		if err != nil {
			return nil, err
		}
		auth, err := k.OpenReference(ref)
		if err != nil {
			return nil, err
		}
		uses[i].Source = &credential.SecretSource{RecordID: ref.ID, Revision: ref.Version, Manager: ref.Value.Manager, Path: ref.Value.Path, Auth: auth}
		if m.Key == "" {
			uses[i].Key = ref.Value.Key
		}
	}
	return k.Secrets.Read(ctx, uses)
}
