import { fileURLToPath } from 'node:url';
import { chooseLaunch } from '../../dist/workers/parse/confinement/choose-launch.js';
import { openWorkspace } from '../../dist/workers/parse/confinement/workspace.js';
import { createParserPool } from '../../dist/workers/parse/pool.js';

// Has a parser that was taken over say the first argument, and prints the end of the document.
const workspace = await openWorkspace();
const launch = await chooseLaunch({ user: { uid: 65_534, gid: 65_534 }, workspace });
const parser = createParserPool({
  size: 1,
  idleMilliseconds: 1_000,
  memoryMegabytes: 1_536,
  timeoutMilliseconds: 3_000,
  maxChunks: 20_000,
  chunk: { size: 512, overlap: 64 },
  workspace,
  launch,
  script: fileURLToPath(new URL('./raw-parser.mjs', import.meta.url)),
});
const code = await parser.parse({ text: process.argv[2] ?? '', format: 'text' }).then(
  () => 'read',
  (error) => error.code ?? error.name,
);
await parser.close();
await workspace.close();
process.stdout.write(code);
process.exit(0);
