import { afterAll, afterEach, beforeAll } from '@jest/globals';

interface Fake {
  reset(): void;
  stop(): Promise<void>;
}

/**
 * Starts a server that plays somebody else for the tests of a file or of a `describe`; it is as it was at its start before each
 * of them. Returns what gives it, from `beforeAll` on.
 */
export function useFake<Server extends Fake>(start: () => Promise<Server>): () => Server {
  let server: Server | undefined;
  const get = () => {
    if (!server) throw new Error('the server is there from `beforeAll` on');
    return server;
  };
  beforeAll(async () => {
    server = await start();
  });
  afterEach(() => {
    get().reset();
  });
  afterAll(() => get().stop());
  return get;
}
