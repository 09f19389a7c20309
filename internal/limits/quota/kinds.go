package quota

import "sluice/internal/kernel/fault"

// CheckKinds rejects conditions on provider kinds that do not exist, because no call could
// meet them: for example "demo", the name of a saved provider, instead of its kind "openai".
// find returns the id of the kind that has a name or alias. The error is
// fault.InvalidParameter for the field.
func CheckKinds(list []Condition, find func(name string) (id string, ok bool)) error {
	for i, c := range list {
		param := path("conditions", i)
		if err := checkKinds(c.Key, c.Value, param+".value", find); err != nil {
			return err
		}
		if err := checkKinds(c.Key, c.Excludes, param+".excludes", find); err != nil {
			return err
		}
	}
	return nil
}

func checkKinds(k Key, list Values, param string, find func(string) (string, bool)) error {
	for _, v := range list {
		kind, named := k.kind(v)
		if !named {
			continue
		}
		switch id, ok := find(kind); {
		case !ok:
			return fault.Newf(fault.InvalidParameter, "%q is not a kind of provider such as openai; use the key virtual_key for a saved provider", kind).WithParam(param)
		case id != kind:
			return fault.Newf(fault.InvalidParameter, "write this kind of provider as %q, not as %q", id, kind).WithParam(param)
		}
	}
	return nil
}

// kind returns the provider kind that a value of the key names, if it names one.
func (k Key) kind(value string) (kind string, named bool) {
	p, ok := k.read(value)
	switch {
	case !ok || p.all:
		return "", false
	case k == modelKey:
		return p.kind, true
	}
	return p.text, k == "provider"
}
