import { inspect } from 'node:util';
import { IncompatibleDataError, IngestError, UnavailableError } from '../shared/errors.js';
import { EXIT_WRONG_SETTINGS } from '../shared/exit-codes.js';
import { loadSettings } from '../shared/settings/load.js';
import { SettingsError } from '../shared/settings/rule.js';
import { createReindexContext } from './context.js';
import { createSay } from './report.js';
import { reindex } from './run.js';

const stopping = new AbortController();
for (const signal of ['SIGTERM', 'SIGINT'] as const) {
  process.on(signal, () => {
    stopping.abort();
  });
}

const GOES_ON = 'Run `npx quire reindex` again: it goes on from here.';

async function main(): Promise<void> {
  const settings = loadSettings(process.env, ['redis']);
  const say = createSay((text) => process.stdout.write(text));
  const onLost = () => {
    process.stderr.write(`Redis does not come back. ${GOES_ON}\n`);
    process.exit(1);
  };
  const context = await createReindexContext(settings, { say, onLost });
  await reindex(context, stopping.signal);
  say('Done.');
  await context.close();
}

main().then(
  () => process.exit(0),
  (error: unknown) => {
    if (stopping.signal.aborted) {
      process.stderr.write(`Stopped. ${GOES_ON}\n`);
      process.exit(130);
    }
    const isWrong = error instanceof SettingsError || error instanceof IncompatibleDataError;
    const isKnown = isWrong || error instanceof UnavailableError || error instanceof IngestError;
    process.stderr.write(`${isKnown ? error.message : inspect(error)}\n`);
    process.exit(isWrong ? EXIT_WRONG_SETTINGS : 1);
  },
);
