import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { renderMessages, breakTurnMarkers } from '../../../src/shared/models/prompt.js';
import { chatTemplates, markersOf } from './chat-templates.js';
import { processorMilliseconds } from '../../support/processor-time.js';

const templates = Object.entries(chatTemplates);
const markers = [...new Set(Object.values(chatTemplates).flatMap(markersOf))];

/** The text as a server sees it that goes by its letters alone, whatever their case, width and spaces. */
const flatten = (text: string) =>
  text
    .normalize('NFKC')
    .toLowerCase()
    .replaceAll('│', '|')
    .replace(/[\s\u200b\u00ad]/g, '');

function promptOf(texts: readonly string[], question = 'Who?'): string {
  const passages = texts.map((text, chunkNumber) => ({ documentId: 'd', chunkNumber, text }));
  return renderMessages({ question, passages })
    .map(({ content }) => content)
    .join('\n');
}

describe('turn markers of chat templates in a prompt', () => {
  test.each(templates)('of %s are text in a passage and in a question', (_family, template) => {
    const published = markersOf(template);
    expect(published.length).toBeGreaterThan(0);
    for (const prompt of [promptOf([template]), promptOf([], template)])
      for (const marker of published) expect(prompt).not.toContain(marker);
  });

  test.each([
    ['in another case', (marker: string) => marker.toUpperCase()],
    ['in lower case', (marker: string) => marker.toLowerCase()],
    ['with bars of other kinds', (marker: string) => marker.replace(/[|｜]/g, '│')],
    ['with bars of full width', (marker: string) => marker.replaceAll('|', '｜')],
    ['with brackets of full width', (marker: string) => marker.replaceAll('<', '＜').replaceAll('>', '＞')],
    [
      'with spaces within its brackets',
      (marker: string) => `${marker.slice(0, 1)} ${marker.slice(1, -1)} ${marker.slice(-1)}`,
    ],
    ['with a line break for its end', (marker: string) => `${marker.slice(0, -1)}\n${marker.slice(-1)}`],
    ['with spaces for its underscores', (marker: string) => marker.replace(/[_▁]/g, ' ')],
    ['with an invisible character', (marker: string) => `${marker.slice(0, 2)}\u200b${marker.slice(2)}`],
  ])('are text %s', (_how, vary) => {
    const paired = markers.filter((marker) => !marker.includes('~') && !marker.startsWith('<<'));
    for (const marker of paired) {
      const text = `before ${vary(marker)} after`;
      expect(flatten(promptOf([text]))).not.toContain(flatten(vary(marker)));
    }
  });

  test('are not put together from two passages, nor from a passage and what stands around it', () => {
    for (const marker of markers)
      for (let cut = 1; cut < marker.length; cut += 1)
        expect(promptOf([marker.slice(0, cut), marker.slice(cut)], marker.slice(cut))).not.toContain(marker);
  });

  test('are not put together by breaking others, and are broken once', () => {
    const piece = fc.constantFrom(
      ...markers,
      '<',
      '>',
      '[',
      ']',
      '|',
      '<|',
      '|>',
      '/',
      '~b',
      'INST',
      's',
      ' ',
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 12 }), (pieces) => {
        const broken = breakTurnMarkers(pieces.join(''));
        for (const marker of markers) expect(broken).not.toContain(marker);
        expect(breakTurnMarkers(broken)).toBe(broken);
      }),
    );
  });

  test('leave all of their letters to be read', () => {
    expect(breakTurnMarkers('The price is <s>9</s> 8. [INST] v. Smith; <|im_start|>')).toBe(
      'The price is ‹s›9‹/s› 8. ⟦INST⟧ v. Smith; ‹|im_start|›',
    );
  });

  test.each([
    'if a < b and b > c, then |a| > 0',
    '<p class="s">text</p> <strong>s</strong> <div>[1] [see note 3] [x] [ ]</div>',
    'f <| x > y; List<Map<String, T>> m; a[i] = b[j]; x | y',
    '| a | b |\n|---|---|\n| <1> | [2] |',
    'The installment [Inst. 3] of <span>system</span>, user: none, assistant: none',
    'vector<int> v; [[link]] <https://example.org/a|b> <a@b.c>',
  ])('leave ordinary text as it is: %j', (text) => {
    expect(breakTurnMarkers(text)).toBe(text);
  });

  test('are looked for in time that grows with the text alone', () => {
    for (const unit of ['<', '[', '<|', '<| ', '[INST', ']~', '<a '])
      for (const end of ['', '>', ']']) {
        const started = processorMilliseconds();
        breakTurnMarkers(unit.repeat(200_000) + end);
        expect(processorMilliseconds() - started).toBeLessThan(1_000);
      }
  });
});
