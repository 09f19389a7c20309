package routing

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"github.com/tidwall/gjson"
)

// strategyDraft is a strategy object as it is written.
type strategyDraft struct {
	mode       Mode
	policy     Policy
	onStatus   []int
	sticky     *stickyDraft
	breaker    *BreakerConfig
	conditions []conditionDraft
	otherwise  string
	modeFields map[string]string // what only some modes can use: field to path
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

func (s *strategyDraft) note(field, at string) {
	if s.modeFields == nil {
		s.modeFields = map[string]string{}
	}
	s.modeFields[field] = at
}

var strategyFields = bothSpellings(map[string]reader[strategyDraft]{
	"mode": func(p *parser, at string, v gjson.Result, s *strategyDraft) {
		s.mode = Mode(p.text(at, v))
	},
	"policy": func(p *parser, at string, v gjson.Result, s *strategyDraft) {
		s.note("policy", at)
		switch s.policy = Policy(v.Str); s.policy {
		case Weighted, RoundRobin, LeastLatency, LeastBusy:
		default:
			p.failf(at, "must be weighted, round_robin, least_latency or least_busy")
		}
	},
	"on_status_codes": func(p *parser, at string, v gjson.Result, s *strategyDraft) { s.onStatus = p.statuses(at, v) },
	"cb_config":       func(p *parser, at string, v gjson.Result, s *strategyDraft) { s.breaker = p.breaker(at, v) },
	"sticky": func(p *parser, at string, v gjson.Result, s *strategyDraft) {
		s.note("sticky", at)
		s.sticky = p.sticky(at, v)
	},
	"conditions": func(p *parser, at string, v gjson.Result, s *strategyDraft) {
		s.note("conditions", at)
		p.eachItem(at, v, func(at string, v gjson.Result) {
			c := conditionDraft{path: at}
			readObject(p, at, v, conditionFields, &c)
			s.conditions = append(s.conditions, c)
		})
	},
	"default": func(p *parser, at string, v gjson.Result, s *strategyDraft) {
		s.note("default", at)
		s.otherwise = p.text(at, v)
	},
})

var conditionFields = bothSpellings(map[string]reader[conditionDraft]{
	"query": func(p *parser, at string, v gjson.Result, c *conditionDraft) { c.query = p.query(at, v) },
	"then":  func(p *parser, at string, v gjson.Result, c *conditionDraft) { c.then = p.text(at, v) },
})

const stickyTTL = time.Hour

// The bounds of sticky.
const (
	maxStickyTTL  = 30 * 24 * 60 * 60 // seconds
	maxHashFields = 16
)

var stickyFields = bothSpellings(map[string]reader[stickyDraft]{
	"enabled": func(p *parser, at string, v gjson.Result, s *stickyDraft) { s.enabled = p.flag(at, v) },
	"ttl": func(p *parser, at string, v gjson.Result, s *stickyDraft) {
		s.TTL = time.Duration(p.integer(at, v, 1, maxStickyTTL)) * time.Second
	},
	"hash_fields": func(p *parser, at string, v gjson.Result, s *stickyDraft) {
		p.upTo(maxHashFields, at, v, func(at string, v gjson.Result) {
			name := p.text(at, v)
			f, ok := parseFact(name)
			if !ok && name != "" {
				p.failf(at, "%s", factForm)
			}
			s.HashFields, s.facts = append(s.HashFields, name), append(s.facts, f)
		})
	},
})

const factForm = "must be metadata.<key>, params.<key> or url.pathname"

func (p *parser) sticky(at string, v gjson.Result) *stickyDraft {
	s := &stickyDraft{Sticky: Sticky{TTL: stickyTTL}}
	if readObject(p, at, v, stickyFields, s) && s.enabled && len(s.HashFields) == 0 {
		p.failf(key(at, "hash_fields"), "is required")
	}
	return s
}

// strategy makes the strategy of a branch whose targets are read.
func (p *parser) strategy(at string, d *strategyDraft, n *Node) *Strategy {
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
		known.prepare(p, at, d, n, s)
		return s
	}
	p.failf(key(at, "mode"), "must be single, fallback, loadbalance or conditional")
	return nil
}

func prepareSingle(*parser, string, *strategyDraft, *Node, *Strategy) {}

func prepareFallback(_ *parser, _ string, d *strategyDraft, _ *Node, s *Strategy) {
	s.OnStatus = d.onStatus
}

func prepareBalance(p *parser, at string, d *strategyDraft, n *Node, s *Strategy) {
	s.Policy = cmp.Or(d.policy, Weighted)
	if d.sticky != nil && d.sticky.enabled {
		s.Sticky = &d.sticky.Sticky
	}
	if len(inRotation(n.Targets)) == 0 {
		p.failf(at, "all weights of its targets are zero: at least one target needs a weight above 0")
	}
}

// prepareConditional resolves the names of targets.
func prepareConditional(p *parser, at string, d *strategyDraft, n *Node, s *Strategy) {
	if len(d.conditions) == 0 {
		p.failf(key(at, "conditions"), "must have at least one condition")
	}
	byName := map[string]int{}
	for i, t := range n.Targets {
		if _, twice := byName[t.Name]; twice && t.Name != "" {
			p.failf(at, "two of its targets have the name %s", printable(t.Name))
		}
		byName[t.Name] = i
	}
	find := func(at, name string) int {
		i, ok := byName[name]
		if !ok {
			p.failf(at, "names no target")
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
