// A worker's parser pool in a process of its own, for tests that start it as another user, or kill it. Arguments: the
// compiled code, a document to read (or none), its format, and a script to run inside instead of a parser (or none).
import { join } from 'node:path';
import { text } from 'node:stream/consumers';

const [code, path, format, script] = process.argv.slice(2);
const load = (name) => import(join(code, 'dist/workers/parse', `${name}.js`));
const say = (fields) => process.stdout.write(`${JSON.stringify(fields)}\n`);
const logger = {
  info: (fields, message) => say({ level: 'info', message, ...fields }),
  warn: (fields, message) => say({ level: 'warn', message, ...fields }),
};
const user = { uid: 65_534, gid: 65_534 };
const limits = {
  size: 2,
  idleMilliseconds: 60_000,
  memoryMegabytes: 1_536,
  timeoutMilliseconds: 60_000,
  maxChunks: 20_000,
};

if (script) {
  const workspace = await (await load('confinement/workspace')).openWorkspace({ logger });
  const launch = await (await load('confinement/choose-launch')).chooseLaunch({ user, workspace, logger });
  const folder = workspace.createFolder(launch.user);
  const child = (await load('confinement/start-confined')).startConfined(launch, {
    script,
    folder: folder.path,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const [output, errors] = await Promise.all([text(child.stdout), text(child.stderr)]);
  say({ inside: output === '' ? errors : JSON.parse(output) });
  await folder.remove();
  await workspace.close();
} else {
  const pool = await (
    await load('pool')
  ).startParserPool({ ...limits, user, chunk: { size: 512, overlap: 64 }, logger });
  // Two at once, so that both parsers are there.
  const warm = ['warm', 'warm, too'].map((text) => pool.parse({ text, format: 'text' }));
  const [{ chunks }] = await Promise.all(warm);
  say({ ready: chunks.length });
  if (path) say({ chunks: (await pool.parse({ path, format })).chunks.map((chunk) => chunk.text) });
  process.on('SIGTERM', () => void pool.close().then(() => process.exit(0)));
}
