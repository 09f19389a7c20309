package credentials

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"sluice/internal/control/destination"
	"sluice/internal/control/resource"
	"sluice/internal/control/resource/jsonfield"
	"sluice/internal/domain/keys"
	"sluice/internal/kernel/fault"
	"sluice/internal/kernel/sealed"
	"sluice/internal/kernel/wire"
	"sluice/internal/provider"
)

// Fields of every provider. Source: contract/identity-and-governance.yaml,
// IntegrationConfigurations.any.
const (
	customHost    = "custom_host"
	customHeaders = "custom_headers"
)

// secrets reads and writes the credential fields of a stored provider: the main secret, under
// provider.Key, and the other fields. They are sealed with the context of the record.
type secrets struct {
	k       Deps
	spec    *provider.Spec
	context string // "integration/0191…"
	field   string // body field that contains the fields: "configurations"; empty if the body itself does
}

// values contains credential fields by name, each as JSON. The secrets in it are not encrypted;
// it must not outlive its request.
type values map[string]json.RawMessage

// findSpec returns a provider by id or alias. If there is none, it returns
// fault.InvalidParameter at field.
func (k specs) findSpec(id, field string) (*provider.Spec, error) {
	spec, ok := k.Specs.Find(id)
	if !ok {
		return nil, fault.New(fault.InvalidParameter, "the provider does not exist").WithParam(field)
	}
	return spec, nil
}

// open decrypts the stored main secret and fields. Both may be empty.
func (s secrets) open(key, fields []byte) (values, error) {
	v := values{}
	if len(fields) > 0 {
		plain, err := s.k.Box.Open(fields, s.context)
		if err != nil {
			return nil, fmt.Errorf("open the fields of %s: %w", s.context, err)
		}
		if err := json.Unmarshal(plain, &v); err != nil {
			return nil, fmt.Errorf("read the fields of %s: %w", s.context, err)
		}
	}
	if len(key) > 0 {
		plain, err := s.k.Box.Open(key, s.context)
		if err != nil {
			return nil, fmt.Errorf("open the key of %s: %w", s.context, err)
		}
		v[provider.Key] = jsonfield.Encode(string(plain))
	}
	return v, nil
}

// seal encrypts the main secret and the other fields. Each result is nil if there is nothing to
// encrypt.
func (s secrets) seal(v values) (key, fields []byte, err error) {
	rest := maps.Clone(v)
	delete(rest, provider.Key)
	if raw := text(v[provider.Key]); raw != "" {
		if key, err = s.k.Box.Seal([]byte(raw), s.context); err != nil {
			return nil, nil, err
		}
	}
	if len(rest) > 0 {
		fields, err = s.k.Box.Seal(jsonfield.Encode(rest), s.context)
	}
	return key, fields, err
}

// sealSent reads the mappings of a body, checks that the provider accepts all values and that
// the caller may save them, and seals them into a record. prefix is the prefix of the targets
// of mappings. before contains the stored values, v the new ones.
func (s secrets) sealSent(ctx context.Context, c *resource.Call, sent resource.Sent, workspaceID, prefix string, before, v values, to storedSecret) (err error) {
	mapped := keyMapped(*to.mappings)
	if *to.mappings, err = s.mappings(ctx, c, sent, workspaceID, prefix, *to.mappings); err != nil {
		return err
	}
	if keyMapped(*to.mappings) && !mapped && sent.Secret("key").Empty() { // the mapping replaces the stored one
		delete(v, provider.Key)
	}
	if err := s.check(v.stand(*to.mappings)); err != nil {
		return err
	}
	if !maps.EqualFunc(before, v, func(a, b json.RawMessage) bool { return bytes.Equal(a, b) }) {
		if err := destination.RejectGatewayIdentity(c, s.ready(v), s.fieldPath); err != nil {
			return err
		}
	}
	if s.spec.Auth.Scheme == "header" && !wire.ValidValue(text(v[provider.Key])) { // every call would be rejected
		return fault.New(fault.InvalidParameter, "must not contain control characters such as line breaks, because it is sent in a header").WithParam("key")
	}
	*to.masked = s.masked(v)
	*to.key, *to.fields, err = s.seal(v)
	return err
}

// keyMapped reports whether a mapping provides the main secret.
func keyMapped(mappings []sealed.Mapping) bool {
	return slices.ContainsFunc(mappings, func(m sealed.Mapping) bool { return m.Field == provider.Key })
}

