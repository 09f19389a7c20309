package demo

import (
	"math/rand/v2"
	"time"
)

// MaxTrafficDays is the maximum number of days of traffic that Traffic generates.
const MaxTrafficDays = 90

// PastRequest is a request of generated traffic, so that a demonstration has data to show. The
// last of its attempts responded.
type PastRequest struct {
	Started      time.Time
	Team         string // "search" or "support"
	User         string // e-mail address of the end user
	Stream       bool
	Prompt       string
	ResponseText string // empty if all attempts failed
	Feedback     int    // -10 to 10; 0 for none
	Attempts     []PastAttempt
}

// PastAttempt is an attempt at a target. A Status of 0 is a provider that did not respond in
// time.
type PastAttempt struct {
	Provider  string // id of a provider specification: "openai"
	Model     string
	Status    int
	Error     string // text of the provider, for a Status other than 200
	CacheMiss bool   // the response cache was checked, without a hit
	Input     int64  // tokens, including Cached
	Cached    int64
	Output    int64
	FirstByte time.Duration
	Duration  time.Duration
}

// Teams returns the teams of the generated traffic, in order.
func Teams() []string { return []string{"search", "support"} }

// target is a model of a provider, with its speed.
type target struct {
	provider, model string
	first           time.Duration // until the first byte, at least
	perToken        time.Duration
}

// team describes how a team calls.
type team struct {
	name      string
	users     []string
	targets   []target // further ones are fallbacks
	perHour   float64  // requests in a busy hour
	input     int      // tokens, approximately
	output    int
	stream    bool
	cache     bool
	questions []string
}

func teams() []team {
	return []team{
		{
			name:  "search",
			users: []string{"ada@example.com", "chen@example.com", "marta@example.com", "noah@example.com"},
			targets: []target{
				{"openai", "gpt-4.1-mini", 240 * time.Millisecond, 7 * time.Millisecond},
				{"mistral-ai", "mistral-small-latest", 180 * time.Millisecond, 6 * time.Millisecond},
			},
			perHour: 22, input: 900, output: 90, cache: true,
			questions: []string{"Rewrite the query \"cheap quiet keyboard\" for the product index.", "Which filters fit \"waterproof jacket for children\"?", "Summarise the first five results for \"standing desk\".", "Name synonyms for \"espresso machine\"."},
		},
		{
			name:  "support",
			users: []string{"ines@example.com", "jonas@example.com", "priya@example.com", "sam@example.com", "yuki@example.com"},
			targets: []target{
				{"anthropic", "claude-sonnet-4-5", 600 * time.Millisecond, 14 * time.Millisecond},
				{"openai", "gpt-4.1", 420 * time.Millisecond, 11 * time.Millisecond},
			},
			perHour: 9, input: 2600, output: 320, stream: true,
			questions: []string{"A customer asks where order 4711 is. Draft an answer.", "Explain our return policy to a customer in two sentences.", "The invoice shows the wrong address. What should the customer do?", "Classify this ticket: \"The app signs me out every hour.\""},
		},
	}
}

// answers are the texts of the generated responses.
var answers = [...]string{
	"Here is a short draft that you can send as it is.",
	"The best match is the second entry; the others lack one of the filters.",
	"Please check the address in the account settings, then ask for a new invoice.",
	"I would classify this as a sign-in problem of medium priority.",
}

// Traffic generates the requests of the days before end, the oldest first. The same seed, end and
// number of days generate the same traffic. Days beyond MaxTrafficDays are left out. On the third
// day before the end Anthropic is overloaded for two hours.
func Traffic(seed uint64, end time.Time, days int) []PastRequest {
	end = end.UTC()
	start := end.AddDate(0, 0, -min(days, MaxTrafficDays))
	outage := end.AddDate(0, 0, -3).Truncate(24 * time.Hour).Add(14 * time.Hour)
	random := rand.New(rand.NewPCG(seed, 0x51a1ce)) //nolint:gosec // it makes examples, no secrets
	var out []PastRequest
	for hour := start; hour.Before(end); hour = hour.Add(time.Hour) {
		overloaded := !hour.Before(outage.Add(-time.Hour)) && hour.Before(outage.Add(time.Hour))
		for _, t := range teams() {
			n := int(t.perHour*busy(hour) + random.Float64())
			step := time.Hour / time.Duration(n+1)
			for i := range n {
				started := hour.Add(time.Duration(i)*step + time.Duration(random.Int64N(int64(step))))
				r := t.request(random, started, overloaded)
				if started.Add(r.duration()).Before(end) {
					out = append(out, r)
				}
			}
		}
	}
	return out
}

// busy returns an hour's share of a busy hour's traffic.
func busy(hour time.Time) float64 {
	share := 0.08
	switch h := hour.Hour(); {
	case h >= 8 && h < 18:
		share = 1
	case h == 7 || h >= 18 && h < 22:
		share = 0.4
	}
	if d := hour.Weekday(); d == time.Saturday || d == time.Sunday {
		share *= 0.3
	}
	return share
}

// duration returns how long a request took.
func (r *PastRequest) duration() (d time.Duration) {
	for _, a := range r.Attempts {
		d += a.Duration
	}
	return d
}

func (t *team) request(random *rand.Rand, started time.Time, overloaded bool) PastRequest {
	r := PastRequest{
		Started: started, Team: t.name, User: t.users[random.IntN(len(t.users))],
		Stream: t.stream && random.IntN(4) > 0, Prompt: t.questions[random.IntN(len(t.questions))],
	}
	for _, to := range t.targets {
		a := t.attempt(random, to, overloaded)
		r.Attempts = append(r.Attempts, a)
		if a.Status == 200 {
			r.ResponseText = answers[random.IntN(len(answers))]
			break
		}
		if a.Status == 400 { // no other target would accept it
			break
		}
	}
	switch n := random.IntN(100); {
	case r.ResponseText == "":
		if n < 10 {
			r.Feedback = -8
		}
	case n < 7:
		r.Feedback = 6 + random.IntN(5)
	case n < 9:
		r.Feedback = -2 - random.IntN(6)
	}
	return r
}

func (t *team) attempt(random *rand.Rand, to target, overloaded bool) PastAttempt {
	a := PastAttempt{
		Provider: to.provider, Model: to.model, Status: 200, CacheMiss: t.cache,
		FirstByte: to.first + time.Duration(random.Int64N(int64(to.first))),
	}
	a.Status, a.Error = failure(random, overloaded && to.provider == "anthropic")
	switch a.Status {
	case 200:
		a.Input = int64(t.input/2 + random.IntN(t.input))
		a.Output = int64(t.output/3 + random.IntN(t.output))
		if random.IntN(3) == 0 && a.Input > 1100 {
			a.Cached = 1024
		}
		a.Duration = a.FirstByte + time.Duration(a.Output)*to.perToken
	case 0:
		a.FirstByte, a.Duration = 0, 30*time.Second
	default:
		a.Duration = a.FirstByte
	}
	return a
}

// failure returns how an attempt ends: 200 for most of them.
func failure(random *rand.Rand, overloaded bool) (status int, text string) {
	n := random.IntN(1000)
	switch {
	case overloaded && n < 600:
		return 529, "Overloaded"
	case n < 18:
		return 429, "Rate limit reached for requests"
	case n < 26:
		return 500, "The server had an error while processing your request"
	case n < 30:
		return 0, ""
	case n < 38:
		return 400, "This model's maximum context length is exceeded"
	}
	return 200, ""
}
