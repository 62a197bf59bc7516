// `npm run play` opens a prompt with the API's context, on the data of `npm start`, whether the service runs or not.
import { start } from 'node:repl';
import { prepare } from './prepare.mjs';

prepare();
const { loadSettings } = await import('../dist/shared/settings/load.js');
const { createLogger } = await import('../dist/shared/observability/logger.js');
const { startOwnRedis } = await import('../dist/cli/redis/own-redis.js');
const { findOwnRedis, untilRedisAnswers } = await import('../dist/cli/redis/reach-redis.js');
const { findOrInstallRedisServer } = await import('../dist/cli/redis/find-redis.js');
const { lockDataDirectory } = await import('../dist/cli/locks.js');
const { createApiContext } = await import('../dist/api/context.js');

const closing = new AbortController();
const first = loadSettings(process.env, []);
const { url, own } = await reachRedis();
const settings = { ...first, redis: { ...first.redis, url } };
const context = await createApiContext({
  settings,
  logger: createLogger({ level: 'warn', process: 'play' }),
  signal: closing.signal,
  onRedisAway: () => process.stderr.write('waiting for Redis\n'),
  onDataChange: () => process.stderr.write('the data was reindexed: start again\n'),
});
while ((await context.index.state()) !== 'ready') await new Promise((resolve) => setTimeout(resolve, 20));

process.stdout.write(`On ${url.replace(/\/\/[^/]*@/, '//')}: ${Object.keys(context).sort().join(', ')}
For example: await search({ principal: { id: 'dev_user' }, query: 'words', filter: null, k: 4, minScore: 0, per: 'chunk' })
`);
const repl = start({ prompt: 'quire> ', useGlobal: true });
Object.assign(repl.context, context, { context });
repl.on('exit', () => void end());

async function reachRedis() {
  if (first.redis.url !== '') return { url: first.redis.url, own: null };
  const running = await findOwnRedis(first.dataDirectory);
  if (running !== null) return { url: running, own: null };
  await lockDataDirectory(first.dataDirectory);
  const { url: started, child } = await startOwnRedis({
    server: findOrInstallRedisServer(process.env),
    dataDirectory: first.dataDirectory,
    onHopeless: (reason) => {
      process.stderr.write(`${reason}\n`);
      process.exit(1);
    },
  });
  await untilRedisAnswers(started, 3_600_000, closing.signal);
  return { url: started, own: child };
}

async function end() {
  closing.abort();
  await context.close();
  await own?.stop(3_000);
  process.exit(0);
}
