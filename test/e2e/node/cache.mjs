// What the official clients make of cached responses. Go runs this file by its name, in front of two
// providers that repeat what they were sent: "@peer" (OpenAI's API) and "@claude" (Anthropic's).
// SLUICE_PROVIDERS names others.
import { describe, it } from 'node:test'
import assert from 'node:assert/strict'
import Anthropic from '@anthropic-ai/sdk'
import OpenAI from 'openai'
import { base, key, model } from './client.mjs'

const providers = (process.env.SLUICE_PROVIDERS ?? '@peer,@claude').split(',')
const options = { apiKey: key, maxRetries: 0, timeout: 20_000 }
const openai = new OpenAI({ ...options, baseURL: base })
const anthropic = new Anthropic({ ...options, baseURL: base.replace(/\/v1$/, '') })
const tool = 'Please use get_weather and get_time for Paris'
const schema = { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] }
const names = ['get_weather', 'get_time']

// caching are the options of a call whose response may come from the cache.
const caching = (provider, extra = {}) => ({ headers: { 'x-gateway-config': JSON.stringify({ provider, cache: { mode: 'simple' } }), ...extra } })

// surfaces are the APIs: how to ask on each, whole and streamed, and what counts of an answer.
const surfaces = {
  chat: {
    body: text => ({ model, messages: [{ role: 'user', content: text }], tools: names.map(name => ({ type: 'function', function: { name, parameters: schema } })) }),
    whole: (body, o) => openai.chat.completions.create(body, o),
    stream: (body, o) => openai.chat.completions.stream({ ...body, stream_options: { include_usage: true } }, o),
    final: s => s.finalChatCompletion(),
    said: a => a.choices[0].message.content ?? '',
    ended: a => a.choices[0].finish_reason,
    calls: a => (a.choices[0].message.tool_calls ?? []).map(c => ({ id: c.id, name: c.function.name, input: JSON.parse(c.function.arguments) })),
    usage: a => a.usage.total_tokens,
  },
  messages: {
    body: text => ({ model, max_tokens: 4096, messages: [{ role: 'user', content: text }], tools: names.map(name => ({ name, input_schema: schema })) }),
    whole: (body, o) => anthropic.messages.create(body, o),
    stream: (body, o) => anthropic.messages.stream(body, o),
    final: s => s.finalMessage(),
    said: a => a.content.filter(b => b.type === 'text').map(b => b.text).join(''),
    ended: a => a.stop_reason,
    calls: a => a.content.filter(b => b.type === 'tool_use').map(c => ({ id: c.id, name: c.name, input: c.input })),
    usage: a => a.usage.input_tokens + a.usage.output_tokens,
  },
  responses: {
    body: text => ({ model, store: false, input: text, tools: names.map(name => ({ type: 'function', name, parameters: schema, strict: false })) }),
    whole: (body, o) => openai.responses.create(body, o),
    stream: (body, o) => openai.responses.stream(body, o),
    final: s => s.finalResponse(),
    said: a => a.output_text,
    ended: a => a.status,
    calls: a => a.output.filter(i => i.type === 'function_call').map(c => ({ id: c.call_id, name: c.name, input: JSON.parse(c.arguments) })),
    usage: a => a.usage.total_tokens,
  },
}

// ask returns an answer with the headers of its response.
async function ask(s, how, body, o) {
  if (how === 'whole') {
    const { data, response } = await s.whole(body, o).withResponse()
    return { answer: data, status: response.headers.get('x-gateway-cache-status'), request: response.headers.get('x-gateway-request-id') }
  }
  const stream = s.stream(body, o)
  const answer = await s.final(stream)
  const headers = stream.response?.headers // OpenAI's client does not show them
  return { answer, status: headers?.get('x-gateway-cache-status'), request: headers?.get('x-gateway-request-id') }
}

// same checks that two answers have the same content and different ids, also of the calls of tools.
function same(s, first, hit) {
  assert.equal(s.said(hit), s.said(first))
  assert.equal(s.ended(hit), s.ended(first))
  assert.equal(s.usage(hit), s.usage(first))
  assert.notEqual(hit.id, first.id)
  const [before, after] = [s.calls(first), s.calls(hit)]
  assert.deepEqual(after.map(({ name, input }) => ({ name, input })), before.map(({ name, input }) => ({ name, input })))
  const ids = [...before, ...after].map(c => c.id)
  assert.equal(new Set(ids).size, ids.length, `ids ${ids}`)
}

for (const provider of providers) {
  for (const [name, s] of Object.entries(surfaces)) {
    describe(`${name} of ${provider}`, () => {
      for (const first of ['whole', 'stream']) {
        for (const second of ['whole', 'stream']) {
          for (const text of ['Hello there, 世界 🌍', tool]) {
            it(`is stored from a ${first} answer to "${text}" and served as ${second}`, async () => {
              const o = caching(provider, { 'x-gateway-cache-namespace': `${name} ${first} ${second}` })
              const a = await ask(s, first, s.body(text), o)
              assert.equal(s.calls(a.answer).length, text === tool ? 2 : 0)
              const b = await ask(s, second, s.body(text), o)
              same(s, a.answer, b.answer)
              if (a.status) assert.equal(a.status, 'MISS')
              if (b.status) assert.equal(b.status, 'HIT')
              assert.ok(!a.request || a.request !== b.request)
              const c = await ask(s, 'whole', s.body(text), o)
              assert.equal(c.status, 'HIT')
              same(s, b.answer, c.answer)
            })
          }
        }
      }

      it('takes the result of a tool that a stored answer called', async () => {
        const o = caching(provider, { 'x-gateway-cache-namespace': `${name} result` })
        await ask(s, 'whole', s.body(tool), o)
        const { answer, status } = await ask(s, 'whole', s.body(tool), o)
        assert.equal(status, 'HIT')
        const body = s.body(tool)
        const results = s.calls(answer)
        if (name === 'chat') body.messages.push(answer.choices[0].message, ...results.map(c => ({ role: 'tool', tool_call_id: c.id, content: 'it rains' })))
        if (name === 'messages') body.messages.push({ role: 'assistant', content: answer.content }, { role: 'user', content: results.map(c => ({ type: 'tool_result', tool_use_id: c.id, content: 'it rains' })) })
        if (name === 'responses') body.input = [{ role: 'user', content: tool }, ...answer.output, ...results.map(c => ({ type: 'function_call_output', call_id: c.id, output: 'it rains' }))]
        const next = await ask(s, 'whole', body, o)
        assert.equal(next.status, 'MISS')
        assert.match(s.said(next.answer), /it rains/)
      })
    })
  }
}
