import { describe, expect, test } from '@jest/globals';
import { readBlocks } from '../../../support/read-blocks.js';

/** A page of spans, each with its style. */
const page = (up: string, down: string): string =>
  `<p>10<span style="${up}">6</span> H<span style="${down}">2</span>O</p>`;

describe('small letters that a style moves', () => {
  test.each([
    [
      'by a place, as books of LibreOffice have them',
      'position: relative; top: -0.57em; vertical-align: baseline; font-size: 7.0000pt',
      'position: relative; top: 0.33em; vertical-align: baseline; font-size: 0.58em',
    ],
    [
      'by a place from below',
      'position: relative; bottom: .5em; font-size: 75%',
      'position: relative; bottom: -.25em; font-size: 75%',
    ],
    ['by a length', 'vertical-align: 4px; font-size: .7em', 'vertical-align: -3pt; font-size: small'],
    ['by a share', 'vertical-align: 33%; font-size: 60%', 'vertical-align: -25%; font-size: smaller'],
  ])('%s are raised and lowered', async (_, up, down) => {
    expect((await readBlocks('html', page(up, down))).text).toBe('10⁶ H₂O\n\n');
  });

  test.each([
    ['letters of the same size', 'position: relative; top: -0.5em'],
    ['letters that are moved by a hair', 'font-size: 80%; position: relative; top: -1px'],
    ['what stands at another place', 'font-size: 8pt; position: relative; top: -3em'],
    ['what is not moved', 'font-size: 80%; top: -0.5em'],
  ])('%s are not', async (_, style) => {
    expect((await readBlocks('html', page(style, style))).text).toBe('106 H2O\n\n');
  });
});
