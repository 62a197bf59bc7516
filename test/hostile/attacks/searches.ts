import { observed, oneOf, statusOf, type Attack } from '../attack.js';

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
];
