import { LETTERS, randomWords } from '../../support/random-words.js';
import type { Actor } from '../arena.js';
import { dump, plant, secretWord, type Loot } from './documents.js';
import { pause, untilOver } from './pause.js';

/** Without `q`, so that no word by chance has the form of a marker. */
const letters = LETTERS.replace('q', '');
const REFUSALS = 15;
const WORDS_OF_A_SENTENCE = 40;

/** Puts in texts of different words, and short ones with long lists of readers, until Redis has no room; then as with disks. */
export async function fillRedis(actor: Actor, signal: AbortSignal): Promise<void> {
  const loot: Loot = [];
  let refusals = 0;
  await untilOver(signal, async () => {
    const json = actor.random.chance(0.3) ? manyWords(actor) : manyReaders(actor);
    if (!(await plant(actor, loot, { path: '/ingest/text', json, label: 'plant_text' }))) refusals += 1;
    if (refusals >= REFUSALS) {
      refusals = 0;
      await dump(actor, loot, Math.ceil(loot.length / 2));
    }
    await pause(actor, signal, [100, 400]);
  });
}

function manyWords(actor: Actor) {
  const marker = secretWord(actor);
  const sentence = () =>
    `${marker} ${randomWords(actor.random, { count: WORDS_OF_A_SENTENCE, length: 4, letters })}.`;
  return { content: Array.from({ length: actor.random.whole(50, 1_000) }, sentence).join(' ') };
}

/** No list of readers equals another one, so that each takes its own memory. */
function manyReaders(actor: Actor) {
  const prefix = randomWords(actor.random, { count: 1, length: 200, letters });
  const readers = Array.from({ length: 1_000 }, (_, n) => `${prefix}${String(n)}`);
  return { content: `Of ${secretWord(actor)}.`, access_control: { readers } };
}
