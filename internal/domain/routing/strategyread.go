package routing

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"github.com/tidwall/gjson"
)

// strategyDraft is a strategy object as written in the document.
type strategyDraft struct {
	mode       Mode
	policy     Policy
	onStatus   []int
	sticky     *stickyDraft
	breaker    *BreakerConfig
	conditions []conditionDraft
	otherwise  string
	modeFields map[string]string // fields that only some modes use, to their paths
}

type conditionDraft struct {
	path  string
	query query
	then  string
}

type stickyDraft struct {
	enabled bool
	Sticky
}

func (s *strategyDraft) note(field, path string) {
	if s.modeFields == nil {
		s.modeFields = map[string]string{}
	}
	s.modeFields[field] = path
}

var strategyFields = bothSpellings(map[string]reader[strategyDraft]{
	"mode": func(p *parser, path string, v gjson.Result, s *strategyDraft) {
		s.mode = Mode(p.text(path, v))
	},
	"policy": func(p *parser, path string, v gjson.Result, s *strategyDraft) {
		s.note("policy", path)
		switch s.policy = Policy(v.Str); s.policy {
		case Weighted, RoundRobin, LeastLatency, LeastBusy:
		default:
			p.failf(path, "must be weighted, round_robin, least_latency or least_busy")
		}
	},
	"on_status_codes": func(p *parser, path string, v gjson.Result, s *strategyDraft) { s.onStatus = p.statuses(path, v) },
	"cb_config":       func(p *parser, path string, v gjson.Result, s *strategyDraft) { s.breaker = p.breaker(path, v) },
	"sticky": func(p *parser, path string, v gjson.Result, s *strategyDraft) {
		s.note("sticky", path)
		s.sticky = p.sticky(path, v)
	},
	"conditions": func(p *parser, path string, v gjson.Result, s *strategyDraft) {
		s.note("conditions", path)
		p.eachItem(path, v, func(path string, v gjson.Result) {
			c := conditionDraft{path: path}
			readObject(p, path, v, conditionFields, &c)
			s.conditions = append(s.conditions, c)
		})
	},
	"default": func(p *parser, path string, v gjson.Result, s *strategyDraft) {
		s.note("default", path)
		s.otherwise = p.text(path, v)
	},
})

var conditionFields = bothSpellings(map[string]reader[conditionDraft]{
	"query": func(p *parser, path string, v gjson.Result, c *conditionDraft) { c.query = p.query(path, v) },
	"then":  func(p *parser, path string, v gjson.Result, c *conditionDraft) { c.then = p.text(path, v) },
})

const stickyTTL = time.Hour

// These are the limits of sticky.
const (
	maxStickyTTL  = 30 * 24 * 60 * 60 // seconds
	maxHashFields = 16
)

var stickyFields = bothSpellings(map[string]reader[stickyDraft]{
	"enabled": func(p *parser, path string, v gjson.Result, s *stickyDraft) { s.enabled = p.flag(path, v) },
	"ttl": func(p *parser, path string, v gjson.Result, s *stickyDraft) {
		s.TTL = time.Duration(p.integer(path, v, 1, maxStickyTTL)) * time.Second
	},
	"hash_fields": func(p *parser, path string, v gjson.Result, s *stickyDraft) {
		p.upTo(maxHashFields, path, v, func(path string, v gjson.Result) {
			name := p.text(path, v)
			f, ok := parseFact(name)
			if !ok && name != "" {
				p.failf(path, "%s", factForm)
			}
			s.HashFields, s.facts = append(s.HashFields, name), append(s.facts, f)
		})
	},
})

const factForm = "must be metadata.<key>, params.<key> or url.pathname"

func (p *parser) sticky(path string, v gjson.Result) *stickyDraft {
	s := &stickyDraft{Sticky: Sticky{TTL: stickyTTL}}
	if readObject(p, path, v, stickyFields, s) && s.enabled && len(s.HashFields) == 0 {
		p.failf(key(path, "hash_fields"), "is required")
	}
	return s
}

// strategy builds the strategy of a branch whose targets are already read.
func (p *parser) strategy(path string, d *strategyDraft, n *Node) *Strategy {
	for _, known := range strategies {
		if known.mode != d.mode {
			continue
		}
		for _, name := range slices.Sorted(maps.Keys(d.modeFields)) {
			if !slices.Contains(known.fields, name) {
				p.failf(d.modeFields[name], "has no effect with mode %s", d.mode)
			}
		}
		s := &Strategy{Mode: d.mode, run: known.run, otherwise: -1}
		known.prepare(p, path, d, n, s)
		return s
	}
	p.failf(key(path, "mode"), "must be single, fallback, loadbalance or conditional")
	return nil
}

func prepareSingle(*parser, string, *strategyDraft, *Node, *Strategy) {}

func prepareFallback(_ *parser, _ string, d *strategyDraft, _ *Node, s *Strategy) {
	s.OnStatus = d.onStatus
}

func prepareBalance(p *parser, path string, d *strategyDraft, n *Node, s *Strategy) {
	s.Policy = cmp.Or(d.policy, Weighted)
	if d.sticky != nil && d.sticky.enabled {
		s.Sticky = &d.sticky.Sticky
	}
	if len(inRotation(n.Targets)) == 0 {
		p.failf(path, "must have at least one target with a weight above 0")
	}
}

// prepareConditional resolves the names of targets.
func prepareConditional(p *parser, path string, d *strategyDraft, n *Node, s *Strategy) {
	if len(d.conditions) == 0 {
		p.failf(key(path, "conditions"), "must have at least one condition")
	}
	byName := map[string]int{}
	for i, t := range n.Targets {
		if _, twice := byName[t.Name]; twice && t.Name != "" {
			p.failf(path, "must not have two targets with the name %s", printable(t.Name))
		}
		byName[t.Name] = i
	}
	find := func(path, name string) int {
		i, ok := byName[name]
		if !ok {
			p.failf(path, "must name an existing target")
		}
		return i
	}
	for _, c := range d.conditions {
		if c.query == nil || c.then == "" {
			p.failf(c.path, "query and then are required")
			continue
		}
		s.conditions = append(s.conditions, condition{c.query, find(key(c.path, "then"), c.then)})
	}
	if d.otherwise != "" {
		s.otherwise = find(d.modeFields["default"], d.otherwise)
	}
}
