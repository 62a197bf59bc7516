import type { DocumentRecord } from '../../../src/shared/document.js';
import { createRecords } from '../../../src/shared/documents/records.js';
import type { Redis } from '../../../src/shared/redis/client.js';
import { keys } from '../../../src/shared/redis/keys.js';
import { keysUnder } from '../../support/keys-under.js';
import type { Arena } from '../arena.js';
import { modelDocument } from '../world.js';

export async function readAllRecords(redis: Redis): Promise<DocumentRecord[]> {
  const found = await keysUnder(redis, keys.documentPrefix);
  const ids = found.map((key) => key.slice(keys.documentPrefix.length));
  const records = await createRecords(redis).readMany(ids);
  return records.filter((record) => record !== null);
}

/** Documents whose ingest was never answered: each is of one such ingest, and becomes one like the others. */
export function adoptLost({ world, history, ledger }: Arena, records: readonly DocumentRecord[]): void {
  for (const record of records) {
    if (world.documents.has(record.id)) continue;
    const digest = (record.published ?? record.pending)?.sha256;
    const at = world.lost.findIndex(
      ({ owner, content }) => owner === record.ownerId && content.sha256 === digest,
    );
    const [lost] = at < 0 ? [] : world.lost.splice(at, 1);
    if (!lost) {
      history.violate(
        'there is no document that nobody asked for',
        JSON.stringify(record).slice(0, 400),
        record.id,
      );
      continue;
    }
    history.note(`found: the document of ${lost.content.marker}`, record.id);
    world.adopt(modelDocument(lost, { id: record.id, start: 0, end: history.tick() }));
    ledger.ingest(record.id).min += 1;
    ledger.ingest(record.id).max += 1;
  }
}
