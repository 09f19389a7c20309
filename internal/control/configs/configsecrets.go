package configs

import (
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/tidwall/gjson"

	"sluice/internal/control/destination"
	"sluice/internal/control/resource"
	"sluice/internal/domain/keys"
	"sluice/internal/kernel/sealed"
)

// configSecret is a secret value of a config document.
type configSecret struct {
	path     string // "targets[0].api_key"
	from, to int    // byte offsets of the value in the document
	text     string // the value
	mask     string // what responses show instead: "sk*****x4Q"
	goesTo   string // the providers and addresses of the objects around it
}

// findSecrets lists the secrets of a config document, in order. resource.SecretField decides
// which fields hold secrets, in targets and in the parameters of checks. Below such a field each
// string is a secret, so that a service account or a set of headers still shows its field names.
func findSecrets(doc []byte) []configSecret {
	var s secretSearch
	s.walk(gjson.ParseBytes(doc), secretPath{})
	return s.found
}

type secretSearch struct{ found []configSecret }

// secretPath is the path of a value in a config.
type secretPath struct {
	path   string
	name   string // of the field that contains it
	list   string // the field whose list contains the surrounding object
	secret bool   // below a secret field
	goesTo string
}

func (s *secretSearch) walk(v gjson.Result, location secretPath) {
	switch {
	case v.IsObject():
		if !location.secret {
			location.goesTo += secretDestination(v, location.list)
		}
		v.ForEach(func(k, member gjson.Result) bool {
			s.walk(member, location.member(k.String()))
			return true
		})
	case v.IsArray():
		i := -1
		v.ForEach(func(_, element gjson.Result) bool {
			i++
			s.walk(element, location.element(i))
			return true
		})
	case v.Type == gjson.String && v.Str != "" && location.secret:
		s.add(v, v.Str, location)
	case v.Type == gjson.String && shownURL(location.name, v.Str) != v.Str, v.Type == gjson.String && strings.Contains(v.Str, sealed.Mask) && strings.Contains(v.Str, "://"):
		s.found = append(s.found, configSecret{location.path, v.Index, v.Index + len(v.Raw), v.Str, shownURL(location.name, v.Str), location.goesTo})
	case v.Type == gjson.Number && resource.SecretNumber(location.name):
		s.add(v, v.Raw, location)
	}
}

func (s *secretSearch) add(v gjson.Result, text string, location secretPath) {
	mask := strings.ToValidUTF8(keys.Mask(text), "�")
	s.found = append(s.found, configSecret{location.path, v.Index, v.Index + len(v.Raw), text, mask, location.goesTo})
}

func (location secretPath) member(name string) secretPath {
	location.secret = location.secret || resource.SecretField(name, location.list)
	location.name = name
	if !plainName.MatchString(name) {
		name = strconv.Quote(name)
	}
	location.path = strings.TrimPrefix(location.path+"."+name, ".")
	return location
}

func (location secretPath) element(i int) secretPath {
	location.path += "[" + strconv.Itoa(i) + "]"
	location.list = location.name
	return location
}

// shownURL returns a field text as responses show it: a URL with credentials is masked, other
// texts are unchanged.
func shownURL(name, text string) string {
	if resource.WebhookField(name) {
		return sealed.Webhook(text)
	}
	return sealed.Address(text)
}

var plainName = regexp.MustCompile(`^[A-Za-z0-9_$-]+$`)

// secretDestination returns where an object of a config sends its secrets: its provider, the fields
// that select the destination, and the URLs in it, in any order.
func secretDestination(object gjson.Result, list string) string {
	var parts []string
	object.ForEach(func(k, v gjson.Result) bool {
		name := k.String()
		if v.Type == gjson.String && (destination.IsField(name) || strings.Contains(v.Str, "://")) && !resource.SecretField(name, list) {
			parts = append(parts, strconv.Quote(name)+strconv.Quote(shownURL(name, v.Str))) // the masked URL leads to the same destination
		}
		return true
	})
	slices.Sort(parts)
	return "{" + strings.Join(parts, "")
}
