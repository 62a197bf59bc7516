import type { Actor, Arena } from '../arena.js';
import type { Random } from '../random.js';
import { fillDisk } from './fill-disk.js';
import { fillRedis } from './fill-redis.js';
import { holdConnections } from './hold-connections.js';
import { bringHostileFiles } from './hostile-files.js';
import { askForSlowAnswers } from './slow-answers.js';
import { askForSlowPages } from './slow-pages.js';

/** By the caller who makes it; nobody gives them anything to read. */
const ATTACKS: Readonly<Record<string, (actor: Actor, signal: AbortSignal) => Promise<void>>> = {
  dirk: fillDisk,
  rex: fillRedis,
  paige: askForSlowPages,
  tess: askForSlowAnswers,
  hogan: holdConnections,
  vex: bringHostileFiles,
};

export const ATTACKERS = Object.keys(ATTACKS);

/** Runs all attacks beside each other, until they are told to stop. */
export async function attack(arena: Arena, random: Random, signal: AbortSignal): Promise<void> {
  await Promise.all(
    Object.entries(ATTACKS).map(([name, run]) =>
      run({ arena, name, others: [], random: random.branch(name) }, signal),
    ),
  );
}
