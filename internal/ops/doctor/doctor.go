// Package doctor checks everything that a gateway needs, without starting one. Each check is a
// small type with the settings that it needs; Run runs a list of them and skips those whose
// settings are not valid.
package doctor

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"sluice/internal/ops/config"
)

// Finding is the result of one check of doctor.
type Finding struct {
	Subject string // "database"
	Detail  string // what works
	Err     error  // what fails; nil if all is well
	Hint    string // what to do about it
	Warning bool   // nothing that is in use fails because of it
}

// Message returns the finding as one line, without passwords in addresses.
func (f Finding) Message() string {
	if f.Err == nil {
		return f.Detail
	}
	text := f.Err.Error()
	if f.Hint != "" {
		text += "; " + f.Hint
	}
	return config.WithoutLogin(strings.Join(strings.Fields(text), " ")) // drivers report each attempt on a separate line
}

// Check is one check. It changes nothing, except that Disk creates a missing data directory.
type Check interface {
	// Run returns one finding, or one for each thing that was checked.
	Run(ctx context.Context) []Finding
}

// Entry is a check in the list of Run.
type Entry struct {
	Subject  string   // of the finding when the check is skipped: "database"
	Settings []string // prefixes of the settings that the check depends on: "DB_"
	Check    Check
}

// Run runs the checks of list in order. broken are the invalid settings, for which the checks have
// defaults. Checks that depend on a broken setting are skipped, because a default is not what the
// operator configured.
func Run(ctx context.Context, broken []config.Problem, list []Entry) (out []Finding) {
	if len(broken) == 0 {
		out = append(out, Finding{Subject: "settings", Detail: "all settings are valid"})
	}
	for _, p := range broken {
		out = append(out, Finding{Subject: "settings", Err: errors.New(p.String())})
	}
	for _, e := range list {
		if name := e.brokenSetting(broken); name != "" {
			out = append(out, Finding{Subject: e.Subject, Err: fmt.Errorf("skipped, because %s is not valid", name), Warning: true})
			continue
		}
		out = append(out, e.Check.Run(ctx)...)
	}
	return out
}

// brokenSetting returns the first broken setting that a check depends on; empty if there is none.
func (e Entry) brokenSetting(broken []config.Problem) string {
	for _, p := range broken {
		for _, start := range e.Settings {
			if strings.HasPrefix(strings.ToUpper(p.Setting), start) {
				return p.Setting
			}
		}
	}
	return ""
}
