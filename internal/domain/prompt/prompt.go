package prompt

import (
	"slices"
	"strconv"
	"strings"

	"sluice/internal/kernel/fault"
)

// Kind is the stored kind of prompts.
const Kind = "prompt"

// The words after @ that are not labels.
const (
	Latest  = "latest"  // the newest version, published or not
	Default = "default" // the published one, as without a suffix
)

// VersionHistory is the succession of versions of a prompt or partial.
type VersionHistory struct {
	Default   int    `json:"default_version"` // number of the published version
	DefaultID string `json:"default_version_id"`
	Newest    int    `json:"newest_version"`
	NewestID  string `json:"newest_version_id"`
}

// Advance adds a version, the first one published: fault.InvalidRequest when there are
// MaxVersions.
func (l *VersionHistory) Advance(id string) error {
	if l.Newest >= MaxVersions {
		return fault.Newf(fault.InvalidRequest, "the maximum of %d versions is reached; create a new prompt", MaxVersions)
	}
	l.Newest, l.NewestID = l.Newest+1, id
	if l.Newest == 1 {
		l.Publish(1, id)
	}
	return nil
}

// Publish makes a version the default one.
func (l *VersionHistory) Publish(number int, id string) { l.Default, l.DefaultID = number, id }

// Prompt is the stored body of a prompt: what holds for all its versions.
// Source: contract/content-and-observability.md 1.1 and 1.6.
type Prompt struct {
	Name         string `json:"name"`
	CollectionID string `json:"collection_id"`
	VersionHistory
	Model  string     `json:"model,omitempty"`  // of the published version, for lists
	Labels []Labelled `json:"labels,omitempty"` // the latest assigned last; a label is there once
	Uses   []Use      `json:"uses,omitempty"`   // partials that versions name
	// Draft is the version that a change writes beside the prompt: a new one when its
	// number is Newest, else the published one with other notes. It is not stored here.
	Draft *Version `json:"-"`
}

// Labelled is a label and the version that it stands for.
type Labelled struct {
	LabelID string `json:"label_id"`
	Version int    `json:"version"`
}

// Use is a version that names a partial.
type Use struct {
	Version   int    `json:"version"`
	PartialID string `json:"partial_id"`
}

// AddUses notes the partials that a new version names.
func AddUses(uses []Use, version int, partialIDs []string) []Use {
	for _, id := range partialIDs {
		uses = append(uses, Use{version, id})
	}
	return uses
}

// Validate checks the body: fault.InvalidParameter.
func (p *Prompt) Validate() error { return checkName(p.Name) }

func checkName(name string) error {
	if strings.TrimSpace(name) == "" {
		return fault.New(fault.InvalidParameter, "is required").WithParam("name")
	}
	return nil
}

// Label lets a label stand for a version, and for no other one of the prompt.
func (p *Prompt) Label(id string, version int) {
	p.Unlabel(id)
	p.Labels = append(p.Labels, Labelled{id, version})
}

// Unlabel takes a label off.
func (p *Prompt) Unlabel(id string) {
	p.Labels = slices.DeleteFunc(p.Labels, func(l Labelled) bool { return l.LabelID == id })
}

// Strip takes all labels off a version.
func (p *Prompt) Strip(version int) {
	p.Labels = slices.DeleteFunc(p.Labels, func(l Labelled) bool { return l.Version == version })
}

// LabelsOf are the labels of a version, the latest assigned first.
func (p *Prompt) LabelsOf(version int) []string {
	ids := []string{}
	for _, l := range slices.Backward(p.Labels) {
		if l.Version == version {
			ids = append(ids, l.LabelID)
		}
	}
	return ids
}

// PartialsInUse are the partials of the versions that can be asked for without a
// number: the published one, the newest, and those with a label.
func (p *Prompt) PartialsInUse() []string {
	return p.inUse(p.Uses, func(version int) bool {
		return slices.ContainsFunc(p.Labels, func(l Labelled) bool { return l.Version == version })
	})
}

// inUse are the partials, each once, of the published version, the newest, and those that
// are labelled.
func (l *VersionHistory) inUse(uses []Use, labelled func(version int) bool) []string {
	var ids []string
	for _, u := range uses {
		if (u.Version == l.Default || u.Version == l.Newest || labelled(u.Version)) && !slices.Contains(ids, u.PartialID) {
			ids = append(ids, u.PartialID)
		}
	}
	return ids
}

// Split takes "pp-hello@12" apart into what names the prompt and the suffix.
func Split(name string) (slug, suffix string) {
	slug, suffix, _ = strings.Cut(name, "@")
	return slug, suffix
}

// Pick is the number of the version that a suffix means, 0 when there is none: "" and
// "default" the published one, "latest" the newest, a number itself, anything else a
// label, whose id label finds. Whether a number exists is for the caller to see.
// Source: contract/content-and-observability.md 1.4.
func (p *Prompt) Pick(suffix string, label func(name string) (id string)) int {
	if n, plain := p.number(suffix); plain {
		return n
	}
	id := label(suffix)
	for _, l := range p.Labels {
		if l.LabelID == id && id != "" {
			return l.Version
		}
	}
	return 0
}

// number is Pick for suffixes that are not labels; plain is false for others.
func (l *VersionHistory) number(suffix string) (n int, plain bool) {
	switch {
	case suffix == "" || suffix == Default:
		return l.Default, true
	case suffix == Latest:
		return l.Newest, true
	case digits(suffix):
		n, err := strconv.Atoi(suffix)
		if err != nil || n > l.Newest {
			return 0, true
		}
		return n, true
	}
	return 0, false
}

// Pick is the number of the version that a suffix means, 0 when there is none. Labels
// mean nothing here.
func (l *VersionHistory) Pick(suffix string) int {
	n, _ := l.number(suffix)
	return n
}
