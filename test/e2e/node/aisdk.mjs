// What Vercel's AI SDK makes of streams under guardrails. It reads events after [DONE], and rejects those
// that its schemas do not permit. Go runs this file by its name, in front of a provider that repeats what
// it was sent: "@peer".
import { describe, it } from 'node:test'
import assert from 'node:assert/strict'
import { createAnthropic } from '@ai-sdk/anthropic'
import { createOpenAI } from '@ai-sdk/openai'
import { streamText } from 'ai'
import { base, key, model } from './client.mjs'

const check = { regexMatch: { rule: 'forbidden', not: true } }
const deny = (extra = {}) => [{ deny: true, ...check, ...extra }]
const marked = { wordCount: { minWords: 1 } }
const good = 'a harmless text', bad = 'a forbidden text', lateBad = `${'a harmless beginning '.repeat(3)}and ${bad}`

// models are the APIs that the SDK supports, by the headers of a call.
const models = {
  chat: headers => createOpenAI({ baseURL: base, apiKey: key, headers }).chat(model),
  completions: headers => createOpenAI({ baseURL: base, apiKey: key, headers }).completion(model),
  responses: headers => createOpenAI({ baseURL: base, apiKey: key, headers }).responses(model),
  messages: headers => createAnthropic({ baseURL: base, apiKey: key, headers })(model),
}

// outcomes are the ways in which guardrails can decide about a stream, and the reason for its end.
const outcomes = {
  'no guardrails': { guardrails: {}, text: good, ended: 'stop' },
  'passed guardrails': { guardrails: { input_guardrails: deny(), output_guardrails: deny() }, text: good, ended: 'stop' },
  'passed guardrails that hold': { guardrails: { input_guardrails: deny(), output_guardrails: deny({ stream: 'hold' }) }, text: good, ended: 'stop' },
  'a failed guardrail without deny': { guardrails: { input_guardrails: [check], output_guardrails: [check] }, text: bad, ended: 'stop' },
  'a denied request': { guardrails: { input_guardrails: deny() }, text: bad },
  'a denial in its middle': { guardrails: { input_guardrails: [marked], output_guardrails: deny({ stream: 'window' }) }, text: lateBad, ended: 'content-filter' },
  'a denial of a held answer': { guardrails: { input_guardrails: [marked], output_guardrails: deny({ stream: 'hold' }) }, text: lateBad, ended: 'content-filter' },
}

for (const [name, connect] of Object.entries(models)) {
  describe(name, () => {
    for (const [format, strict] of [['strict', 'true'], ['loose', 'false']]) {
      for (const [outcome, { guardrails, text, ended }] of Object.entries(outcomes)) {
        it(`reads the ${format} stream of ${outcome}`, async () => {
          const headers = { 'x-gateway-config': JSON.stringify({ provider: '@peer', ...guardrails }), 'x-gateway-strict-open-ai-compliance': strict }
          const errors = []
          const result = streamText({ model: connect(headers), prompt: text, maxRetries: 0, onError: ({ error }) => errors.push(error) })
          let answer = ''
          for await (const part of result.fullStream) if (part.type === 'text-delta') answer += part.text
          if (!ended) return assert.deepEqual(errors.map(e => e.statusCode), [446])
          assert.deepEqual(errors.map(String), [])
          assert.equal(await result.finishReason, ended)
          if (ended === 'stop') assert.ok(answer.includes(text), answer)
          else assert.ok(!answer.includes('forbidden'), answer)
        })
      }
    }
  })
}