// storedSecret points to the credential fields of a record.
type storedSecret struct {
	key, fields *[]byte
	masked      *string
	mappings    *[]sealed.Mapping
}

// takeKey copies the main secret of a body to v. An empty one removes it from v.
func (s secrets) takeKey(v values, sent resource.Sent) {
	switch {
	case !sent.Has("key"):
	case sent.Secret("key").Empty():
		delete(v, provider.Key)
	default:
		v[provider.Key] = sent["key"]
	}
}

// maskPrefix is the prefix of the fields that contain masked secrets in responses.
const maskPrefix = "masked_"

// withoutMasks returns the object sent without the masks that it repeats from the response
// shown. It returns fault.InvalidParameter if a mask has changed. path is the path of the
// object in the body.
func withoutMasks(sent map[string]json.RawMessage, shown map[string]any, path string) (map[string]json.RawMessage, error) {
	out := make(map[string]json.RawMessage, len(sent))
	for name, raw := range sent {
		mask, there := shown[name]
		switch {
		case !there || !strings.HasPrefix(name, maskPrefix):
			out[name] = raw
		case !sameJSON(raw, mask):
			return nil, fault.Newf(fault.InvalidParameter, "shows what is stored, masked, and cannot be changed; send %s itself", strings.TrimPrefix(name, maskPrefix)).WithParam(path + "." + name)
		}
	}
	return out, nil
}

// sameJSON reports whether raw is the JSON of v, apart from formatting.
func sameJSON(raw json.RawMessage, v any) bool {
	var a, b any
	return json.Unmarshal(raw, &a) == nil && json.Unmarshal(jsonfield.Encode(v), &b) == nil && reflect.DeepEqual(a, b)
}

// replace replaces the present fields in v by the sent ones. Secret fields that were not sent
// remain, because clients cannot send back what responses never show. null removes them, as
// in add.
func (s secrets) replace(v values, sent map[string]json.RawMessage, mappings []sealed.Mapping) error {
	nulled := make(map[string]bool)
	for name, raw := range sent {
		if f, known := s.find(name); known && string(raw) == "null" {
			nulled[f] = true // add decides whether to remove it
		}
	}
	for name := range v {
		if name != provider.Key && !s.secret(name) && !nulled[name] {
			delete(v, name)
		}
	}
	return s.add(v, sent, mappings)
}

// add adds the sent fields to v and replaces those of the same name. null removes a field that
// the provider does not require, and does not change other fields.
func (s secrets) add(v values, sent map[string]json.RawMessage, mappings []sealed.Mapping) error {
	var nulled []string
	for name, raw := range sent {
		f, known := s.find(name)
		switch {
		case string(raw) == "null" && known:
			nulled = append(nulled, f)
		case string(raw) == "null":
		case !known:
			return fault.Newf(fault.InvalidParameter, "%s does not have this field", s.spec.ID).WithParam(s.fieldPath(name))
		case f == deploymentsField:
			v[f] = plainDeployments(raw)
		default:
			v[f] = raw
		}
	}
	slices.Sort(nulled)
	for _, f := range nulled {
		stored, there := v[f]
		if delete(v, f); there && s.check(v.stand(mappings)) != nil {
			v[f] = stored
		}
	}
	return nil
}

// unsentSecretPath returns the path in the body of a stored secret that was not sent again, or
// "" if there is none. Stored secrets must not follow a record to another host. Otherwise a
// caller who may change the record could read secrets at that host that responses never show.
func (s secrets) unsentSecretPath(v values, sent resource.Sent, fields map[string]json.RawMessage, mappings []sealed.Mapping) string {
	if _, remapped := sent["secret_mappings"]; !remapped && len(mappings) > 0 {
		return "secret_mappings"
	}
	provided := map[string]bool{provider.Key: !sent.Secret("key").Empty()}
	for name := range fields {
		if f, known := s.find(name); known {
			provided[f] = true
		}
	}
	for _, name := range slices.Sorted(maps.Keys(v)) {
		if s.secret(name) && !provided[name] {
			if name == provider.Key {
				return "key"
			}
			return s.fieldPath(name)
		}
	}
	return ""
}

// fieldPath returns the path of a field in the body.
func (s secrets) fieldPath(name string) string {
	if s.field != "" {
		return s.field + "." + name
	}
	for short, long := range providerFields {
		if long == name {
			return short
		}
	}
	return name
}

