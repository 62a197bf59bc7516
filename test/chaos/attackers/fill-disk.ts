import { unreadableFile } from '../../support/small-disk.js';
import type { Actor } from '../arena.js';
import { dump, plantFile, type Loot } from './documents.js';
import { pause, untilOver } from './pause.js';

/** So often it asks a full disk again before it makes room for another attack. */
const REFUSALS = 12;

/** Uploads large files that no reader reads, until there is no disk left for them; deletes half of them, and again. */
export async function fillDisk(actor: Actor, signal: AbortSignal): Promise<void> {
  const loot: Loot = [];
  let refusals = 0;
  await untilOver(signal, async () => {
    const bytes = unreadableFile(actor.random.whole(2, 6));
    if (!(await plantFile(actor, loot, { bytes, extension: 'docx' }))) refusals += 1;
    if (refusals >= REFUSALS) {
      refusals = 0;
      await dump(actor, loot, Math.ceil(loot.length / 2));
    }
    await pause(actor, signal, [100, 500]);
  });
}
