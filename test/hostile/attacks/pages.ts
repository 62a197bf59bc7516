import { setTimeout as sleep } from 'node:timers/promises';
import { drawPdf, line } from '../../support/drawn-pdf.js';
import type { Client } from '../../support/client.js';
import { slowPdf } from '../../support/slow-page.js';
import { observed, oneOf, statusOf, type Attack, type Target } from '../attack.js';

const SLOW_PAGES = 24;
/** A page takes far longer than a renderer may. */
const LAYERS = 40;
/** The longest wait of somebody else for a plain page, beside pages that take all the time there is. */
const WITHIN_SECONDS = 9;
const LIGHT_CALLERS = 4;
/** More than they ask for meanwhile. */
const LIGHT_PAGES = 200;
/** When a page that takes some seconds is drawn at last, beside plain ones that never end. */
const DRAWN_WITHIN_SECONDS = 60;

async function documentOf(client: Client, pdf: Uint8Array, filename: string): Promise<string> {
  const { status, body } = await client.ingestFile(pdf, filename, { prefer: 'wait=60' });
  if (status !== 200) throw new Error(`${filename}: ${String(status)}`);
  return body.external_id;
}

async function pageOf({ url }: Target, client: Client, id: string, page: number) {
  const response = await fetch(`${url}/documents/${id}/pages/${String(page)}.png`, {
    headers: { authorization: client.authorization },
  });
  return { status: response.status, text: await response.text() };
}

/** Asks for the pages of a document again and again, eight at once, until it is told to stop. */
function flood(target: Target, client: Client, id: string) {
  const statuses: (number | string)[] = [];
  let isOver = false;
  let next = 0;
  const ask = async () => {
    while (!isOver) {
      next += 1;
      statuses.push(await statusOf(pageOf(target, client, id, (next % SLOW_PAGES) + 1)));
    }
  };
  const all = Promise.all(Array.from({ length: 8 }, ask));
  return async () => {
    isOver = true;
    await all;
    return statuses;
  };
}

/** Asks for pages of slow documents until one is drawn. */
async function untilDrawn(target: Target, client: Client, id: string) {
  const start = performance.now();
  const statuses: (number | string)[] = [];
  const isLate = () => performance.now() - start > 2_000 * DRAWN_WITHIN_SECONDS;
  for (let page = 1; page <= SLOW_PAGES && !isLate();) {
    const status = await statusOf(pageOf(target, client, id, page));
    statuses.push(status);
    if (status === 200) break;
    // A page may take longer than there is time where others fill the machine, and is refused for minutes.
    if (status === 404) page += 1;
    else await sleep(1_000);
  }
  return { statuses, seconds: (performance.now() - start) / 1_000 };
}

const pdfOf = (word: string, pages = 1) =>
  drawPdf({
    pages: Array.from({ length: pages }, () => ({ content: line(60, 700, `A ${word} of this kind.`) })),
  });

export const pageAttacks: readonly Attack[] = [
  {
    name: 'a caller whose pages take longer to render than there is time',
    patienceSeconds: 240,
    run: async (target) => {
      const [attacker, other] = [target.as('slow pages'), target.as('plain pages')];
      const slow = await documentOf(
        attacker,
        slowPdf({ pages: SLOW_PAGES, layers: LAYERS, word: 'slow' }),
        'slow.pdf',
      );
      const tries = target.isShort ? 3 : 12;
      const plain: string[] = [];
      for (let n = 0; n < tries; n += 1)
        plain.push(await documentOf(other, pdfOf(`plain${String(n)}`), `plain-${String(n)}.pdf`));
      const stop = flood(target, attacker, slow);
      const others: (number | string)[] = [];
      let longest = 0;
      for (const id of plain) {
        const start = performance.now();
        others.push(await statusOf(pageOf(target, other, id, 1)));
        longest = Math.max(longest, (performance.now() - start) / 1_000);
      }
      const flooded = observed(await stop(), oneOf(404, 429, 503));
      const { answer, wrong } = observed(others, oneOf(200));
      const late =
        longest > WITHIN_SECONDS * target.slowness ? `another's page took ${longest.toFixed(1)} s` : null;
      return {
        answer: `${flooded.answer}; another's pages ${answer}, at most ${longest.toFixed(1)} s`,
        wrong: wrong ?? late ?? flooded.wrong,
      };
    },
  },
  {
    name: 'callers who ask for plain pages all the time, beside one whose page takes seconds to render',
    isLong: true,
    patienceSeconds: 300,
    run: async (target) => {
      const heavy = target.as('page of seconds');
      const slow = await documentOf(
        heavy,
        slowPdf({ pages: SLOW_PAGES, layers: 1, word: 'seconds' }),
        'seconds.pdf',
      );
      const light: { client: Client; id: string }[] = [];
      for (let n = 0; n < LIGHT_CALLERS; n += 1) {
        const client = target.as(`light ${String(n)}`);
        light.push({
          client,
          id: await documentOf(client, pdfOf(`light${String(n)}`, LIGHT_PAGES), 'light.pdf'),
        });
      }
      let longest = 0;
      let isOver = false;
      const others: (number | string)[] = [];
      const come = async ({ client, id }: { client: Client; id: string }) => {
        for (let page = 1; !isOver && page <= LIGHT_PAGES; page += 1) {
          const start = performance.now();
          others.push(await statusOf(pageOf(target, client, id, page)));
          longest = Math.max(longest, (performance.now() - start) / 1_000);
          await sleep(1_000);
        }
      };
      const all = Promise.all(light.map(come));
      await sleep(1_000);
      const drawn = await untilDrawn(target, heavy, slow);
      isOver = true;
      await all;
      const late =
        longest > WITHIN_SECONDS * target.slowness
          ? `another's page took ${longest.toFixed(1)} s`
          : drawn.seconds > DRAWN_WITHIN_SECONDS * target.slowness
            ? `the page took ${drawn.seconds.toFixed(1)} s`
            : null;
      const { answer, wrong } = observed(others, oneOf(200));
      const own = observed(drawn.statuses, oneOf(200, 404, 503));
      // On a full machine, the page takes longer than there is time, and that it is refused says nothing of its turns.
      const isJudged = !drawn.statuses.includes(404);
      const missing = isJudged && drawn.statuses.at(-1) !== 200 ? 'the page was never drawn' : null;
      return {
        answer: `${own.answer} in ${drawn.seconds.toFixed(1)} s; others' pages ${answer}, at most ${longest.toFixed(1)} s`,
        wrong: missing ?? wrong ?? late ?? own.wrong,
      };
    },
  },
];
