import { drawPdf, line } from '../../support/drawn-pdf.js';
import type { Client } from '../../support/client.js';
import { endlessPdf } from '../../support/pdfs.js';
import { observed, oneOf, statusOf, type Attack, type Target } from '../attack.js';

/** The longest wait of somebody else for a plain file, beside files that take all the time there is. */
const WITHIN_SECONDS = { one: 14, many: 30 };

const plainPdf = (word: string) =>
  drawPdf({ pages: [{ content: line(60, 700, `A ${word} of this kind.`) }] });

/** Brings files that never end, and then one that somebody else waits for. */
async function besides(target: Target, { name, attackers, each }: Flood, within: number) {
  const { as, slowness } = target;
  const bring = (client: Client, n: number) =>
    client.ingestFile(Buffer.from(endlessPdf()), `endless ${String(n)}.pdf`, { prefer: 'respond-async' });
  const sent: Promise<number | string>[] = [];
  for (let n = 0; n < attackers; n += 1)
    for (let file = 0; file < each; file += 1) sent.push(statusOf(bring(as(`${name} ${String(n)}`), file)));
  const { answer, wrong } = observed(await Promise.all(sent), oneOf(202));
  const other = as(`beside ${name}`);
  const start = performance.now();
  const { status } = await other.ingestFile(plainPdf(name), 'plain.pdf', { prefer: 'wait=100' });
  const seconds = (performance.now() - start) / 1_000;
  const late = seconds > within * slowness ? `another's file took ${seconds.toFixed(1)} s` : null;
  const refused = status === 200 ? null : `another's file: ${String(status)}`;
  return { answer: `${answer}; another's file ${seconds.toFixed(1)} s`, wrong: refused ?? late ?? wrong };
}

interface Flood {
  readonly name: string;
  readonly attackers: number;
  /** Files of each. */
  readonly each: number;
}

export const parserAttacks: readonly Attack[] = [
  {
    name: 'a caller whose files hold all parsers for as long as they may',
    patienceSeconds: 180,
    run: (target) => besides(target, { name: 'holding', attackers: 1, each: 16 }, WITHIN_SECONDS.one),
  },
  {
    name: 'seventeen callers with a file each that holds a parser for as long as it may',
    patienceSeconds: 240,
    run: (target) => besides(target, { name: 'crowding', attackers: 17, each: 1 }, WITHIN_SECONDS.many),
  },
];
