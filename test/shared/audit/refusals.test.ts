import { describe, expect, test } from '@jest/globals';
import type { AuditEntry, RefusalsEntry, RequestEntry } from '../../../src/shared/audit/entry.js';
import { createRefusals } from '../../../src/shared/audit/refusals.js';
import { until } from '../../support/until.js';

const refused = (fields: Partial<RequestEntry> = {}): RequestEntry => ({
  type: 'request',
  action: 'document.read',
  request: 'a',
  client: '192.0.2.1',
  status: 401,
  complete: true,
  ms: 1,
  ...fields,
});

/** The number of these entries that have a line, and the report about the others. */
function write(entries: Iterable<AuditEntry>) {
  const told: RefusalsEntry[] = [];
  const refusals = createRefusals((entry) => void told.push(entry));
  let lines = 0;
  for (const entry of entries) if (refusals.admit(entry)) lines += 1;
  refusals.tell();
  return { lines, told };
}
const times = (count: number, of: (number: number) => AuditEntry) =>
  Array.from({ length: count }, (_, i) => of(i));

describe('refused requests', () => {
  test('have sixty lines of a kind in a minute, and then one with the number of the others', () => {
    const { lines, told } = write([
      ...times(100, () => refused()),
      ...times(5, () => refused({ status: 404 })),
      ...times(10, () => refused({ client: '192.0.2.2' })),
      ...times(70, () => refused({ action: 'admin.login' })),
    ]);
    expect(lines).toBe(60 + 10 + 60);
    const kind = { type: 'refusals', client: '192.0.2.1', caller: undefined };
    expect(told).toEqual([
      { ...kind, action: 'document.read', count: 45, statuses: { 401: 40, 404: 5 } },
      { ...kind, action: 'admin.login', count: 10, statuses: { 401: 10 } },
    ]);
  });

  test.each([403, 404, 429])('of a known caller are bounded, too, with status %i', (status) => {
    const { lines, told } = write(times(61, () => refused({ caller: 'alice', status })));
    expect(lines).toBe(60);
    expect(told).toEqual([expect.objectContaining({ caller: 'alice', count: 1, statuses: { [status]: 1 } })]);
  });

  test.each<[string, Partial<RequestEntry>]>([
    ['of a known caller that fail otherwise', { caller: 'alice', status: 400 }],
    ['that succeed without a caller, as with a signed address', { status: 200 }],
  ])('are not requests %s', (_, fields) => {
    expect(write(times(200, () => refused(fields)))).toEqual({ lines: 200, told: [] });
  });

  test('without a caller count with whatever error, since they cost nobody anything', () => {
    expect(write(times(100, (i) => refused({ status: [400, 499, 503][i % 3] ?? 0 }))).lines).toBe(60);
  });

  test('of very many clients have bounded lines, and none of them has those of a caller left out', () => {
    const { lines, told } = write([
      ...times(100_000, (i) => refused({ client: `2001:db8:0:${i.toString(16)}::/64` })),
      refused({ caller: 'alice' }),
    ]);
    expect(lines).toBe(1_000 + 60 + 1);
    expect(told).toEqual([
      {
        type: 'refusals',
        action: 'document.read',
        client: 'others',
        caller: undefined,
        count: 98_940,
        statuses: { 401: 98_940 },
      },
    ]);
    const all = write(
      times(100_000, (i) => refused({ client: `2001:db8:0:${(i % 500).toString(16)}::/64` })),
    );
    expect(all.lines).toBe(6_000);
    expect(all.told).toHaveLength(500);
  });

  test('have lines again when the minute is over, of which nobody must remind them', async () => {
    const told: RefusalsEntry[] = [];
    const refusals = createRefusals((entry) => void told.push(entry), 20);
    for (let i = 0; i < 61; i += 1) refusals.admit(refused());
    await until(() => Promise.resolve(told.length === 1));
    expect(refusals.admit(refused())).toBe(true);
    refusals.tell();
    expect(told).toHaveLength(1);
  });
});
