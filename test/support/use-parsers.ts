import { afterAll, beforeAll } from '@jest/globals';
import { startParserPool, type ParserPool } from '../../src/workers/parse/pool.js';

interface ParserLimits {
  readonly size: number;
  readonly timeoutMilliseconds: number;
  readonly maxChunks: number;
}

/** Parser processes for the tests of a file or of a `describe`. */
export function useParsers(limits: ParserLimits): Pick<ParserPool, 'parse'> {
  let pool: ParserPool;
  beforeAll(async () => {
    const user = { uid: 65_534, gid: 65_534 };
    pool = await startParserPool({
      user,
      memoryMegabytes: 2048,
      idleMilliseconds: 60_000,
      chunk: { size: 512, overlap: 64 },
      ...limits,
    });
  });
  afterAll(() => pool.close());
  return { parse: (source) => pool.parse(source) };
}
