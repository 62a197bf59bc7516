import { observed, oneOf, statusOf, type Attack } from '../attack.js';

/** Words that differ from each other in each query, so that nothing is remembered of them. */
const wordsFrom = (start: number): string => {
  const words = Array.from({ length: 7_000 }, (_, i) => (start * 7_000 + i).toString(36).padStart(4, 'z'));
  return words.join(' ').slice(0, 32_768);
};

const QUERIES: readonly (readonly [name: string, query: (n: number) => string])[] = [
  ['that are eighteen times as long in their normal form', (n) => `${String(n)} ${'\ufdfa'.repeat(32_000)}`],
  ['of 7,000 different words', wordsFrom],
  [
    'of 32,000 different Han characters',
    (n) =>
      Array.from({ length: 32_000 }, (_, i) => String.fromCharCode(0x4e00 + ((i + n) % 20_000))).join(''),
  ],
  ['of a single Thai word', (n) => `${String(n)}${'กขค'.repeat(10_000)}`],
];

const queryAttacks: readonly Attack[] = QUERIES.map(([name, query]) => ({
  name: `queries ${name}`,
  patienceSeconds: 120,
  run: async ({ attacker, isShort }) => {
    const asked = Array.from({ length: isShort ? 4 : 24 }, (_, n) =>
      statusOf(attacker.searchChunks(query(n), { k: 3 })),
    );
    return observed(await Promise.all(asked), oneOf(200, 503));
  },
}));

export const searchAttacks: readonly Attack[] = [
  {
    name: 'filters of as many values as a search may hold, and of more, one after the other',
    growth: 400,
    run: async ({ attacker, isShort }) => {
      const ask = (length: number, from: number) => {
        const values = Array.from({ length }, (_, i) => i + from);
        return statusOf(attacker.searchChunks('x', { filters: { n: { $in: values } } }));
      };
      const statuses: (number | string)[] = [];
      for (let n = 0; n < (isShort ? 3 : 20); n += 1) statuses.push(await ask(199_000, n));
      const refused = observed([await ask(900_000, 0)], oneOf(413));
      const { answer, wrong } = observed(statuses, oneOf(422));
      return { answer: `${answer}; ${refused.answer}`, wrong: wrong ?? refused.wrong };
    },
  },
  {
    name: 'a thousand filters of a thousand values',
    patienceSeconds: 300,
    run: async ({ attacker, isShort }) => {
      const statuses: (number | string)[] = [];
      for (let n = 0; n < (isShort ? 60 : 1_000); n += 1) {
        const values = Array.from({ length: 1_000 }, (_, i) => `${'v'.repeat(100)}${String(i)}-${String(n)}`);
        statuses.push(await statusOf(attacker.searchChunks('x', { filters: { n: { $in: values } } })));
      }
      return observed(statuses, oneOf(200));
    },
  },
  {
    name: 'large and odd pages',
    run: async ({ attacker }) => {
      const skips = [
        '1000000',
        '10000000',
        '4294967296',
        '9007199254740991',
        '9007199254740993',
        '1e400',
        '99999999999999999999',
      ];
      const paths = skips.flatMap((skip) => [
        `/documents?skip=${skip}`,
        `/documents?skip=${skip}&filters={"a":1}`,
      ]);
      return observed(await Promise.all(paths.map((path) => statusOf(attacker.get(path)))), oneOf(200, 422));
    },
  },
  {
    name: 'queries of 32,768 characters, kept as usage',
    patienceSeconds: 300,
    run: async (target) => {
      const count = target.isShort ? 50 : 1_000;
      const statuses: (number | string)[] = [];
      for (let n = 0; n < count; n += 1)
        statuses.push(
          await statusOf(target.attacker.searchChunks(`${String(n)} `.padEnd(32_768, 'q'), { k: 1 })),
        );
      const { body } = await target.attacker.get<{ metadata: { query?: string } }[]>(
        '/usage/recent?operation_type=retrieve_chunks&limit=50',
      );
      const longest = Math.max(...body.map(({ metadata }) => metadata.query?.length ?? 0));
      const seen = observed(statuses, oneOf(200));
      return {
        answer: `${seen.answer}; ${String(longest)} characters kept`,
        wrong: longest > 512 ? 'whole queries are kept' : seen.wrong,
      };
    },
  },
  ...queryAttacks,
  {
    name: 'two thousand parameters in each of a hundred addresses',
    run: async ({ attacker, isShort }) => {
      const parameters = Array.from({ length: 1_800 }, (_, i) => `p${String(i)}=1`).join('&');
      const asked = Array.from({ length: isShort ? 10 : 100 }, () =>
        statusOf(attacker.get(`/documents?${parameters}`)),
      );
      return observed(await Promise.all(asked), oneOf(200, 503));
    },
  },
];
