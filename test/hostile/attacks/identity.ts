import { withRedis } from '../../chaos/with-redis.js';
import { createClient } from '../../support/client.js';
import { isSane, observed, oneOf, statusOf, type Attack } from '../attack.js';

const model = { model: 'some-model', gguf_file: 'some-model.gguf' };

export const identityAttacks: readonly Attack[] = [
  {
    name: "another's cache by a name with a colon",
    run: async ({ as }) => {
      const [owner, thief] = [as('acme:bob'), as('acme')];
      await owner.ingestText('The price of the deal is secret.');
      const made = await owner.post('/cache/create', { name: 'deals', ...model, filters: {} });
      const path = '/cache/bob:deals';
      const seen = await thief.get<{ exists: boolean }>(path);
      const statuses = [
        await statusOf(thief.post(`${path}/query`, { query: 'What is the price of the deal?' })),
        await statusOf(thief.post(`${path}/update`)),
        await statusOf(thief.delete(path)),
      ];
      const kept = await owner.get<{ exists: boolean }>('/cache/deals');
      const { answer, wrong } = observed(statuses, oneOf(404, 422));
      const isSafe = made.status === 200 && kept.body.exists && !seen.body.exists;
      return {
        answer: `exists ${String(seen.body.exists)}, ${answer}`,
        wrong: isSafe ? wrong : 'it was seen or deleted',
      };
    },
  },
  {
    name: 'guessing the password with forged addresses',
    run: async ({ url }) => {
      const guess = (n: number) =>
        statusOf(
          fetch(`${url}/local/generate_uri`, {
            method: 'POST',
            body: JSON.stringify({ password_token: `guess number ${String(n)}` }),
            headers: {
              'content-type': 'application/json',
              'x-forwarded-for': `10.0.0.${String(n)}, 10.1.1.${String(n)}`,
            },
          }),
        );
      const statuses: (number | string)[] = [];
      for (let n = 0; n < 25; n += 1) statuses.push(await guess(n));
      const through = statuses.filter((status) => status === 401).length;
      const { answer, wrong } = observed(statuses, oneOf(401, 429));
      return { answer, wrong: through > 10 ? `${String(through)} guesses of 25 got through` : wrong };
    },
  },
  {
    name: 'tokens that are not quite tokens',
    run: async ({ url, as }) => {
      const good = as('alice').authorization;
      const values = [
        'Bearer',
        'Bearer ',
        good.slice(0, -2),
        `${good}x`,
        `${good} ${good}`,
        good.replace('Bearer', 'Basic'),
        'Bearer eyJhbGciOiJub25lIn0.eyJlbnRpdHlfaWQiOiJhIn0.',
        `bearer\t${good}`,
        'Bearer ..',
        `Bearer ${'.'.repeat(8_000)}`,
      ];
      const asked = values.map((authorization) =>
        statusOf(fetch(`${url}/documents`, { headers: { authorization } })),
      );
      return observed(await Promise.all(asked), oneOf(401, 200));
    },
  },
  {
    name: 'users with ids that are not ids',
    run: async ({ url }) => {
      const ids = [
        '',
        ' ',
        'a'.repeat(257),
        '\u0000',
        '*',
        'a\nb',
        '__proto__',
        '\udc00',
        'constructor',
        'é'.repeat(256),
      ];
      const asked = ids.flatMap((id) => {
        const client = createClient(url, id);
        return [
          statusOf(client.ingestText('Of somebody.')),
          statusOf(client.searchChunks('somebody')),
          statusOf(client.get('/usage/stats')),
        ];
      });
      return observed(await Promise.all(asked), (status) => isSane(status) && status !== 503);
    },
  },
  {
    name: 'access lists of 3 × 1,000 ids for many chunks',
    run: async ({ attacker, service, isShort }) => {
      const ids = Array.from({ length: 1_000 }, (_, i) => `${String(i)}-${'r'.repeat(60)}`);
      const content = Array.from(
        { length: isShort ? 200 : 1_200 },
        (_, n) => `The shared sentence number ${String(n)} says so.`,
      ).join(' ');
      const before = await redisMegabytes(service.redis.url);
      const lists = {
        access_control: {
          readers: ids,
          writers: ids.map((id) => `w${id}`),
          admins: ids.map((id) => `a${id}`),
        },
      };
      const { status } = await attacker.ingestText(content, lists, { prefer: 'wait=100' });
      const grown = (await redisMegabytes(service.redis.url)) - before;
      const bound = isShort ? 6 : 20;
      const { answer, wrong } = observed([status], oneOf(200, 422));
      return {
        answer: `${answer}, Redis +${grown.toFixed(1)} MB`,
        wrong: grown > bound ? `more than ${String(bound)} MB` : wrong,
      };
    },
  },
];

async function redisMegabytes(url: string): Promise<number> {
  const info = await withRedis(url, (redis) => redis.info('memory'));
  return Number(/used_memory:(\d+)/.exec(info)?.[1]) / 1024 / 1024;
}
