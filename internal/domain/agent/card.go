package agent

import (
	"encoding/json"
	"net/url"
	"strings"

	"sluice/internal/kernel/fault"
)

// MaxCardBytes bounds an agent card.
// Source: contract/content-and-observability.md section 11.
const MaxCardBytes = 1 << 20

// cardPaths are where the card of an agent lies below its address, the newer place
// first. Nothing else is ever asked for.
var cardPaths = []string{"/.well-known/agent-card.json", "/.well-known/agent.json"}

// CardURLs are where to look for the card of an agent, in order. The address may be its
// base, "https://agents.example.com/planner", or that of the card itself.
func CardURLs(address string) []string {
	u, err := url.Parse(address)
	if err != nil {
		return nil
	}
	base := strings.TrimRight(u.Path, "/")
	for _, p := range cardPaths {
		base = strings.TrimSuffix(base, p)
	}
	urls := make([]string, len(cardPaths))
	for i, p := range cardPaths {
		location := url.URL{Scheme: u.Scheme, Host: u.Host, Path: base + p}
		urls[i] = location.String()
	}
	return urls
}

// Card is an agent's description of itself.
type Card struct {
	Name   string
	Skills []Skill
	Raw    map[string]json.RawMessage // as the agent wrote it
}

// Skill is one ability that an agent lists in its card.
type Skill struct {
	ID          string   `json:"id"`
	Name        string   `json:"name"`
	Description string   `json:"description"`
	Tags        []string `json:"tags"`
}

// ReadCard reads an agent card: fault.InvalidRequest, with the reason, when it is too
// large, no JSON object, or has no name or address. The address stands in url or, since
// version 1.0 of the protocol, in the first of supportedInterfaces.
func ReadCard(raw []byte) (*Card, error) {
	if len(raw) > MaxCardBytes {
		return nil, unfit("is larger than 1 MB")
	}
	c := &Card{}
	if json.Unmarshal(raw, &c.Raw) != nil || c.Raw == nil {
		return nil, unfit("is not a JSON object")
	}
	var location struct {
		URL        string `json:"url"`
		Interfaces []struct {
			URL string `json:"url"`
		} `json:"supportedInterfaces"`
	}
	_ = json.Unmarshal(c.Raw["name"], &c.Name) // a value that is not a text is not a name
	_ = json.Unmarshal(c.Raw["url"], &location.URL)
	_ = json.Unmarshal(c.Raw["supportedInterfaces"], &location.Interfaces)
	if location.URL == "" && len(location.Interfaces) > 0 {
		location.URL = location.Interfaces[0].URL
	}
	switch {
	case c.Name == "":
		return nil, unfit("has no name")
	case location.URL == "":
		return nil, unfit("has no url")
	}
	_ = json.Unmarshal(c.Raw["skills"], &c.Skills) // skills of another form cannot be switched
	return c, nil
}

func unfit(why string) error { return fault.New(fault.InvalidRequest, "the agent card "+why) }

// Listed are the skills of a list: those of the card, nil for none, and those that were
// switched off ahead of it. Each is there once.
func Listed(c *Card, off ...Switches) []Skill {
	var list []Skill
	known := make(map[string]bool)
	if c != nil {
		for _, s := range c.Skills {
			if s.ID != "" && !known[s.ID] {
				known[s.ID] = true
				list = append(list, s)
			}
		}
	}
	for _, switches := range off {
		for _, id := range switches {
			if !known[id] {
				known[id] = true
				list = append(list, Skill{ID: id, Name: id})
			}
		}
	}
	return list
}
