import { z } from 'zod';
import type { DocumentRecord } from '../../../src/shared/document.js';
import { ownedWith, type Owned } from '../../../src/shared/documents/counts.js';
import { QUOTAS } from '../../../src/shared/errors.js';
import { ATTACKERS } from '../attackers/attackers.js';
import type { Arena } from '../arena.js';
import { askCalmly } from '../calm.js';
import { POSTMASTER } from '../mails/post-office.js';

const told = z.record(z.string(), z.object({ used: z.number() }));

/** Checks that the amounts that callers own, which quotas bound, are the sums of their records. */
export async function checkOwned(arena: Arena, records: readonly DocumentRecord[]): Promise<void> {
  for (const caller of [...arena.callers, POSTMASTER, ...ATTACKERS]) {
    const { json } = await askCalmly(arena, caller, { method: 'GET', path: '/usage/quota', api: 0 });
    const used = told.parse(json);
    const own = records.filter(({ ownerId }) => ownerId === caller).map(ownedWith);
    for (const quota of QUOTAS) {
      const sum = own.reduce((before: number, each: Owned) => before + each[quota], 0);
      if (used[quota]?.used !== sum)
        arena.history.violate(
          'what a caller owns is counted exactly',
          `${caller}: ${String(used[quota]?.used)} ${quota}, not ${String(sum)}`,
        );
    }
  }
}
