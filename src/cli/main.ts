#!/usr/bin/env node
import { Command } from 'commander';
import { say, UserError } from './user-messages.js';
import type { AuditRequest } from './audit.js';
import type { GiveRequest } from './documents/give.js';
import type { McpRequest } from './mcp/mcp.js';
import type { TokenRequest } from './token.js';

// Each command is loaded when it is asked for, because the supervisor of `up` keeps its loaded modules.

const program = new Command('quire').description('Document retrieval service').showHelpAfterError();

program
  .command('up')
  .description('run the whole service: Redis (if none is given), API and workers')
  .action(async () => (await import('./up.js')).up(process.env));

program
  .command('token')
  .description('print an access token, made offline from the secret')
  .requiredOption('--name <name>', 'who the token stands for')
  .option('--days <days>', 'how long it is good for, 1 to 3650', '30')
  .option('--permissions <list>', 'some of read,write,admin', 'read,write')
  .option('--type <type>', 'developer or user', 'developer')
  .action(async (request: TokenRequest) => {
    const { makeToken } = await import('./token.js');
    process.stdout.write(`${await makeToken(request, process.env)}\n`);
  });

program
  .command('mcp')
  .description('speak MCP over stdin and stdout, for assistants on this machine; the service must run')
  .option('--url <address>', 'where it runs, such as http://127.0.0.1:8000; by default as the settings say')
  .option('--token <token>', 'an access token, where it is not in QUIRE_TOKEN; none in dev mode')
  .action(async (request: McpRequest) => {
    const { serveMcp } = await import('./mcp/mcp.js');
    await serveMcp(request, process.env, { input: process.stdin, output: process.stdout });
  });

program
  .command('reindex')
  .description(
    'make the data in Redis what the settings ask for: model, vectors, index; searches go on meanwhile',
  )
  .action(async () => (await import('./reindex.js')).reindex(process.env));

program
  .command('backup')
  .description('copy all data, as it is at one moment, while the service goes on')
  .argument('<place>', 'a folder, or s3://bucket/prefix with the credentials and endpoint of the settings')
  .action(async (place: string) => {
    const { backup } = await import('./backup/backup.js');
    process.stdout.write(`${await backup(place, process.env)}\n`);
  });

program
  .command('restore')
  .description(
    'put a backup into a Redis and an object storage that hold no documents; the service must not run',
  )
  .argument('<place>', 'where the backup is')
  .option('--check', 'only compare every part of it with its hash')
  .action(async (place: string, options: { check?: true }) => {
    const { restore } = await import('./backup/restore.js');
    const signal = stopSignal('The restore was interrupted. Run it again.');
    process.stdout.write(`${await restore(place, { ...options, signal }, process.env)}\n`);
  });

program
  .command('audit')
  .description('print the audit log as lines of JSON in the order of time: who read, changed and shared what')
  .option('--since <time>', 'from this day or time on, in UTC: 2026-01-31 or 2026-01-31T12:00:00Z')
  .option('--until <time>', 'before this day or time')
  .option('--caller <id>', 'of this user, or about them')
  .option('--document <id>', 'that name this document')
  .option('--action <name>', 'of this action, or of a kind of them, such as document.download or cache')
  .action(async (request: AuditRequest) => {
    const { printAudit } = await import('./audit.js');
    await printAudit(request, process.env, process.stdout);
  });

program
  .command('settings')
  .description('print all settings with their defaults, as a Markdown table')
  .option('--toml', 'as the text of quire.toml')
  .action(async ({ toml }: { toml?: true }) => {
    const { settingsFile, settingsTable } = await import('./settings.js');
    process.stdout.write(toml ? settingsFile() : `${settingsTable()}\n`);
  });

program
  .command('documents')
  .description('documents of all users')
  .command('give')
  .description('give all documents of one user to another, while the service goes on')
  .requiredOption('--from <user>', 'who owns them, such as dev_user')
  .requiredOption('--to <user>', 'who takes their place as owner, and in the access lists')
  .action(async (request: GiveRequest) => {
    const { give } = await import('./documents/give.js');
    const signal = stopSignal('Stopped. The same command goes on from here.');
    const { isWhole, text } = await give(request, process.env, signal);
    process.stdout.write(`${text}\n`);
    if (!isWhole) process.exitCode = 1;
  });

const models = program
  .command('models')
  .description('model files on this machine, for embedder = "local" and others');

models
  .command('pull')
  .description('bring a model file (GGUF) into the models folder; the same command goes on after a stop')
  .argument(
    '[source]',
    'hf:user/repo:file.gguf, an https address, or a path; without it, a small embedding model for models.language',
  )
  .option('--sha256 <hex>', 'what the file must have, where the source does not tell it')
  .option('--as <name>', 'another name for the file')
  .action(async (source: string | undefined, options: { sha256?: string; as?: string }) => {
    const { pull } = await import('./models/pull.js');
    const signal = stopSignal();
    const told = await pull({ source, ...options }, { env: process.env, signal, output: process.stderr });
    process.stdout.write(`${told}\n`);
  });

models
  .command('list')
  .description('list the models folder: kind, size, dimensions, window, fingerprint, and what uses each')
  .action(async () => {
    const { list } = await import('./models/list.js');
    process.stdout.write(`${await list(process.env)}\n`);
  });

models
  .command('remove')
  .description('remove a model file, and what a pull of it has left')
  .argument('<name>', 'the file name, as the list shows it')
  .option('--force', 'also where a setting names it')
  .action(async (name: string, options: { force?: true }) => {
    const { remove } = await import('./models/remove.js');
    process.stdout.write(`${await remove(name, options, process.env)}\n`);
  });

models
  .command('test')
  .description('try models: how fast they are, and whether what they make has a sense')
  .argument(
    '[name]',
    'the file name, as the list shows it; without it, the embedder, completer and reranker of the settings, also those of other hosts',
  )
  .action(async (name: string | undefined) => {
    const { isSane, text } = await tryModels(name);
    process.stdout.write(`${text}\n`);
    if (!isSane) process.exitCode = 1;
  });

/** Aborts at the first signal to end, with a sentence for the user where one is given. The second one ends the process. */
function stopSignal(sentence?: string): AbortSignal {
  const stop = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM'] as const)
    // A listener that is gone after the first signal would let a library of the engine end the process at once.
    process.on(signal, () => {
      if (stop.signal.aborted) process.exit(130);
      stop.abort(sentence === undefined ? undefined : new UserError(sentence));
    });
  return stop.signal;
}

async function tryModels(name: string | undefined) {
  if (name !== undefined) return (await import('./models/test.js')).test(name, process.env);
  return (await import('./models/test-configured.js')).testConfigured(process.env);
}

try {
  await program.parseAsync();
} catch (error) {
  const { sentenceOf } = await import('./known-errors.js');
  const sentence = sentenceOf(error);
  if (sentence === null) throw error;
  say(sentence);
  process.exitCode = 1;
}
