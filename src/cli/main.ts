#!/usr/bin/env node
import { Command } from 'commander';
import { SettingsError } from '../shared/settings/settings-error.js';
import { say, UserError } from './user-messages.js';
import type { TokenRequest } from './token.js';

// Each command is loaded when it is asked for, because the supervisor of `up` keeps what it has loaded.

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
  .command('reindex')
  .description(
    'make the data in Redis what the settings ask for: model, vectors, index; searches go on meanwhile',
  )
  .action(async () => (await import('./reindex.js')).reindex(process.env));

program
  .command('settings')
  .description('print all settings with their defaults, as a Markdown table')
  .option('--toml', 'as the text of quire.toml')
  .action(async ({ toml }: { toml?: true }) => {
    const { settingsFile, settingsTable } = await import('./settings.js');
    process.stdout.write(toml ? settingsFile() : `${settingsTable()}\n`);
  });

try {
  await program.parseAsync();
} catch (error) {
  if (!(error instanceof UserError || error instanceof SettingsError)) throw error;
  say(error.message);
  process.exitCode = 1;
}
