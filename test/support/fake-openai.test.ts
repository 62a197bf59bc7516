import { expect, test } from '@jest/globals';
import { startFakeOpenAI } from './fake-openai.js';

test('the fake provider is steered and asked over HTTP, as other processes do', async () => {
  const provider = await startFakeOpenAI({ dimensions: 8 });
  try {
    const origin = new URL(provider.url).origin;
    const post = (path: string, body: unknown) =>
      fetch(`${origin}${path}`, { method: 'POST', body: JSON.stringify(body) });
    await post('/configure', { failures: [{ status: 503 }] });
    expect((await post('/v1/embeddings', { model: 'm', input: ['a'] })).status).toBe(503);
    expect((await post('/v1/embeddings', { model: 'm', input: ['a'] })).status).toBe(200);
    const messages = [{ role: 'user', content: 'hello' }];
    const whole = await post('/v1/chat/completions', { model: 'm', messages });
    expect(await whole.text()).toContain('Answer: hello');
    const stats = await (await fetch(`${origin}/stats`)).text();
    expect(JSON.parse(stats)).toMatchObject({ requests: 3, failed: 1, embeddedTexts: 1, chatRequests: 1 });
    await post('/reset', {});
    expect(provider.stats.requests).toBe(0);
  } finally {
    await provider.stop();
  }
});
