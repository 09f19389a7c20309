package dialecttest

import (
	"fmt"
	"reflect"

	"sluice/internal/kernel/llm"
)

// Diff lists where two calls differ, as paths with both values, for example
// `Messages[1].Parts[0].Text: "a" and "b"`; nothing when they are equal. The calls are
// compared as loose says, copies of which are made: the calls themselves stay.
func Diff(a, b *llm.Call, loose ...Loose) []string {
	return differences(reflect.ValueOf(relaxed(a, loose)), reflect.ValueOf(relaxed(b, loose)))
}

// DiffResponses does for replies what Diff does for calls, and knows nothing that
// shapes cannot tell apart but the places of parts.
func DiffResponses(a, b *llm.Response) []string {
	a, b = clone(a), clone(b)
	for _, r := range []*llm.Response{a, b} {
		for i := range r.Choices {
			clearPositions(r.Choices[i].Parts)
		}
	}
	return differences(reflect.ValueOf(a), reflect.ValueOf(b))
}

func differences(a, b reflect.Value) []string {
	d := differ{}
	d.walk("", a, b)
	return d.found
}

type differ struct{ found []string }

func (d *differ) note(path string, a, b any) {
	d.found = append(d.found, fmt.Sprintf("%s: %+v and %+v", path, a, b))
}

func (d *differ) walk(path string, a, b reflect.Value) {
	if bytesOf(a.Type()) {
		if string(a.Bytes()) != string(b.Bytes()) {
			d.note(path, string(a.Bytes()), string(b.Bytes()))
		}
		return
	}
	switch a.Kind() {
	case reflect.Pointer:
		switch {
		case a.IsNil() && b.IsNil():
		case a.IsNil() || b.IsNil():
			d.note(path, show(a), show(b))
		default:
			d.walk(path, a.Elem(), b.Elem())
		}
	case reflect.Struct:
		for i := range a.NumField() {
			name := a.Type().Field(i).Name
			if path != "" {
				name = path + "." + name
			}
			d.walk(name, a.Field(i), b.Field(i))
		}
	case reflect.Slice:
		for i := range min(a.Len(), b.Len()) {
			d.walk(fmt.Sprintf("%s[%d]", path, i), a.Index(i), b.Index(i))
		}
		for i := b.Len(); i < a.Len(); i++ {
			d.note(fmt.Sprintf("%s[%d]", path, i), show(a.Index(i)), "nothing")
		}
		for i := a.Len(); i < b.Len(); i++ {
			d.note(fmt.Sprintf("%s[%d]", path, i), "nothing", show(b.Index(i)))
		}
	default:
		if !a.Equal(b) {
			d.note(path, fmt.Sprintf("%#v", a.Interface()), fmt.Sprintf("%#v", b.Interface()))
		}
	}
}

func bytesOf(t reflect.Type) bool {
	return t.Kind() == reflect.Slice && t.Elem().Kind() == reflect.Uint8
}

func show(v reflect.Value) string {
	for v.Kind() == reflect.Pointer && !v.IsNil() {
		v = v.Elem()
	}
	return fmt.Sprintf("%+v", v.Interface())
}

// clone copies v and all that it points to.
func clone[T any](v *T) *T {
	return copied(reflect.ValueOf(v)).Interface().(*T)
}

func copied(v reflect.Value) reflect.Value {
	out := reflect.New(v.Type()).Elem()
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			out.Set(reflect.New(v.Type().Elem()))
			out.Elem().Set(copied(v.Elem()))
		}
	case reflect.Struct:
		for i := range v.NumField() {
			out.Field(i).Set(copied(v.Field(i)))
		}
	case reflect.Slice:
		if !v.IsNil() {
			out.Set(reflect.MakeSlice(v.Type(), v.Len(), v.Len()))
			for i := range v.Len() {
				out.Index(i).Set(copied(v.Index(i)))
			}
		}
	default:
		out.Set(v)
	}
	return out
}
