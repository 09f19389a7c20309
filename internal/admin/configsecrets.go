package admin

import (
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/tidwall/gjson"

	"sluice/internal/keys"
	"sluice/internal/resource"
	"sluice/internal/sealed"
)

// configSecret is a secret value of a config document.
type configSecret struct {
	path     string // "targets[0].api_key"
	from, to int    // where the value stands in the document
	text     string // what it says
	mask     string // what answers show instead: "sk*****x4Q"
	goesTo   string // the providers and addresses of the objects around it
}

// findSecrets lists the secrets of a config document, in order. Which fields hold
// some is resource.SecretField's to say, in targets and in the parameters of checks
// alike; below such a field each string is one, so that a service account or a set
// of headers still shows which fields it has.
func findSecrets(doc []byte) []configSecret {
	var s secretSearch
	s.look(gjson.ParseBytes(doc), secretPath{})
	return s.found
}

type secretSearch struct{ found []configSecret }

// secretPath is where a value of a config stands.
type secretPath struct {
	path   string
	name   string // of the field that it is in
	list   string // the field whose list the object around it stands in
	secret bool   // below a field with secrets
	goesTo string
}

func (s *secretSearch) look(v gjson.Result, at secretPath) {
	switch {
	case v.IsObject():
		if !at.secret {
			at.goesTo += destination(v, at.list)
		}
		v.ForEach(func(k, member gjson.Result) bool {
			s.look(member, at.member(k.String()))
			return true
		})
	case v.IsArray():
		i := -1
		v.ForEach(func(_, element gjson.Result) bool {
			i++
			s.look(element, at.element(i))
			return true
		})
	case v.Type == gjson.String && v.Str != "" && at.secret:
		s.add(v, v.Str, at)
	case v.Type == gjson.String && shownURL(at.name, v.Str) != v.Str, v.Type == gjson.String && strings.Contains(v.Str, sealed.Mask) && strings.Contains(v.Str, "://"):
		s.found = append(s.found, configSecret{at.path, v.Index, v.Index + len(v.Raw), v.Str, shownURL(at.name, v.Str), at.goesTo})
	case v.Type == gjson.Number && resource.SecretNumber(at.name):
		s.add(v, v.Raw, at)
	}
}

func (s *secretSearch) add(v gjson.Result, text string, at secretPath) {
	mask := strings.ToValidUTF8(keys.Mask(text), "�")
	s.found = append(s.found, configSecret{at.path, v.Index, v.Index + len(v.Raw), text, mask, at.goesTo})
}

func (at secretPath) member(name string) secretPath {
	at.secret = at.secret || resource.SecretField(name, at.list)
	at.name = name
	if !plainName.MatchString(name) {
		name = strconv.Quote(name)
	}
	at.path = strings.TrimPrefix(at.path+"."+name, ".")
	return at
}

func (at secretPath) element(i int) secretPath {
	at.path += "[" + strconv.Itoa(i) + "]"
	at.list = at.name
	return at
}

// shownURL is a text of a field as answers show it where it is a URL that holds
// credentials, and else as it is.
func shownURL(name, text string) string {
	if resource.WebhookField(name) {
		return sealed.Webhook(text)
	}
	return sealed.Address(text)
}

var plainName = regexp.MustCompile(`^[A-Za-z0-9_$-]+$`)

// places are what the names of fields hold that stand in a provider's host or say whose
// account a call is for: azure_resource_name, snowflakeAccount. A region alone leads to nobody else.
var places = []string{"resource", "account", "workspace", "host", "url", "endpoint", "tenan", "project", "domain", "compartment", "bucket", "foundry"}

// isPlace reports whether a field of that name says where a call goes.
func isPlace(name string) bool {
	name = strings.ToLower(name)
	return name == "provider" || name == "virtual_key" || name == "virtualkey" ||
		slices.ContainsFunc(places, func(p string) bool { return strings.Contains(name, p) })
}

// destination tells where an object of a config sends its secrets: its provider, the
// fields that say where that is, and the URLs in it, whatever their order.
func destination(object gjson.Result, list string) string {
	var parts []string
	object.ForEach(func(k, v gjson.Result) bool {
		name := k.String()
		if v.Type == gjson.String && (isPlace(name) || strings.Contains(v.Str, "://")) && !resource.SecretField(name, list) {
			parts = append(parts, strconv.Quote(name)+strconv.Quote(shownURL(name, v.Str))) // the mask of a URL leads to the same place
		}
		return true
	})
	slices.Sort(parts)
	return "{" + strings.Join(parts, "")
}
