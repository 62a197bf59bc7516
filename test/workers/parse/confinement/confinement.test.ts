import { once } from 'node:events';
import { chmod, cp, mkdir, open, readdir, readFile, readlink, symlink, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:net';
import { getPriority, setPriority } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { as, createParserWorkers, statusOf, untilReady } from '../../../support/parser-workers.js';
import { until } from '../../../support/until.js';

const isRoot = process.getuid?.() === 0;
const asRoot = isRoot ? test : test.skip;
if (!isRoot) process.stderr.write('confinement as root: skipped, since these tests do not run as root\n');
const NOBODY = 65_534;
const OTHER = 1_234;

let workers: Awaited<ReturnType<typeof createParserWorkers>>;
beforeEach(async () => {
  workers = await createParserWorkers();
});
let server: Server | undefined;
afterEach(async () => {
  server?.close();
  await workers.remove();
});

/** Tries what a parser must not be able to do. */
const attempts = (port: number, secret: string) => `
  import { connect } from 'node:net';
  import { readFile, writeFile } from 'node:fs/promises';
  const reach = () => new Promise((resolve) => {
    const socket = connect(${String(port)}, '127.0.0.1', () => resolve('reached'));
    socket.on('error', (error) => resolve(error.code));
  });
  const fate = (promise) => promise.then(() => 'done', (error) => error.code);
  process.stdout.write(JSON.stringify({
    network: await reach(),
    secret: await fate(readFile(${JSON.stringify(secret)})),
    environment: Object.keys(process.env).sort(),
    own: await fate(writeFile('note', 'x')),
    isWorkingInTemporary: process.cwd() === process.env.TMPDIR,
    beside: await fate(writeFile('../note', 'x')),
  }));`;

async function listenOnLoopback(): Promise<number> {
  server = createServer((socket) => socket.end('hello')).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  return typeof address === 'object' && address ? address.port : 0;
}

/** All of them the same for every worker, or the parser's own folder. */
const ENVIRONMENT = [
  'LANG',
  'MALLOC_ARENA_MAX',
  'MIMALLOC_ARENA_RESERVE',
  'PWD',
  'TMPDIR',
  'UV_THREADPOOL_SIZE',
];

describe('parser processes of a worker that is root', () => {
  asRoot('are nicer than what answers requests', async () => {
    for (const id of await untilReady(workers.start({}))) await until(() => getPriority(id) === 10);
  });

  asRoot('start where the worker itself is nicer than that', async () => {
    const own = getPriority();
    setPriority(15);
    try {
      for (const id of await untilReady(workers.start({}))) expect(getPriority(id)).toBe(15);
    } finally {
      setPriority(own);
    }
  });

  asRoot('are nobody, without groups, privileges, environment, network or open files', async () => {
    const leak = await open(join(workers.folder, 'leak'), 'w');
    const worker = workers.start({ inherited: leak.fd });
    const parsers = await untilReady(worker);
    await leak.close();
    expect(parsers).toHaveLength(2);
    for (const id of parsers) {
      const status = await statusOf(id);
      expect(status['Uid']).toBe(Array(4).fill(NOBODY).join('\t'));
      expect(status['Gid']).toBe(Array(4).fill(NOBODY).join('\t'));
      expect(status['Groups']).toBe('');
      expect(status).toMatchObject({ NoNewPrivs: '1', CapPrm: '0'.repeat(16), CapInh: '0'.repeat(16) });
      const environment = (await readFile(`/proc/${String(id)}/environ`, 'utf8')).split('\0').filter(Boolean);
      const names = environment.map((entry) => entry.split('=')[0] ?? '').sort();
      // The two of the channel to the worker are Node.js's own, which it takes away.
      expect(names.filter((name) => !name.startsWith('NODE_CHANNEL_'))).toEqual(ENVIRONMENT);
      expect(await readlink(`/proc/${String(id)}/ns/net`)).not.toBe(await readlink('/proc/self/ns/net'));
      const descriptors = await readdir(`/proc/${String(id)}/fd`);
      const targets = await Promise.all(descriptors.map((fd) => readlink(`/proc/${String(id)}/fd/${fd}`)));
      const files = targets.filter((target) => target.startsWith('/') && target !== '/dev/null');
      expect(files).toEqual([]);
      // Tasks, messages and standard error.
      expect(targets.filter((target) => target.startsWith('socket:'))).toHaveLength(3);
    }
    expect(worker.lines()[0]).toMatchObject({
      level: 'info',
      message: 'parser processes are confined',
      user: NOBODY,
      network: false,
    });
  });

  asRoot('reach no port, no file of root, and write in their own folder only', async () => {
    const port = await listenOnLoopback();
    const secret = join(workers.folder, 'secret');
    await writeFile(secret, 'x', { mode: 0o600 });
    const { inside } = await workers.runInside(attempts(port, secret));
    expect(inside).toEqual({
      network: 'ENETUNREACH',
      secret: 'EACCES',
      environment: ENVIRONMENT,
      own: 'done',
      isWorkingInTemporary: true,
      beside: 'EACCES',
    });
  });

  asRoot('read documents where nobody can reach the code', async () => {
    const code = join(workers.folder, 'closed', 'code');
    await mkdir(code, { recursive: true });
    await cp('dist', join(code, 'dist'), { recursive: true });
    await symlink(join(process.cwd(), 'node_modules'), join(code, 'node_modules'));
    await writeFile(join(code, 'package.json'), '{"type":"module"}');
    await chmod(join(workers.folder, 'closed'), 0o700);
    const document = join(workers.folder, 'page.html');
    await writeFile(document, '<p>Words of a page.</p>', { mode: 0o600 });
    const worker = workers.start({ code, document, format: 'html' });
    await until(() => worker.lines().some(({ chunks }) => chunks !== undefined));
    expect(worker.lines().find(({ chunks }) => chunks)?.chunks).toEqual(['Words of a page.']);
    expect(worker.lines()[0]).toMatchObject({ level: 'info', user: NOBODY, network: false });
  });

  asRoot('are root, with a warning, where nobody may read the code, yet have no network', async () => {
    const code = join(workers.folder, 'code');
    await cp('dist', join(code, 'dist'), { recursive: true });
    await symlink(join(process.cwd(), 'node_modules'), join(code, 'node_modules'));
    await writeFile(join(code, 'package.json'), '{"type":"module"}');
    await chmod(join(code, 'dist/readers/formats/pdf/pdf.js'), 0o600);
    const worker = workers.start({ code });
    const [parser = 0] = await untilReady(worker);
    expect((await statusOf(parser))['Uid']).toBe('0\t0\t0\t0');
    expect(worker.lines()[0]).toMatchObject({
      level: 'warn',
      message: 'parser processes run as root',
      user: 'own',
      network: false,
      troubles: [expect.stringContaining('pdf.js'), expect.anything()],
    });
  });

  asRoot('are nobody, with a warning, where the kernel gives them no network of their own', async () => {
    const port = await listenOnLoopback();
    const wrapper = ['setpriv', '--bounding-set=-sys_admin', '--inh-caps=-sys_admin', '--'];
    const { inside, report } = await workers.runInside(attempts(port, '/etc/shadow'), { wrapper });
    expect(inside).toMatchObject({ network: 'reached', secret: 'EACCES', environment: ENVIRONMENT });
    expect(report).toMatchObject({
      level: 'warn',
      message: 'parser processes reach the network',
      user: NOBODY,
      network: true,
    });
  });
});

describe('parser processes of a worker that is not root', () => {
  test('reach no port, and gain no privileges', async () => {
    const port = await listenOnLoopback();
    const secret = join(workers.folder, 'secret');
    await writeFile(secret, 'x', { mode: isRoot ? 0o600 : 0o000 });
    const { inside, report } = await workers.runInside(attempts(port, secret), {
      wrapper: isRoot ? as(OTHER) : [],
    });
    // A kernel may forbid user namespaces: the worker says so then.
    const isOpen = report?.['network'] === true;
    expect(inside).toMatchObject({
      network: isOpen ? 'reached' : 'ENETUNREACH',
      secret: 'EACCES',
      environment: ENVIRONMENT,
      own: 'done',
    });
    expect(report).toMatchObject({ level: isOpen ? 'warn' : 'info', noNewPrivileges: true });
  });
});
