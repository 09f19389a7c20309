import { describe, it } from 'node:test'
import assert from 'node:assert/strict'
import WebSocket from 'ws'
import { OpenAIRealtimeWebSocket } from 'openai/realtime/websocket'
import { OpenAIRealtimeWS } from 'openai/realtime/ws'
import { base, key, newClient, peer, provider } from './client.mjs'

// The official client speaks wss alone, so this needs a gateway with TLS.
const skip = base.startsWith('https://') && peer === 'upstream' ? false : 'needs TLS, and our own upstream'

describe('realtime', () => {
  it('talks over a WebSocket', { skip, timeout: 15_000 }, async () => {
    const rt = new OpenAIRealtimeWS({ model: 'demo-realtime', options: { headers: { 'x-gateway-provider': provider, 'x-gateway-api-key': key } } }, newClient())
    const done = new Promise((resolve, reject) => {
      rt.on('error', reject)
      rt.on('response.done', resolve)
    })
    let text = ''
    rt.on('response.output_text.delta', e => { text += e.delta })
    rt.on('session.created', () => {
      rt.send({ type: 'conversation.item.create', item: { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'Hello there' }] } })
      rt.send({ type: 'response.create' })
    })
    const { response } = await done
    rt.close()
    assert.match(text, /^You said: "Hello there"/)
    assert.equal(response.status, 'completed')
    assert.ok(response.usage.total_tokens > 0)
  })

  it('knows the key that a browser offers as a subprotocol', { skip, timeout: 15_000 }, async () => {
    globalThis.WebSocket ??= WebSocket
    const rt = new OpenAIRealtimeWebSocket({ model: `${provider}/demo-realtime` }, newClient())
    await new Promise((resolve, reject) => {
      rt.on('error', reject)
      rt.on('session.created', resolve)
    })
    assert.equal(rt.socket.protocol, 'realtime')
    rt.close()
  })
})
