package routing

import (
	"regexp"
	"regexp/syntax"
	"strings"

	"github.com/tidwall/gjson"
)

// query compiles a query object: facts with their required values, and $and and $or of further
// queries. Everything in one object must hold; the reference stops at the first $and, $or and
// $regex instead. Source: contract/dataplane.md 4.6.
//
// It returns nil if v is not an object. Other errors are only recorded.
func (p *parser) query(path string, v gjson.Result) query {
	if !v.IsObject() {
		p.failf(path, "must be an object")
		return nil
	}
	qs := all{}
	v.ForEach(func(k, v gjson.Result) bool {
		name, path := k.String(), key(path, k.String())
		switch {
		case name == "$and":
			qs = append(qs, all(p.queries(path, v)))
		case name == "$or":
			qs = append(qs, some(p.queries(path, v)))
		case strings.HasPrefix(name, "$"):
			p.failf(path, "unknown operator")
		default:
			f, ok := parseFact(name)
			if !ok {
				p.failf(path, "%s", factForm)
			}
			qs = append(qs, &test{f, p.operators(path, v)})
		}
		return true
	})
	if len(qs) == 0 {
		p.failf(path, "must not be empty")
	}
	return qs
}

func (p *parser) queries(path string, v gjson.Result) []query {
	var qs []query
	p.eachItem(path, v, func(path string, v gjson.Result) { qs = append(qs, p.query(path, v)) })
	if len(qs) == 0 {
		p.failf(path, "must have at least one query")
	}
	return qs
}

// operators reads the conditions of a fact: a plain value, or an object of operators.
func (p *parser) operators(path string, v gjson.Result) []operator {
	if !v.IsObject() {
		return []operator{equal(p.scalar(path, v))}
	}
	var ops []operator
	v.ForEach(func(k, v gjson.Result) bool {
		path := key(path, k.String())
		make, ok := makers[k.String()]
		if !ok {
			p.failf(path, "unknown operator")
			return true
		}
		ops = append(ops, make(p, path, v))
		return true
	})
	if len(ops) == 0 {
		p.failf(path, "must have at least one operator")
	}
	return ops
}

// makers compile the operators. Source: contract/dataplane.md 4.6.
var makers = map[string]func(p *parser, path string, v gjson.Result) operator{
	"$eq":  func(p *parser, path string, v gjson.Result) operator { return equal(p.scalar(path, v)) },
	"$ne":  func(p *parser, path string, v gjson.Result) operator { return not(equal(p.scalar(path, v))) },
	"$in":  func(p *parser, path string, v gjson.Result) operator { return oneOf(p.scalars(path, v)) },
	"$nin": func(p *parser, path string, v gjson.Result) operator { return not(oneOf(p.scalars(path, v))) },
	"$gt":  comparison(func(v, limit float64) bool { return v > limit }),
	"$gte": comparison(func(v, limit float64) bool { return v >= limit }),
	"$lt":  comparison(func(v, limit float64) bool { return v < limit }),
	"$lte": comparison(func(v, limit float64) bool { return v <= limit }),
	"$regex": func(p *parser, path string, v gjson.Result) operator {
		pattern := p.pattern(path, v)
		return matches(pattern, p.instructions)
	},
}

func comparison(compare func(v, limit float64) bool) func(*parser, string, gjson.Result) operator {
	return func(p *parser, path string, v gjson.Result) operator {
		limit, ok := number(v.Value())
		if !ok {
			p.failf(path, "must be a number or a numeric string")
		}
		return ordered(limit, compare)
	}
}

func (p *parser) scalar(path string, v gjson.Result) scalar {
	if v.IsObject() || v.IsArray() {
		p.failf(path, "must be a string, a number, true, false or null")
		return nil
	}
	return v.Value()
}

func (p *parser) scalars(path string, v gjson.Result) []scalar {
	var list []scalar
	p.eachItem(path, v, func(path string, v gjson.Result) { list = append(list, p.scalar(path, v)) })
	return list
}

// These limit regular expressions. The time of a match is proportional to program size times
// text length, so both are limited; matches limits the text by the program size.
const (
	maxPattern      = 1000   // bytes of one expression
	maxInstructions = 10_000 // of all expressions in a config: "a{1000}" is short and has a thousand
)

// pattern compiles a regular expression in RE2 syntax, which runs in linear time and does not
// support look-around or back-references.
func (p *parser) pattern(path string, v gjson.Result) *regexp.Regexp {
	s := p.text(path, v)
	if len(s) > maxPattern {
		p.failf(path, "must not be longer than %d bytes", maxPattern)
		return nil
	}
	parsed, err := syntax.Parse(s, syntax.Perl)
	if err != nil {
		p.failf(path, "must be a regular expression in RE2 syntax (no look-around, no back-references)")
		return nil
	}
	if p.instructions == nil {
		p.instructions = new(int)
	}
	if *p.instructions <= maxInstructions {
		*p.instructions += size(parsed.Simplify())
	}
	if *p.instructions > maxInstructions {
		p.failf(path, "exceeds the size limit for all regular expressions of the config")
		return nil
	}
	return regexp.MustCompile(s)
}

// size returns the approximate number of instructions of a compiled expression.
func size(re *syntax.Regexp) int {
	n := 1 + len(re.Rune)
	for _, sub := range re.Sub {
		n += size(sub)
	}
	return n
}
