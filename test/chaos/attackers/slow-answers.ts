import { SLOWLY } from '../../support/slow-completer.js';
import { ask, type Actor } from '../arena.js';
import { plant, secretWord, type Loot } from './documents.js';
import { pause, untilOver } from './pause.js';

const AT_ONCE = 24;

/** Keeps as many slow answers under way as it gets, and goes away from some of them. */
export async function askForSlowAnswers(actor: Actor, signal: AbortSignal): Promise<void> {
  const loot: Loot = [];
  const content = `In ${secretWord(actor)} the snail answers ${SLOWLY}.`;
  while (
    !signal.aborted &&
    !(await plant(actor, loot, { path: '/ingest/text', json: { content }, label: 'plant_text' }))
  )
    await pause(actor, signal, [200, 500]);
  await Promise.all(
    Array.from({ length: AT_ONCE }, () =>
      untilOver(signal, async () => {
        const json = { query: `How does the snail answer ${SLOWLY}?`, stream: actor.random.chance(0.5) };
        const leaves = actor.random.chance(0.3) ? { giveUpAfter: actor.random.whole(100, 5_000) } : {};
        await ask(actor, {
          method: 'POST',
          path: '/query',
          json,
          label: 'slow query',
          about: null,
          ...leaves,
        });
        await pause(actor, signal, [50, 500]);
      }),
    ),
  );
}
