package config

import (
	"fmt"
	"net/url"
	"strconv"
	"strings"
	"time"

	"sluice/internal/sealed"
)

// Row is one line of `sluice config`.
type Row struct {
	Group  string // "Control-plane database"
	Name   string // "DB_PASS"
	Value  string // "***" for a secret, "" when it is not set
	Origin string // as Origin gives it
}

// Table lists every setting with the value in force, secrets masked, in the order of
// the manual.
func (l *Loaded) Table() []Row {
	rows := make([]Row, 0, len(l.schema))
	for _, s := range l.schema {
		rows = append(rows, Row{Group: s.title, Name: s.name, Value: s.masked(&l.Settings), Origin: l.Origin(s.name)})
	}
	return rows
}

// masked writes a value as it could be given again, unless it is a secret or too
// long to read.
func (st setting) masked(s *Settings) string {
	switch v := st.field(s).Interface().(type) {
	case sealed.String:
		if st.check == "proxy" {
			return redacted(v)
		}
		return v.String()
	case bool:
		if v {
			return "ON"
		}
		return "OFF"
	case time.Duration:
		return strconv.FormatInt(v.Milliseconds(), 10)
	case []string:
		return strings.Join(v, ",")
	case string:
		if st.check == "certificates" && v != "" {
			return fmt.Sprintf("PEM of %d bytes", len(v))
		}
		return v
	default:
		return fmt.Sprint(v)
	}
}

// redacted shows where a proxy is without the name and password for it.
func redacted(address sealed.String) string {
	u, err := url.Parse(address.Reveal())
	if err != nil || address.Empty() {
		return address.String()
	}
	if u.User != nil {
		u.User = url.User(sealed.Mask)
	}
	return strings.ReplaceAll(u.String(), url.QueryEscape(sealed.Mask), sealed.Mask)
}
