import { z } from 'zod';
import type { Arena } from '../arena.js';
import { askCalmly } from '../calm.js';
import { exists, may } from '../world.js';

const ids = z.array(z.object({ external_id: z.string() }));
const cacheNames = z.array(z.object({ name: z.string() }));

/** Checks that every caller's list holds the documents that they may read, each of them once. */
export async function checkLists(arena: Arena): Promise<void> {
  for (const caller of arena.callers) {
    const listed = await listAll(arena, caller);
    const now = arena.history.tick();
    for (const document of arena.world.documents.values()) {
      const span = { start: now, end: now };
      const states = [exists(document, span), may('read', caller, { document, ...span })];
      const count = listed.filter((id) => id === document.id).length;
      const isRight = states.includes('never')
        ? count === 0
        : states.includes('sometimes')
          ? count <= 1
          : count === 1;
      if (!isRight)
        arena.history.violate(
          'a list has all that its caller may read, once',
          `${caller}: ${String(count)} times; exists ${states.join(', may read ')}`,
          document.id,
        );
    }
    for (const id of listed.filter((each) => arena.world.retired.has(each)))
      arena.history.violate('what was deleted is gone', `listed for ${caller}`, id);
    await checkCaches(arena, caller);
  }
}

export async function listAll(arena: Arena, caller: string): Promise<string[]> {
  const found: string[] = [];
  for (let skip = 0; ; skip += 100) {
    const path = `/documents?limit=100&skip=${String(skip)}`;
    const page = ids.parse((await askCalmly(arena, caller, { method: 'GET', path, api: skip / 100 })).json);
    found.push(...page.map((each) => each.external_id));
    if (page.length < 100) return found;
  }
}

async function checkCaches(arena: Arena, caller: string): Promise<void> {
  const listed = cacheNames.parse(
    (await askCalmly(arena, caller, { method: 'GET', path: '/caches', api: 0 })).json,
  );
  const now = arena.history.tick();
  for (const { owner, name, exists: register } of arena.world.caches.values()) {
    if (owner !== caller) continue;
    const isThere = listed.some((each) => each.name === name);
    const isSettled = register.writes.some(({ outcome }) => outcome === 'done');
    const possible = isSettled ? register.possible(now, now) : [false, ...register.possible(now, now)];
    if (!possible.includes(isThere))
      arena.history.violate(
        isThere ? 'a deleted cache is gone' : 'an acknowledged cache stays',
        `when all is quiet: ${isThere ? 'there' : 'not there'}`,
        `cache ${owner}/${name}`,
      );
  }
}
