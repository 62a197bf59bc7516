import { fork } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import type { ModelsAddress } from '../../shared/local-models/processes/models-address.js';
import type { Environment } from '../executables.js';
import { freePort } from '../free-port.js';
import { superviseChild } from '../supervise-child.js';
import { UserError } from '../user-messages.js';

export interface TemporaryModels {
  readonly address: ModelsAddress;
  /** The variables by which other processes of ours find it. */
  readonly variables: Environment;
  /** Aborts with a UserError when it keeps ending. */
  readonly signal: AbortSignal;
}

const STOP_PATIENCE_MS = 10_000;
const POLL_MS = 50;

/**
 * Runs a process with local models on a free loopback port, with a token of its own, while a task needs it.
 * @param env its environment
 * @param directory the folder of the models
 * @throws UserError when it does not start
 */
export async function withModelsProcess<Result>(
  env: Environment,
  directory: string,
  task: (models: TemporaryModels) => Promise<Result>,
): Promise<Result> {
  const port = await freePort();
  const token = randomBytes(24).toString('hex');
  const address = { url: `http://127.0.0.1:${String(port)}`, token };
  const path = fileURLToPath(new URL('../../models/main.js', import.meta.url));
  // Saved states of a running service are none of its business: a second process in their folder would clear up there.
  const dataDirectory = await mkdtemp(join(tmpdir(), 'quire-models-'));
  const own = {
    QUIRE_DATA_DIR: dataDirectory,
    QUIRE_MODELS_DIR: resolve(directory),
    QUIRE_MODELS_HOST: '127.0.0.1',
    QUIRE_MODELS_PORT: String(port),
    QUIRE_MODELS_TOKEN: token,
  };
  const hopeless = new AbortController();
  const child = superviseChild({
    name: 'models',
    // Its own process group, so that Ctrl-C in a terminal reaches it only through us; stdout is for results.
    start: () => fork(path, [], { env: { ...env, ...own }, detached: true, stdio: ['ignore', 2, 2, 'ipc'] }),
    onHopeless: (reason) => hopeless.abort(new UserError(reason)),
  });
  try {
    await untilHealthy(address.url, hopeless.signal);
    const variables = { QUIRE_MODELS_URLS: address.url, QUIRE_MODELS_TOKEN: token };
    return await task({ address, variables, signal: hopeless.signal });
  } finally {
    await child.stop(STOP_PATIENCE_MS);
    await rm(dataDirectory, { recursive: true, force: true });
  }
}

/** @throws the signal's reason */
async function untilHealthy(url: string, signal: AbortSignal): Promise<void> {
  for (;;) {
    const response = await fetch(`${url}/health`, { signal }).catch(() => null);
    if (response?.ok === true) return;
    signal.throwIfAborted();
    await sleep(POLL_MS, undefined, { signal });
  }
}
