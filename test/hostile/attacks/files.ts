import { setTimeout as sleep } from 'node:timers/promises';
import { strToU8, zipSync } from 'fflate';
import type { WireDocument } from '../../support/client.js';
import { endlessPdf, hungryPdf } from '../../support/pdfs.js';
import type { Attack, Target } from '../attack.js';

const isOver = (status: string) => status !== 'queued' && status !== 'processing';

async function fateOf({ attacker }: Target, bytes: Uint8Array, filename: string): Promise<string> {
  const { body, status } = await attacker.ingestFile(bytes, filename, { prefer: 'respond-async' });
  if (status !== 202) return String(status);
  for (let tries = 0; tries < 600; tries += 1) {
    const { body: document } = await attacker.get<WireDocument>(`/documents/${body.external_id}`);
    const { status: fate, error } = document.system_metadata;
    if (isOver(fate)) return error?.code ?? fate;
    await sleep(100);
  }
  return 'never final';
}

const bomb = (name: string, filename: string, bytes: () => Uint8Array, codes: readonly string[]): Attack => ({
  name: `file: ${name}`,
  patienceSeconds: 120,
  run: async (target) => {
    const fate = await fateOf(target, bytes(), filename);
    return { answer: fate, wrong: codes.includes(fate) ? null : `not ${codes.join(' or ')}` };
  },
});

const zeros = (megabytes: number) => new Uint8Array(megabytes * 1024 * 1024);

export const fileAttacks: readonly Attack[] = [
  bomb(
    'a docx that inflates to 300 MB',
    'bomb.docx',
    () => zipSync({ 'word/document.xml': zeros(300) }, { level: 1 }),
    ['too_large'],
  ),
  bomb('a PDF that inflates to 5 GB', 'hungry.pdf', hungryPdf, ['too_large', 'timeout']),
  bomb('a PDF that never ends', 'endless.pdf', () => strToU8(endlessPdf()), ['timeout']),
  bomb(
    'a docx of 20,000 empty entries',
    'entries.docx',
    () =>
      zipSync(
        Object.fromEntries([
          ...Array.from({ length: 20_000 }, (_, i): [string, Uint8Array] => [
            `e${String(i)}`,
            new Uint8Array(),
          ]),
          ['word/document.xml', strToU8('<w:document/>')],
        ]),
      ),
    ['corrupt', 'empty_document', 'no_text', 'too_large', '415'],
  ),
  bomb(
    'XML entities that multiply',
    'lol.docx',
    () =>
      zipSync({
        'word/document.xml': strToU8(
          `<!DOCTYPE l [<!ENTITY a "lol">${Array.from({ length: 20 }, (_, i) => `<!ENTITY b${String(i)} "${'&a;'.repeat(50)}">`).join('')}]><w:document>&b19;</w:document>`,
        ),
      }),
    ['corrupt', 'empty_document', 'no_text', 'too_large', 'completed', '415'],
  ),
  bomb('one word of 20 MB', 'word.txt', () => strToU8('a'.repeat(20_000_000)), [
    'completed',
    'too_large',
    'timeout',
  ]),
  bomb(
    'JSON nested 200,000 deep',
    'deep.json',
    () => strToU8(`${'['.repeat(200_000)}1${']'.repeat(200_000)}`),
    ['completed', 'corrupt', 'too_large', 'timeout', 'no_text', '415'],
  ),
  bomb('HTML nested 200,000 deep', 'deep.html', () => strToU8(`<html>${'<div>'.repeat(200_000)}deep`), [
    'completed',
    'corrupt',
    'too_large',
    'timeout',
  ]),
];
