package config

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"sluice/internal/kernel/sealed"
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
// long to read. Addresses are shown without the name and password in them, whatever
// the setting: here is the one place that shows values in force.
func (st setting) masked(s *Settings) string {
	switch v := st.field(s).Interface().(type) {
	case sealed.String:
		if st.check == "proxy" {
			return WithoutLogin(v.Reveal())
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
		return WithoutLogin(strings.Join(v, ","))
	case string:
		if st.check == "certificates" && v != "" {
			return fmt.Sprintf("PEM of %d bytes", len(v))
		}
		return WithoutLogin(v)
	default:
		return fmt.Sprint(v)
	}
}
