import { get, IncomingMessage } from 'node:http';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { say } from './user-messages.js';

const pollMs = 150;
const reportEveryMs = 15_000;

/** Returns the address at which this machine reaches an API that listens on `host`. */
export function addressOf({ host, port }: { host: string; port: number }): string {
  const reachable = new Map([
    ['0.0.0.0', '127.0.0.1'],
    ['::', '::1'],
  ]);
  const name = reachable.get(host) ?? host;
  return `http://${name.includes(':') ? `[${name}]` : name}:${String(port)}`;
}

async function askReady(address: string, signal: AbortSignal): Promise<string | null> {
  try {
    const timeout = AbortSignal.any([signal, AbortSignal.timeout(5_000)]);
    // `fetch` would take the supervisor eight megabytes more, which it would keep.
    const request = get(`${address}/health/ready`, { signal: timeout, agent: false });
    const values: readonly unknown[] = await once(request, 'response');
    const [response] = values;
    if (!(response instanceof IncomingMessage)) return 'no answer';
    let body = '';
    for await (const text of response.setEncoding('utf8')) body += String(text);
    return response.statusCode === 200 ? null : body.slice(0, 500);
  } catch (error) {
    signal.throwIfAborted();
    // The API does not listen yet.
    return error instanceof Error ? error.message : 'no answer';
  }
}

/** Resolves when `/health/ready` answers 200. Reports every 15 seconds the parts that are missing. */
export async function untilReady(address: string, signal: AbortSignal): Promise<void> {
  let reportAt = Date.now() + reportEveryMs;
  for (;;) {
    const missing = await askReady(address, signal);
    if (missing === null) return;
    if (Date.now() > reportAt) {
      say(`not ready yet: ${missing}`);
      reportAt = Date.now() + reportEveryMs;
    }
    await sleep(pollMs, undefined, { signal });
  }
}

interface WelcomeOptions {
  readonly devMode: boolean;
  /** True if a model makes the vectors. */
  readonly usesModel: boolean;
}

/** Returns the text that is printed when the service is ready. Exactly one line starts with `ready`. */
export function welcome(address: string, { devMode, usesModel }: WelcomeOptions): string {
  const bearer = devMode ? '' : ` -H "Authorization: Bearer $(npx quire token --name me)"`;
  const post = (path: string, body: object) =>
    `curl -s ${address}${path}${bearer} -H 'Content-Type: application/json' -d '${JSON.stringify(body)}'`;
  return [
    `ready ${address}`,
    `  reference  ${address}/docs`,
    `  queues     ${address}/admin/queues`,
    `  try        ${post('/ingest/text', { content: 'A quire is a gathering of folded leaves.' })}`,
    `             ${post('/retrieve/chunks', { query: 'What is a quire?' })}`,
    ...(devMode
      ? ['  users      everybody is dev_user here; with tokens: README.md, "From dev mode to tokens"']
      : [
          '  tokens     these need JWT_SECRET_KEY in their terminal, with the value that it has here',
          '  dev mode   what dev_user has from it: npx quire documents give --from dev_user --to me',
        ]),
    ...(usesModel
      ? []
      : ['  models     npx quire models pull, then embedder = "local": semantic search without a key']),
    '  stop       Ctrl-C',
  ].join('\n');
}
