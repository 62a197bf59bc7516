import { describe, expect, test } from '@jest/globals';
import { auditChanges } from '../../../src/shared/audit/document-changes.js';
import type { AuditEntry } from '../../../src/shared/audit/entry.js';
import type { DocumentRecord } from '../../../src/shared/document.js';
import { makeDocument } from '../../support/documents.js';

function linesOf(before: DocumentRecord | null, changes: Partial<DocumentRecord>): AuditEntry[] {
  const lines: AuditEntry[] = [];
  const log = { write: (entry: AuditEntry) => void lines.push(entry) } as never;
  auditChanges(log)(before, { ...(before ?? makeDocument()), ...changes });
  return lines;
}
const idsOf = (length: number, start: string, letter: string) =>
  Array.from({ length }, (_, number) => `${start}${String(number)}`.padEnd(256, letter));

describe('the line of a change of lists of access', () => {
  test('names who came into them and who went out', () => {
    const before = makeDocument({ readers: ['owner', 'bob'] });
    expect(linesOf(before, { readers: ['owner', 'carol'] })).toEqual([
      expect.objectContaining({
        action: 'document.shared',
        access: { readers: { added: ['carol'], removed: ['bob'], more: undefined } },
      }),
    ]);
  });

  test.each(['x', 'ä', '\u0000', '\u2028'])(
    'is some 16,384 characters long at most, and counts whom it leaves out, with ids of %j',
    (letter) => {
      const before = makeDocument({ readers: idsOf(1_000, 'r', letter), writers: idsOf(1_000, 'w', letter) });
      const after = {
        readers: idsOf(1_000, 'R', letter),
        writers: idsOf(1_000, 'W', letter),
        admins: ['ada'],
      };
      const [line] = linesOf(before, after);
      expect(JSON.stringify(line).length).toBeLessThan(17_500);
      const access = line?.type === 'change' ? line.access : undefined;
      const named = [access?.readers, access?.writers].flatMap((list) => [
        ...(list?.added ?? []),
        ...(list?.removed ?? []),
      ]);
      expect(named.length + (access?.readers?.more ?? 0) + (access?.writers?.more ?? 0)).toBe(4_000);
      // Nobody hides a new admin behind many readers.
      expect(access?.admins).toEqual({ added: ['ada'], removed: ['owner'], more: undefined });
    },
  );

  test('names a thousand of short ids', () => {
    const added = Array.from({ length: 1_001 }, (_, number) => String(number));
    expect(linesOf(null, { readers: ['owner', ...added] })).toEqual([
      expect.objectContaining({
        access: { readers: { added: added.slice(0, 1_000), removed: undefined, more: 1 } },
      }),
    ]);
  });
});