// find returns the stored name of a field. name may be an alias or in camel case.
func (s secrets) find(name string) (string, bool) {
	if name == customHost || name == customHeaders {
		return name, true
	}
	for _, twin := range []string{name, resource.SnakeName(name)} {
		for _, f := range s.spec.Fields {
			if !f.Deployment && f.Name != provider.Key && (f.Name == twin || slices.Contains(f.Aliases, twin)) {
				return f.Name, true
			}
		}
	}
	return "", false
}

func (s secrets) secret(name string) bool {
	return name == customHeaders || name == provider.Key ||
		slices.ContainsFunc(s.spec.Fields, func(f provider.Field) bool { return f.Name == name && f.Secret })
}

// check checks that the values contain every field that the provider requires, and that each
// has a valid form.
func (s secrets) check(v values) error {
	if raw, ok := v[customHost]; ok {
		if err := s.k.Guard.CheckURL(text(raw)); err != nil {
			return fault.From(err).WithParam(s.fieldPath(customHost))
		}
	}
	if raw, ok := v[customHeaders]; ok {
		var headers map[string]string
		if json.Unmarshal(raw, &headers) != nil {
			return fault.New(fault.InvalidParameter, "must be an object of strings").WithParam(s.fieldPath(customHeaders))
		}
	}
	ready := s.ready(v)
	p, err := s.spec.Plan(anyCall, ready)
	switch {
	case fault.Has(err, fault.NotSupported):
		return nil
	case err != nil:
		return s.blame(fault.From(err), ready)
	}
	if err := p.CheckIdentityHost(ready, s.k.Guard.TakesStoredKeys); err != nil {
		return fault.From(err).WithParam(s.fieldPath(p.Named))
	}
	return nil
}

// ready returns the values in the form that the data plane uses.
func (s secrets) ready(v values) provider.Values {
	flat := make(map[string]string, len(v))
	for name, raw := range v {
		flat[name] = text(raw)
	}
	ready := provider.Values{}
	s.spec.FromTarget(flat, ready)
	return ready
}

// blame converts an error of the provider specification, which names a header, to one that
// names the field of the body.
func (s secrets) blame(f *fault.Error, provided provider.Values) error {
	for _, field := range s.spec.Fields {
		if f.Param != field.Name && !slices.Contains(field.Headers, f.Param) && (field.Name != provider.Key || f.Param != "authorization") {
			continue
		}
		path := s.fieldPath(field.Name)
		if field.Name == provider.Key {
			path = provider.Key
		}
		if provided[field.Name] == "" {
			return fault.Newf(fault.InvalidParameter, "%s requires %s", s.spec.ID, field.Name).WithParam(path)
		}
		return fault.New(fault.InvalidParameter, f.Text()).WithParam(path)
	}
	if f.Param == "x-gateway-custom-host" {
		return fault.Newf(fault.InvalidParameter, "%s requires a custom host because it does not have a public address", s.spec.ID).WithParam(s.fieldPath(customHost))
	}
	return f
}

// masked returns the main secret as responses show it, or "" without one.
func (s secrets) masked(v values) string {
	if raw := text(v[provider.Key]); raw != "" {
		return keys.Mask(raw)
	}
	return ""
}

// shown returns the fields as responses show them: secret ones masked, as masked_<name>. The main
// secret is not among them.
func (s secrets) shown(v values) map[string]any {
	out := make(map[string]any, len(v))
	for name, raw := range v {
		switch {
		case name == provider.Key:
		case name == customHeaders:
			out[maskPrefix+name] = maskedHeaders(raw)
		case s.secret(name):
			out[maskPrefix+name] = keys.Mask(text(raw))
		default:
			out[name] = raw
		}
	}
	return out
}

// maskedHeaders returns the names of the headers with masked values.
func maskedHeaders(raw json.RawMessage) map[string]string {
	var headers map[string]string
	_ = json.Unmarshal(raw, &headers) // checked when it was stored
	for name, v := range headers {
		headers[name] = keys.Mask(v)
	}
	return headers
}

// text returns a value in the form that the data plane uses: the content of a JSON string, and
// the JSON of any other value.
func text(raw json.RawMessage) string {
	var s string
	if json.Unmarshal(raw, &s) == nil {
		return s
	}
	return string(raw)
}
