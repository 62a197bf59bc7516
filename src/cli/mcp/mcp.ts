import { setTimeout as sleep } from 'node:timers/promises';
import { loadSettings, type Environment } from '../../shared/settings/load.js';
import { addressOf } from '../readiness.js';
import { UserError } from '../user-messages.js';
import { createPost, type Post, type Target } from './post.js';
import { relay, type Streams } from './relay.js';

export interface McpRequest {
  readonly url?: string;
  readonly token?: string;
}

/**
 * Speaks MCP over stdin and stdout for a host on this machine, until the host closes stdin. All is answered by the running
 * service: this process only carries messages.
 * @throws UserError where no service answers, or it takes no such token
 */
export async function serveMcp(request: McpRequest, env: Environment, streams: Streams): Promise<void> {
  const target = targetOf(request, env);
  const post = createPost(target);
  await requireService(post, target);
  await relay(post, streams);
}

function targetOf({ url, token: stated }: McpRequest, env: Environment): Target {
  const token = stated ?? env['QUIRE_TOKEN'];
  const address = url ?? addressOf(loadSettings(env).api);
  if (!URL.canParse(address) || !/^https?:$/.test(new URL(address).protocol))
    throw new UserError(`--url ${address}: allowed: an address such as http://127.0.0.1:8000`);
  return { url: address, token: token === undefined || token === '' ? null : token };
}

/** A service that has just been started answers within this time. */
const MAX_WAIT_MILLISECONDS = 20_000;
const PAUSE_MILLISECONDS = 250;

/** @throws UserError */
async function requireService(post: Post, { url, token }: Target): Promise<void> {
  const endsAt = Date.now() + MAX_WAIT_MILLISECONDS;
  for (;;) {
    const { status } = await post({ jsonrpc: '2.0', id: 0, method: 'ping' }).catch((cause: unknown) => {
      throw new UserError(
        `No Quire answers at ${url}. Start it (npm start), or name its address with --url.`,
        { cause },
      );
    });
    if (status === 200) return;
    if (status === 401)
      throw new UserError(
        token === null
          ? `The Quire at ${url} asks for a token: give it with --token or in QUIRE_TOKEN. npx quire token --name NAME makes one.`
          : `The Quire at ${url} does not take this token: it has ended, or was made with another JWT_SECRET_KEY.`,
      );
    if (status !== 503 || Date.now() > endsAt)
      throw new UserError(`There is no Quire that speaks MCP at ${url}: its answer was ${String(status)}.`);
    await sleep(PAUSE_MILLISECONDS);
  }
}
