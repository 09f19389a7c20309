package gateway

import (
	"sluice/internal/gateway/cache/flight"
	"sluice/internal/gateway/promptcache/pins"
	"sluice/internal/kernel/boundedcache"
)

// assemble gives each step the parts that it uses. The steps have fixed addresses, so they may
// refer to each other.
func (g *Gateway) assemble() {
	g.bodies = bodyReader{maxJSONBytes: g.set.MaxJSONBytes, maxUploadBytes: g.set.MaxUploadBytes, spoolDir: g.set.SpoolDir}
	g.prompts = promptRenderer{spoolDir: g.set.SpoolDir, bodies: &g.bodies}
	g.configs = configSelector{inlineConfigs: g.inlineConfigs, guardrails: &g.guardrails}
	g.guardrails = guardrailStep{
		engine: g.Guardrails, checks: g.Checks, guard: g.Guard, accountant: &g.accountant, responses: &g.responses, shaper: &g.shaper,
		spoolDir: g.set.SpoolDir, maxBytes: g.set.MaxResponseBytes, bodyLogBytes: g.set.BodyLogBytes, clock: g.Clock,
		placeholders: g.Vaults, log: g.Log,
	}
	if g.set.GuardrailsOff {
		g.guardrails.engine = nil
	}
	g.guardrails.stored = storedDenials{states: g.States, upstreamHeaders: &g.upstreamHeaders, caller: &g.caller, log: g.Log, guarded: g.guardrails.engine != nil}
	g.guardrails.async = newAsyncHooks(g)
	g.admission = admission{callers: g.callers, metadataFrom: g.set.MetadataFrom, meter: g.meter}
	g.credentials = credentialResolver{specs: g.Specs, hasher: g.Hasher, secrets: g.Secrets, guard: g.Guard, signers: g.Signers}
	g.upstreamHeaders = upstreamHeaders{
		userAgent: g.set.UserAgent, traceContext: g.set.TraceContext, headerAliases: g.set.HeaderAliases,
		ignoreHeaders: g.set.IgnoreHeaders,
	}
	g.clientHeaders = clientHeaders{headerAliases: g.set.HeaderAliases, meter: g.meter}
	g.planner = callPlanner{
		dialects: g.dialects, clock: g.Clock, followUps: &g.followUps, log: g.Log, urls: g.urls, refusedParams: &g.refusedParams,
		profiles: boundedcache.New[profileKey, profiled](maxProfiles),
	}
	g.shaper = shaper{
		planner: &g.planner, estimator: &g.estimator, upstreamHeaders: &g.upstreamHeaders, bodies: &g.bodies, rules: &g.rules,
		translator: &g.translator, dialect: g.Dialect, states: g.States, downloads: g.downloads, promptCache: &g.promptCache,
	}
	g.translator = translator{
		downloads: g.downloads, dialect: g.Dialect, rules: &g.rules, states: g.States, prices: g.Prices, bodies: &g.bodies,
		dialects: g.dialects, clock: g.Clock, bodyLogBytes: g.set.BodyLogBytes, lines: g.dialects.lines(),
	}
	g.estimator = estimator{
		dialects: g.dialects, counter: g.counter, bodyLogBytes: g.set.BodyLogBytes, dialect: g.Dialect, translator: &g.translator,
		states: g.States,
	}
	g.caller = upstreamCaller{
		abandoned: g.abandoned, meter: g.meter, open: &g.open, clock: g.Clock, recorder: &g.recorder,
		maxResponseBytes: g.set.MaxResponseBytes, rules: &g.rules, credentials: &g.credentials, idleTimeout: g.set.IdleTimeout,
		client: g.Client, bodies: &g.bodies, translator: &g.translator, defaultHeadTimeout: g.set.HeadTimeout,
	}
	g.sender = sender{
		backgroundJobs: &g.backgroundJobs, accountant: &g.accountant, shaper: &g.shaper, refusedParams: &g.refusedParams, clock: g.Clock,
		log: g.Log, caller: &g.caller, metrics: g.Metrics,
	}
	g.followUps = followUpCaller{
		responses: &g.responses, maxResponseBytes: g.set.MaxResponseBytes, clock: g.Clock, upstreamHeaders: &g.upstreamHeaders,
		caller: &g.caller, downloads: g.downloads, headTimeout: g.set.HeadTimeout, idleTimeout: g.set.IdleTimeout,
		client: g.Client,
	}
	g.responses = responseReader{spoolDir: g.set.SpoolDir, clock: g.Clock, bodies: &g.bodies, bodyLogBytes: g.set.BodyLogBytes}
	g.receiver = receiver{
		responses: &g.responses, maxResponseBytes: g.set.MaxResponseBytes, rules: &g.rules, backgroundJobs: &g.backgroundJobs,
		followUps: &g.followUps, clock: g.Clock, caller: &g.caller,
	}
	g.backgroundJobs = backgroundTracker{
		caller: &g.caller, maxResponseBytes: g.set.MaxResponseBytes, recorder: &g.recorder, counter: g.counter, meter: g.meter,
		background: g.background, log: g.Log, upstreamHeaders: &g.upstreamHeaders,
	}
	g.recorder = recorder{
		headerMask: g.headerMask, journal: g.Journal, metrics: g.Metrics, backgroundJobs: &g.backgroundJobs,
		accountant: &g.accountant, cache: &g.cache, promptCache: &g.promptCache, stopped: &g.stopped, bodyLogBytes: g.set.BodyLogBytes, meter: g.meter,
		clock: g.Clock, log: g.Log, guardrails: &g.guardrails, feedback: g.Feedback,
	}
	g.accountant = accountant{
		prices: g.Prices, meter: g.meter, metrics: g.Metrics, counter: g.counter, translator: &g.translator, jobs: g.jobs,
	}
	g.deliverer = deliverer{
		bodyLogBytes: g.set.BodyLogBytes, recorder: &g.recorder, backgroundJobs: &g.backgroundJobs, responder: &g.responder,
		bodies: &g.bodies, stopped: &g.stopped, rules: &g.rules, clientHeaders: &g.clientHeaders,
	}
	g.responder = responder{
		recorder: &g.recorder, stopped: &g.stopped, log: g.Log, clientHeaders: &g.clientHeaders, deliverer: &g.deliverer,
		states: g.States, clock: g.Clock,
	}
	g.catalogue = modelCatalogue{
		responder: &g.responder, models: g.models, exchanges: &g.exchanges, open: &g.open, credentials: &g.credentials,
		shaper: &g.shaper, caller: &g.caller, clock: g.Clock,
	}
	g.conversations = conversations{
		guardrails: &g.guardrails, credentials: &g.credentials, shaper: &g.shaper, clock: g.Clock, sockets: g.Sockets,
		caller: &g.caller, idleTimeout: g.set.IdleTimeout, recorder: &g.recorder, accountant: &g.accountant, meter: g.meter,
		metrics: g.Metrics, counter: g.counter,
	}
	g.exchanges = exchanges{
		open: &g.open, trustedProxies: g.set.TrustedProxies, clock: g.Clock, walker: &g.walker, caller: &g.caller,
		directory: g.Directory, headerAliases: g.set.HeaderAliases,
	}
	g.inner = &innerCaller{serve: g.serve, open: g.exchanges.newExchange}
	g.cache = responseCache{
		CacheParts: g.Cache, flight: new(flight.Group), accountant: &g.accountant, guardrails: &g.guardrails, hasher: g.Hasher, clock: g.Clock,
		inner: g.inner, storing: make(chan struct{}, maxStoring),
	}
	g.promptCache = promptCacher{pins: pins.New(g.Clock, maxPins)}
	g.walker = walker{
		recorder: &g.recorder, guardrails: &g.guardrails, prompts: &g.prompts, credentials: &g.credentials, shaper: &g.shaper,
		accountant: &g.accountant, sender: &g.sender, receiver: &g.receiver, deliverer: &g.deliverer, cache: &g.cache, promptCache: &g.promptCache, states: g.States,
		responder: &g.responder, catalogue: &g.catalogue, bodies: &g.bodies, engine: g.Engine, clock: g.Clock, batches: &g.batches,
	}
	g.batches = newBatches(g)
	g.jobUpstream = jobUpstream{
		exchanges: &g.exchanges, open: &g.open, clock: g.Clock, credentials: &g.credentials, shaper: &g.shaper, sender: &g.sender,
		receiver: &g.receiver,
	}
}
