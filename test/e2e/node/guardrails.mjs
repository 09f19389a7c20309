// What the official clients make of guardrails. Go runs this file by its name, in front of two
// providers that repeat what they were sent: "@peer" (OpenAI's API) and "@claude" (Anthropic's).
// SLUICE_PROVIDERS names others.
// SLUICE_OFF says that guardrails are off.
import { describe, it } from 'node:test'
import assert from 'node:assert/strict'
import Anthropic from '@anthropic-ai/sdk'
import OpenAI from 'openai'
import { base, key, model } from './client.mjs'

const off = Boolean(process.env.SLUICE_OFF)
const providers = (process.env.SLUICE_PROVIDERS ?? '@peer,@claude').split(',')
const options = { apiKey: key, maxRetries: 0, timeout: 20_000 }
const openai = new OpenAI({ ...options, baseURL: base })
const anthropic = new Anthropic({ ...options, baseURL: base.replace(/\/v1$/, '') })
const check = { regexMatch: { rule: 'forbidden', not: true } }
const bad = 'a forbidden text', good = 'a harmless text'
const lateBad = `${'a harmless beginning '.repeat(3)}and ${bad}`
const loose = { 'x-gateway-strict-open-ai-compliance': 'false' }

// under are the options of a call under guardrails.
const under = (provider, guardrails, extra = {}) => ({ headers: { 'x-gateway-config': JSON.stringify({ provider, ...guardrails }), ...extra } })

// both are guardrails that deny forbidden texts of requests and answers, after are those that deny them in
// answers only.
const both = extra => Object.fromEntries(['input_guardrails', 'output_guardrails'].map(side => [side, [{ deny: true, ...check, ...(side === 'input_guardrails' ? {} : extra) }]]))
const after = extra => ({ input_guardrails: [{ wordCount: { minWords: 1 } }], output_guardrails: both(extra).output_guardrails })

// messageEvents are the rules for the events of Messages.
const messageEvents = {
  phases: ['before_request_hooks', 'after_request_hooks'], position: 0,
  regular: events => {
    const types = events.filter(e => !e.hook_results).map(e => e.type)
    assert.equal(types[0], 'message_start')
    assert.equal(types.at(-1), 'message_stop')
  },
}

