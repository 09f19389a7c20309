package client

import (
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Params binds the values of a statement. Each method returns the placeholder to put into the
// SQL, "{p3:String}"; the SQL never contains values. The zero Params is ready to use.
type Params struct{ values []string }

// Clone returns a copy with the same values. Later bindings to one do not affect the other.
func (p *Params) Clone() Params { return Params{slices.Clone(p.values)} }

func (p *Params) add(value, kind string) string {
	p.values = append(p.values, value)
	return "{p" + strconv.Itoa(len(p.values)-1) + ":" + kind + "}"
}

// Text binds a string; invalid UTF-8 is replaced as in rows.
func (p *Params) Text(v string) string { return p.add(escaped.Replace(Valid(v)), "String") }

// Texts binds a list of strings.
func (p *Params) Texts(list []string) string {
	var b strings.Builder
	for i, v := range list {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteByte('\'')
		b.WriteString(quoted.Replace(Valid(v)))
		b.WriteByte('\'')
	}
	return p.add("["+b.String()+"]", "Array(String)")
}

// Int binds a number.
func (p *Params) Int(v int64) string { return p.add(strconv.FormatInt(v, 10), "Int64") }

// Uint binds a number.
func (p *Params) Uint(v uint64) string { return p.add(strconv.FormatUint(v, 10), "UInt64") }

// Float binds a number.
func (p *Params) Float(v float64) string {
	return p.add(strconv.FormatFloat(v, 'g', -1, 64), "Float64")
}

// Time binds a time with microseconds, clamped to the years that rows can have.
func (p *Params) Time(v time.Time) string {
	return p.add(time.UnixMicro(Micros(v)).UTC().Format("2006-01-02 15:04:05.000000"), "DateTime64(6, 'UTC')")
}

// into adds the values to URL parameters.
func (p *Params) into(q url.Values) {
	if p == nil {
		return
	}
	for i, v := range p.values {
		q.Set("param_p"+strconv.Itoa(i), v)
	}
}

// Encoding of strings: single ones as in tab-separated values, in lists quoted.
var (
	escaped = strings.NewReplacer("\\", `\\`, "\x00", `\0`, "\b", `\b`, "\f", `\f`, "\n", `\n`, "\r", `\r`, "\t", `\t`)
	quoted  = strings.NewReplacer("\\", `\\`, "'", `\'`, "\x00", `\0`, "\b", `\b`, "\f", `\f`, "\n", `\n`, "\r", `\r`, "\t", `\t`)
)

// Valid returns a string as rows store it.
func Valid(v string) string { return strings.ToValidUTF8(v, "\uFFFD") }
