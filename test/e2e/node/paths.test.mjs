import { describe, it } from 'node:test'
import assert from 'node:assert/strict'
import WebSocket from 'ws'
import { AzureOpenAI } from 'openai'
import { OpenAIRealtimeWS } from 'openai/realtime/ws'
import Groq from 'groq-sdk'
import { GoogleGenAI } from '@google/genai'
import { CohereClientV2 } from 'cohere-ai'
import { base, key, model, only, onlyUpstream, peer, provider, sound } from './client.mjs'

// Clients of vendors that get the address of the gateway and a key, and nothing else: each
// sends the paths that its vendor has, and names the saved provider in the model.
const root = base.replace(/\/v1$/, '')
const named = `${provider}/${model}`
const messages = [{ role: 'user', content: 'Hello there' }]
const said = /^You said: "Hello there"/

describe("Azure's client", () => {
  const client = new AzureOpenAI({ endpoint: root, apiKey: key, apiVersion: '2024-10-21', maxRetries: 0, timeout: 20_000 })

  it('chats whole and streamed', async () => {
    const whole = await client.chat.completions.create({ model: named, messages })
    assert.match(whole.choices[0].message.content, said)
    let text = ''
    for await (const c of await client.chat.completions.create({ model: named, messages, stream: true })) text += c.choices[0]?.delta?.content ?? ''
    assert.equal(text, whole.choices[0].message.content)
  })

  it('has its deployment answer, whatever the model', onlyUpstream, async () => {
    const deployed = new AzureOpenAI({ endpoint: root, apiKey: key, apiVersion: '2024-10-21', deployment: named, maxRetries: 0 })
    for (const other of ['gpt-3.5-turbo', '']) {
      assert.equal((await deployed.chat.completions.create({ model: other, messages })).model, model)
    }
  })

  it('sends forms', onlyUpstream, async () => {
    const t = await client.audio.transcriptions.create({ file: await sound(), model: named })
    assert.match(t.text, /^I heard hello\.wav/)
  })

  it('reaches what has no deployment', onlyUpstream, async () => {
    const there = new AzureOpenAI({ endpoint: root, apiKey: key, apiVersion: '2024-10-21', maxRetries: 0, defaultHeaders: { 'x-gateway-provider': provider } })
    assert.ok((await there.models.list()).data.length > 0)
    assert.equal((await there.responses.create({ model, input: 'Hello there' })).status, 'completed')
  })

  const tls = root.startsWith('https://') && peer === 'upstream' ? false : 'needs TLS, and our own upstream'
  it('talks in real time', { skip: tls, timeout: 15_000 }, async () => {
    const rt = await OpenAIRealtimeWS.azure(client, { deploymentName: `${provider}/demo-realtime` })
    await new Promise((resolve, reject) => {
      rt.on('error', reject)
      rt.on('session.created', resolve)
    })
    assert.equal(rt.socket.readyState, WebSocket.OPEN)
    rt.close()
  })
})

describe("Groq's client", () => {
  const client = new Groq({ baseURL: root, apiKey: key, maxRetries: 0, timeout: 20_000 })

  it('chats whole and streamed', async () => {
    const whole = await client.chat.completions.create({ model: named, messages })
    assert.match(whole.choices[0].message.content, said)
    let text = ''
    for await (const c of await client.chat.completions.create({ model: named, messages, stream: true })) text += c.choices[0]?.delta?.content ?? ''
    assert.equal(text, whole.choices[0].message.content)
  })

  it('sends forms', onlyUpstream, async () => {
    const t = await client.audio.transcriptions.create({ file: await sound(), model: named })
    assert.match(t.text, /^I heard hello\.wav/)
  })

  it('lists models', async () => {
    assert.ok(Array.isArray((await client.models.list()).data))
  })
})

describe("Google's client", () => {
  const client = new GoogleGenAI({ apiKey: key, httpOptions: { baseUrl: root } })

  it('generates whole and streamed', only('gemini', 'aimock-gemini'), async () => {
    const whole = await client.models.generateContent({ model: named, contents: 'Hello there' })
    assert.match(whole.text, said)
    let text = ''
    for await (const c of await client.models.generateContentStream({ model: named, contents: 'Hello there' })) text += c.text ?? ''
    assert.equal(text, whole.text)
  })
})

describe("Cohere's client", () => {
  const client = new CohereClientV2({ token: key, environment: root, maxRetries: 0 })

  it('chats whole and streamed', only('aimock-cohere'), async () => {
    const whole = await client.chat({ model: named, messages })
    assert.match(whole.message.content[0].text, said)
    let text = ''
    for await (const e of await client.chatStream({ model: named, messages })) {
      if (e.type === 'content-delta') text += e.delta.message.content.text
    }
    assert.equal(text, whole.message.content[0].text)
  })
})