// surfaces are the APIs: how to ask on each, whole and streamed, and what says how it ended.
const surfaces = {
  chat: {
    whole: (text, o) => openai.chat.completions.create({ model, messages: [{ role: 'user', content: text }] }, o),
    stream: (text, o) => openai.chat.completions.stream({ model, messages: [{ role: 'user', content: text }], stream_options: { include_usage: true } }, o).finalChatCompletion(),
    events: (text, o) => openai.chat.completions.create({ model, stream: true, messages: [{ role: 'user', content: text }] }, o),
    said: a => a.choices[0].message.content ?? '',
    ended: a => a.choices[0].finish_reason,
    complete: 'stop', denied: 'content_filter', errors: OpenAI.APIError,
    phases: ['before_request_hooks'], position: 0, // the client stops reading at [DONE]
    regular: events => {
      assert.deepEqual([...new Set(events.map(e => `${e.object} ${e.id} ${e.model} ${e.created}`))].length, 1)
      assert.ok(events.every(e => Array.isArray(e.choices)))
    },
  },
  messages: {
    whole: (text, o) => anthropic.messages.create({ model, max_tokens: 4096, messages: [{ role: 'user', content: text }] }, o),
    stream: (text, o) => anthropic.messages.stream({ model, max_tokens: 4096, messages: [{ role: 'user', content: text }] }, o).finalMessage(),
    events: (text, o) => anthropic.messages.create({ model, stream: true, max_tokens: 4096, messages: [{ role: 'user', content: text }] }, o),
    said: a => a.content.filter(b => b.type === 'text').map(b => b.text).join(''),
    ended: a => a.stop_reason,
    complete: 'end_turn', denied: 'refusal', errors: Anthropic.APIError,
    ...messageEvents,
  },
  'beta messages': {
    whole: (text, o) => anthropic.beta.messages.create({ model, max_tokens: 4096, messages: [{ role: 'user', content: text }] }, o),
    stream: (text, o) => anthropic.beta.messages.stream({ model, max_tokens: 4096, messages: [{ role: 'user', content: text }] }, o).finalMessage(),
    events: (text, o) => anthropic.beta.messages.create({ model, stream: true, max_tokens: 4096, messages: [{ role: 'user', content: text }] }, o),
    said: a => a.content.filter(b => b.type === 'text').map(b => b.text).join(''),
    ended: a => a.stop_reason,
    complete: 'end_turn', denied: 'refusal', errors: Anthropic.APIError,
    ...messageEvents,
  },
  responses: {
    whole: (text, o) => openai.responses.create({ model, store: false, input: text }, o),
    stream: (text, o) => openai.responses.stream({ model, store: false, input: text }, o).finalResponse(),
    events: (text, o) => openai.responses.create({ model, stream: true, store: false, input: text }, o),
    said: a => a.output_text,
    ended: a => a.incomplete_details?.reason ?? a.status,
    complete: 'completed', denied: 'content_filter', errors: OpenAI.APIError,
    phases: ['before_request_hooks', 'after_request_hooks'], position: 1,
    regular: events => {
      assert.equal(events[0].type, 'response.created')
      const numbers = events.filter(e => !e.hook_results).map(e => e.sequence_number)
      assert.deepEqual(numbers, numbers.map((_, i) => i))
      events.forEach((e, i) => e.hook_results && assert.equal(e.sequence_number, events[i - 1].sequence_number))
    },
  },
}

// streamed are the ways in which guardrails can decide about a stream.
const streamed = {
  'no guardrails': { guardrails: {} },
  'passed guardrails': { guardrails: both({}) },
  'passed guardrails that hold': { guardrails: both({ stream: 'hold' }) },
  'a denied request': { guardrails: both({}), text: bad, ended: 'refused' },
  'a denial in its middle': { guardrails: after({ stream: 'window' }), text: lateBad, ended: 'denied' },
  'a denial of a held answer': { guardrails: after({ stream: 'hold' }), text: lateBad, ended: 'denied' },
}

// denied is what the client throws for status 446.
async function denied(promise, kind) {
  const err = await promise.then(a => assert.fail(`it was answered: ${JSON.stringify(a)}`), e => e)
  assert.ok(err instanceof kind, `${err.constructor.name}: ${err.stack}`)
  assert.equal(err.status, 446)
  assert.ok(err.headers.get('x-gateway-request-id'))
  const error = err.error.error ?? err.error // Anthropic's client keeps the whole body
  assert.equal(error.type, kind === Anthropic.APIError ? 'invalid_request_error' : 'hooks_failed') // Anthropic's API has a fixed list of types
  assert.ok(error.message.length > 0)
  assert.ok(!err.message.includes('forbidden'), err.message)
  return err
}

