import { slowPdf } from '../../support/slow-page.js';
import { ask, type Actor } from '../arena.js';
import { dump, plantFile, type Loot } from './documents.js';
import { pause, untilOver } from './pause.js';

const PAGES = 6;
/** A page takes longer than there is time for. */
const LAYERS = 40;
const AT_ONCE = 3;

/** Asks for pictures of pages that take as long as they may, of one document after the other. */
export async function askForSlowPages(actor: Actor, signal: AbortSignal): Promise<void> {
  const loot: Loot = [];
  await untilOver(signal, async () => {
    const bytes = slowPdf({
      pages: PAGES,
      layers: LAYERS,
      word: `slow${String(actor.random.whole(0, 1e6))}`,
    });
    await plantFile(actor, loot, { bytes, extension: 'pdf' });
    const id = loot.at(-1);
    // It is read before it has pages.
    await pause(actor, signal, [500, 2_000]);
    if (id !== undefined) await askForPages(actor, id, signal);
    if (loot.length > 2) await dump(actor, loot, 1);
    await pause(actor, signal, [5_000, 15_000]);
  });
}

async function askForPages(actor: Actor, id: string, signal: AbortSignal): Promise<void> {
  const pages = Array.from({ length: PAGES }, (_, n) => n + 1);
  const work = async () => {
    for (let page = pages.shift(); page !== undefined && !signal.aborted; page = pages.shift()) {
      const path = `/documents/${id}/pages/${String(page)}.png`;
      await ask(actor, { method: 'GET', path, label: 'slow page', about: null });
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
}
