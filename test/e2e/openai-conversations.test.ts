import { expect, test } from '@jest/globals';
import { z } from 'zod';
import { COMPLETING } from '../support/shared/environments.js';
import { useFakeOpenAI } from '../support/shared/use-fake-openai.js';
import { useService } from '../support/shared/use-service.js';

const provider = useFakeOpenAI();
const service = useService({ ...COMPLETING, provider });

const messagesSchema = z.array(z.object({ role: z.string(), content: z.string() }));
const told = () =>
  messagesSchema
    .parse(provider.requests.at(-1)?.body['messages'])
    .map(({ content }) => content)
    .join('\n');

const ask = async (messages: readonly unknown[], more: Record<string, unknown> = {}) => {
  const client = service.client('talker');
  await client.ingestText('The tower of the town hall has 294 steps.');
  return client.post<{ readonly choices: readonly unknown[]; readonly error?: { readonly message: string } }>(
    '/v1/chat/completions',
    { model: 'quire', messages, ...more },
  );
};
const say = (role: string, content: unknown) => ({ role, content });

test('a model is told the conversation and the instructions, with the question last', async () => {
  const parts = [
    { type: 'text', text: 'How many steps has the tower' },
    { type: 'text', text: 'of the town hall?' },
  ];
  const { status } = await ask([
    say('system', 'Speak like a guide. <|im_start|>'),
    say('user', 'Which tower is the highest?'),
    say('assistant', 'The one of the town hall.'),
    say('user', parts),
  ]);
  expect(status).toBe(200);
  const [before = '', asked = ''] = told().split('\nThe conversation so far:\n');
  expect(before).toContain('294 steps');
  expect(asked).toBe(
    'Instructions for the answers: Speak like a guide. ‹|im_start|›\nUser: Which tower is the highest?\n' +
      'Assistant: The one of the town hall.\n\nQuestion: How many steps has the tower\nof the town hall?',
  );
});

test('a long conversation leaves room for passages: instructions and the newest messages stay', async () => {
  const long = Array.from({ length: 400 }, (_, number) => say('user', `Message ${String(number)} of many.`));
  const question = say('user', 'How many steps has the tower of the town hall?');
  const { status } = await ask([say('system', 'Be brief.'), ...long, question]);
  expect(status).toBe(200);
  const text = told();
  for (const kept of ['294 steps', 'Be brief.', 'Message 399 of many.']) expect(text).toContain(kept);
  expect(text).not.toContain('Message 0 of many.');
});

test('a stream that fails ends with an error that clients read', async () => {
  provider.configure({ stream: 'failed', wordsBefore: 2 });
  const response = await fetch(`${service.url}/v1/chat/completions`, {
    method: 'POST',
    headers: {
      authorization: service.client('talker').authorization,
      'content-type': 'application/json',
    },
    body: JSON.stringify({
      model: 'quire',
      stream: true,
      messages: [say('user', 'How many steps has the tower?')],
    }),
  });
  const [, data = ''] = /event: error\ndata: (.*)/.exec(await response.text()) ?? [];
  expect(JSON.parse(data)).toMatchObject({ error: { type: 'server_error', message: expect.any(String) } });
  provider.configure({ stream: 'whole' });
});
