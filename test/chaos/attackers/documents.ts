import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import { ask, type Actor, type Arena, type Ask } from '../arena.js';
import { askCalmly, forEachOf } from '../calm.js';
import { listAll } from '../oracle/lists.js';

/** The ids that an attacker has, as far as requests were answered. */
export type Loot = string[];

const created = z.object({ external_id: z.string() });

/** Makes a word that only the attacker may see. */
export function secretWord({ arena, name }: Actor): string {
  const marker = arena.world.nextMarker();
  const content = {
    kind: 'txt',
    marker,
    bytes: new Uint8Array(),
    sha256: '',
    filename: null,
    isReadable: true,
  } as const;
  const access = { readers: [], writers: [] };
  arena.world.introduce(
    { ...content },
    { owner: name, content: { ...content }, key: '', access, metadata: 0 },
  );
  return marker;
}

/** Ingests a document without waiting for it. @returns true if it was accepted */
export async function plant(
  actor: Actor,
  loot: Loot,
  sent: Pick<Ask, 'path' | 'json' | 'form' | 'label'>,
): Promise<boolean> {
  const headers = { prefer: 'respond-async' };
  const { outcome } = await ask(actor, { method: 'POST', about: null, headers, ...sent });
  const parsed = outcome.type === 'answer' ? created.safeParse(outcome.json) : null;
  if (!parsed?.success) return false;
  loot.push(parsed.data.external_id);
  return true;
}

/** Uploads a file with the word in its name. */
export function plantFile(
  actor: Actor,
  loot: Loot,
  file: { bytes: Uint8Array; extension: string },
): Promise<boolean> {
  const form = new FormData();
  const { bytes, extension } = file;
  form.set('file', new Blob([new Uint8Array(bytes)]), `${secretWord(actor)}.${extension}`);
  return plant(actor, loot, { path: '/ingest/file', form, label: `plant_file ${extension}` });
}

/** Deletes some of the attacker's documents, the oldest first; documents whose deletion was not answered stay in the list. */
export async function dump(actor: Actor, loot: Loot, count: number): Promise<void> {
  for (const id of loot.slice(0, count)) {
    const path = `/documents/${id}`;
    const { outcome } = await ask(actor, { method: 'DELETE', path, label: 'delete', about: null });
    if (outcome.type === 'answer' && outcome.status < 500) loot.splice(loot.indexOf(id), 1);
  }
}

/** Deletes everything of an attacker when all is quiet, until nothing is listed any more. */
export async function confiscate(arena: Arena, attacker: string): Promise<void> {
  for (let rounds = 0; rounds < 5; rounds += 1) {
    const ids = await listAll(arena, attacker);
    if (ids.length === 0) return;
    await forEachOf(ids, async (id, at) => {
      const { status, text } = await askCalmly(arena, attacker, {
        method: 'DELETE',
        path: `/documents/${id}`,
        api: at,
      });
      if (status !== 200 && status !== 404)
        arena.history.violate(
          'deleting always works',
          `${attacker}: ${String(status)} ${text.slice(0, 200)}`,
          id,
        );
    });
    await sleep(500);
  }
  arena.history.violate('deleting always works', `documents of ${attacker} are still listed`);
}