for (const provider of providers) {
  for (const [name, s] of Object.entries(surfaces)) {
    describe(`${name} of ${provider}`, { skip: off && 'guardrails are off' }, () => {
      for (const side of ['input', 'output']) {
        const deny = { [`${side}_guardrails`]: [{ id: 'g1', deny: true, ...check }] }
        const mark = { [`${side}_guardrails`]: [{ id: 'g1', ...check }] }

        it(`passes harmless texts under ${side} guardrails`, async () => {
          for (const ask of [s.whole, s.stream]) {
            const a = await ask(good, under(provider, deny))
            assert.match(s.said(a), /harmless/)
            assert.equal(s.ended(a), s.complete)
          }
        })

        it(`gets a marked answer with status 246 from ${side} guardrails`, async () => {
          const { data, response } = await s.whole(bad, under(provider, mark)).withResponse()
          assert.equal(response.status, 246)
          assert.match(s.said(data), /forbidden/)
          assert.equal(s.ended(data), s.complete)
          const results = data.hook_results[side === 'input' ? 'before_request_hooks' : 'after_request_hooks']
          assert.equal(results.length, 1)
          assert.equal(results[0].verdict, false)
          const streamed = await s.stream(bad, under(provider, mark))
          assert.match(s.said(streamed), /forbidden/)
          assert.equal(s.ended(streamed), s.complete)
        })

        it(`throws its error for a denial by ${side} guardrails`, async () => {
          const err = await denied(s.whole(bad, under(provider, deny)), s.errors)
          if (s.errors === Anthropic.APIError) assert.equal(err.error.hook_results.before_request_hooks.length + err.error.hook_results.after_request_hooks.length, 1)
        })
      }

      it('throws its error before a stream whose input is denied', async () => {
        await denied(s.stream(bad, under(provider, { input_guardrails: [{ deny: true, ...check }] })), s.errors)
      })

      for (const stream of ['window', 'hold', undefined]) {
        it(`reads a stream that is denied, ${stream ?? 'as is usual'}`, async () => {
          const a = await s.stream(bad, under(provider, { output_guardrails: [{ deny: true, stream, ...check }] }))
          assert.equal(s.ended(a), s.denied)
          assert.ok(!s.said(a).includes('forbidden'), s.said(a))
        })
      }

      for (const [format, extra] of [['strict', {}], ['loose', loose]]) {
        for (const [outcome, { guardrails, text = good, ended = 'complete' }] of Object.entries(streamed)) {
          const options = under(provider, guardrails, extra)
          const results = format === 'loose' && outcome !== 'no guardrails'

          it(`reads the ${format} stream of ${outcome} with its helper`, async () => {
            if (ended === 'refused') return denied(s.stream(text, options), s.errors)
            const a = await s.stream(text, options)
            if (ended === 'denied' || format === 'strict' || provider === '@peer') assert.equal(s.ended(a), s[ended]) // loose: the provider's own reason
            assert.match(a.id, /^(chatcmpl|msg|resp|gen)/)
            assert.ok(a.model)
            assert.equal(s.said(a).includes('forbidden'), false)
            if (ended === 'complete') assert.match(s.said(a), /harmless/)
          })

          it(`iterates over the ${format} stream of ${outcome}`, async () => {
            const events = [], read = async () => { for await (const e of await s.events(text, options)) events.push(e) }
            if (ended === 'refused') return denied(read(), s.errors)
            await read()
            const shown = events.filter(e => e.hook_results)
            assert.deepEqual(shown.map(e => Object.keys(e.hook_results)[0]), results ? s.phases : [])
            if (results) assert.equal(events.indexOf(shown[0]), s.position)
            s.regular(events)
          })
        }
      }

      it('reads a denial with status 200', async () => {
        for (const side of ['input', 'output']) {
          const soft = { [`${side}_guardrails`]: [{ deny: true, soft_deny_200: true, ...check }] }
          const { data, response } = await s.whole(bad, under(provider, soft)).withResponse()
          assert.equal(response.status, 200)
          assert.equal(s.ended(data), s.denied)
          assert.ok(!s.said(data).includes('forbidden'), s.said(data))
        }
      })
    })
  }
}

describe('guardrails that are off', { skip: !off && 'guardrails are on' }, () => {
  for (const [name, s] of Object.entries(surfaces)) {
    it(`let ${name} pass`, async () => {
      const all = Object.fromEntries(['input_guardrails', 'output_guardrails'].map(side => [side, [{ deny: true, ...check }]]))
      for (const ask of [s.whole, s.stream]) {
        const a = await ask(bad, under('@peer', all))
        assert.match(s.said(a), /forbidden/)
        assert.equal(s.ended(a), s.complete)
        assert.equal(a.hook_results, undefined)
      }
    })
  }
})
