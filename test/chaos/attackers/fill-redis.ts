import type { Actor } from '../arena.js';
import type { Random } from '../random.js';
import { dump, plant, secretWord, type Loot } from './documents.js';
import { pause, untilOver } from './pause.js';

/** Without `q`, so that no word by chance has the form of a marker. */
const LETTERS = 'abcdefghijklmnoprstuvwxyz';
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

const word = (random: Random, length: number) =>
  Array.from({ length }, () => LETTERS.charAt(random.whole(0, LETTERS.length - 1))).join('');

function manyWords(actor: Actor) {
  const marker = secretWord(actor);
  const sentence = () =>
    `${marker} ${Array.from({ length: WORDS_OF_A_SENTENCE }, () => word(actor.random, 4)).join(' ')}.`;
  return { content: Array.from({ length: actor.random.whole(50, 1_000) }, sentence).join(' ') };
}

/** No list of readers equals another one, so that each takes its own memory. */
function manyReaders(actor: Actor) {
  const prefix = word(actor.random, 200);
  const readers = Array.from({ length: 1_000 }, (_, n) => `${prefix}${String(n)}`);
  return { content: `Of ${secretWord(actor)}.`, access_control: { readers } };
}
