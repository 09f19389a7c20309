import { describe, it } from 'node:test'
import assert from 'node:assert/strict'
import { GoogleGenAI } from '@google/genai'
import { CohereClientV2 } from 'cohere-ai'
import { base, key, model, only, provider } from './client.mjs'

// Clients of shapes that the gateway passes through untouched. Each sends the
// provider's own paths; the gateway's key is in a header of its own.
const root = base.replace(/\/v1$/, '')
const headers = { 'x-gateway-api-key': key, 'x-gateway-provider': provider }

describe("Google's client", () => {
  const client = new GoogleGenAI({ apiKey: 'none', httpOptions: { baseUrl: root, apiVersion: 'v1/v1beta', headers } })

  it('generates whole and streamed', only('gemini', 'aimock-gemini'), async () => {
    const whole = await client.models.generateContent({ model, contents: 'Hello there' })
    assert.match(whole.text, /^You said: "Hello there"/)
    let text = '', last
    for await (const c of await client.models.generateContentStream({ model, contents: 'Hello there' })) {
      text += c.text ?? ''
      last = c
    }
    assert.equal(text, whole.text)
    assert.equal(last.candidates[0].finishReason, 'STOP')
  })

  it('sends the gateway key as its own', only('gemini', 'aimock-gemini'), async () => {
    const stock = new GoogleGenAI({ apiKey: key, httpOptions: { baseUrl: base, headers: { 'x-gateway-provider': provider } } })
    const whole = await stock.models.generateContent({ model, contents: 'Hello there' })
    assert.match(whole.text, /^You said: "Hello there"/)
  })

  it('calls functions', only('gemini', 'aimock-gemini'), async () => {
    const functionDeclarations = [{ name: 'get_weather', parametersJsonSchema: { type: 'object', properties: { city: { type: 'string' } } } }]
    const r = await client.models.generateContent({ model, contents: 'Please use get_weather for Paris', config: { tools: [{ functionDeclarations }] } })
    assert.equal(r.functionCalls[0].name, 'get_weather')
    assert.match(r.functionCalls[0].args.city, /Paris/)
  })
})

describe("Cohere's client", () => {
  const client = new CohereClientV2({ token: key, environment: `${root}/v1`, headers, maxRetries: 0 })
  const question = { model, messages: [{ role: 'user', content: 'Hello there' }] }

  it('chats whole and streamed', only('aimock-cohere'), async () => {
    const whole = await client.chat(question)
    assert.match(whole.message.content[0].text, /^You said: "Hello there"/)
    let text = ''
    for await (const e of await client.chatStream(question)) {
      if (e.type === 'content-delta') text += e.delta.message.content.text
    }
    assert.equal(text, whole.message.content[0].text)
  })
})
