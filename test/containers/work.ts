import { createCustomer, type Customer } from './customer.js';
import { podman } from './podman.js';
import type { Stack } from './stack.js';

/** Long enough for some hundred requests in one round on a busy machine. */
const MIN_REQUESTS = 200;

export function say(line: string): void {
  process.stdout.write(`${line}\n`);
}

async function rollUnderLoad(stack: Stack, customer: Customer): Promise<void> {
  const load = customer.startLoad();
  for (const service of stack.services()) {
    // One Redis and one proxy: they cannot be restarted without a pause.
    if (service === 'redis' || service === 'proxy') continue;
    for (const name of stack.namesOf(service)) await stack.restart(service, name);
  }
  const { asked, failures } = await load.stop();
  if (failures.length > 0)
    throw new Error(
      `${String(failures.length)} of ${String(asked)} requests failed: ${[...new Set(failures)].slice(0, 5).join('; ')}`,
    );
  if (asked < MIN_REQUESTS) throw new Error(`${String(asked)} requests are no load`);
  await customer.checkAll();
  say(`restarted one by one: ${String(asked)} requests meanwhile, none failed, and everything is found`);
}

async function killEach(stack: Stack, customer: Customer): Promise<void> {
  for (const service of stack.services()) {
    const [name = ''] = stack.namesOf(service);
    await customer.ingest(`before the kill of ${service}`, 'respond-async');
    await stack.kill(service, name);
    for (const each of stack.services()) await stack.untilHealthy(each);
    await customer.checkAll();
    say(`killed ${name}: everything is found`);
  }
}

/** Uses a service as its operators and its callers do. @throws at the first thing that is not as it should be */
export async function work(
  stack: Stack,
  { origin, engine }: { readonly origin: string; readonly engine: string },
): Promise<void> {
  await stack.up();
  await stack.checkConfinement();
  say(
    `docker-compose.yml is up and healthy, with ${engine}; no root, no capabilities, read-only root file systems`,
  );
  const log = await podman('logs', 'quire-try-api-1');
  if (!log.includes(`"index":"${engine}"`)) throw new Error(`the API does not serve from ${engine}`);
  const token = await podman(
    'exec',
    'quire-try-api-1',
    'node',
    'dist/cli/main.js',
    'token',
    '--name',
    'smoke',
  );
  const customer = createCustomer(origin, token);
  await customer.ingest('A quire is a gathering of folded leaves.');
  await customer.ingestFile('<p>Paper is folded, gathered and sewn.</p>');
  await customer.checkAll();
  say('a text and a file are ingested and found');
  await stack.scale('api', 3);
  await stack.scale('worker-ingestion', 3);
  await customer.ingest('after scaling out');
  await stack.scale('worker-ingestion', 2);
  await customer.checkAll();
  say('API and workers are scaled out, workers in again');
  await killEach(stack, customer);
  await stack.stopAll();
  await stack.startAll();
  await customer.checkAll();
  say('stopped and started again: everything is found');
  const parsers = await podman('logs', 'quire-try-worker-ingestion-1');
  say(parsers.split('\n').find((line) => line.includes('parser processes')) ?? '');
  await rollUnderLoad(stack, customer);
}
