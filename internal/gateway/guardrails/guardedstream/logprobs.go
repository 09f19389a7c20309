package guardedstream

import "strings"

// readLogprobs adds the tokens of the log probabilities of a choice: joined, they are the text again.
// The alternatives of each rank are a text too.
func readLogprobs(t *texts, e *event, choice int, s span) {
	d := document(e.data)
	for name, value := range t.members(e, choice, "logprobs", s) {
		switch {
		case name == "content" || name == "refusal":
			t.addTokens(e, choice, value, d.joinRanks(value))
			t.addOthers(e, choice, value)
		case name == "tokens" && d.isList(value):
			t.addTokens(e, choice, s, []string{d.joinStrings(value), ""})
		default:
			t.addTokens(e, choice, s, []string{"", d.joinNames(value)})
			t.addUnknown(e, choice, "logprobs."+name, value)
		}
	}
}

// addTokens appends texts to the channels of their ranks.
func (t *texts) addTokens(e *event, choice int, s span, ranks []string) {
	for rank, text := range ranks {
		if text != "" {
			t.addRaw(e, Channel{KindLogprobs, choice, rank}, s, []byte(text), tokens)
		}
	}
}

// addOthers adds the texts in a list of tokens that are not tokens.
func (t *texts) addOthers(e *event, choice int, list span) {
	d := document(e.data)
	for _, entry := range t.objects(e, choice, "logprobs", list) {
		for name, value := range d.members(entry) {
			switch {
			case name == "token" && d.isString(value):
			case name == "top_logprobs" && d.isList(value):
				t.addOthers(e, choice, value)
			default:
				t.addUnknown(e, choice, "logprobs."+name, value)
			}
		}
	}
}

// repeatTokens adds a list that states all tokens of a choice again.
func (t *texts) repeatTokens(e *event, choice int, list span) {
	t.addOthers(e, choice, list)
	for rank, text := range document(e.data).joinRanks(list) {
		c := t.open(Channel{KindLogprobs, choice, rank})
		switch {
		case string(c.text) == text:
			e.fragments = append(e.fragments, &fragment{at: list, channel: c, form: tokens, to: len(text), until: len(text)})
		case len(c.text) == 0 && !c.ended:
			t.addRaw(e, c.id, list, []byte(text), tokens)
		default:
			t.addRaw(e, Channel{KindText, choice, t.unknownBlock(choice, "different tokens")}, list, []byte(text), tokens)
		}
	}
}

// joinRanks joins the tokens of a list of {"token":"a","top_logprobs":[{"token":"a"}]}, and then the
// alternatives of each rank.
func (d document) joinRanks(list span) []string {
	ranks := make([]string, 1)
	for _, entry := range d.elements(list) {
		ranks[0] += d.text(entry, "token")
		top, ok := d.find(entry, "top_logprobs")
		if !ok {
			continue
		}
		for i, other := range d.elements(top) {
			rank := min(i+1, maxRanks)
			for len(ranks) <= rank {
				ranks = append(ranks, "")
			}
			ranks[rank] += d.text(other, "token")
		}
	}
	return ranks
}

// maxRanks is the maximum number of alternatives of a token. APIs permit 20.
const maxRanks = 32

func (d document) joinStrings(list span) string {
	var b strings.Builder
	for _, value := range d.elements(list) {
		b.WriteString(d.string(value))
	}
	return b.String()
}

// joinNames joins the names of the members of all objects in a list.
func (d document) joinNames(list span) string {
	var b strings.Builder
	for _, entry := range d.elements(list) {
		for name := range d.members(entry) {
			b.WriteString(name)
		}
	}
	return b.String()
}
