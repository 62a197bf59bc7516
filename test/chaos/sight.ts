import { markersIn } from './contents.js';
import type { History } from './history.js';
import { exists, may, visibleContents, type ModelDocument, type World } from './world.js';

export interface Sight {
  readonly caller: string;
  readonly label: string;
  readonly text: string;
  /** Ticks between which the caller looked. */
  readonly start: number;
  readonly end: number;
}

/**
 * Checks a text that a caller saw. Each text has a word of its own, by which we know who may read it and whether it is
 * current.
 */
export function checkSight({ world, history }: { world: World; history: History }, sight: Sight): void {
  for (const marker of markersIn(sight.text)) {
    const known = world.markers.get(marker);
    if (!known) {
      history.violate('nobody sees what nobody wrote', `${sight.label}: ${marker}`);
      continue;
    }
    const { of, content } = known;
    if (!('contents' in of)) {
      // Not answered yet, or never: its lists are as they were asked for.
      const { owner, access } = of;
      const readers = [owner, ...access.readers, ...access.writers];
      if (!readers.includes(sight.caller))
        history.violate('nobody sees anything foreign', `${sight.caller} ${sight.label}: ${marker}`, marker);
      continue;
    }
    const broken = brokenPromise(of, sight);
    if (broken !== null) history.violate(broken, `${sight.caller} ${sight.label}: ${marker}`, of.id);
    else if (!visibleContents(of, sight).includes(content))
      history.violate(
        'what was replaced is not seen again',
        `${sight.caller} ${sight.label}: ${marker}`,
        of.id,
      );
  }
}

function brokenPromise(document: ModelDocument, { caller, ...span }: Sight): string | null {
  if (exists(document, span) === 'never') return 'what was deleted is not seen again';
  if (may('read', caller, { document, ...span }) === 'never')
    return document.access.writes.length > 1
      ? 'a revoked right is gone with its answer'
      : 'nobody sees anything foreign';
  return null;
}
