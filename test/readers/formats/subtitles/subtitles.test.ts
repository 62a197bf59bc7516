import { describe, expect, test } from '@jest/globals';
import { processorMilliseconds } from '../../../support/processor-time.js';
import { readBlocks } from '../../../support/read-blocks.js';

const time = (seconds: number): string =>
  `00:${String(Math.floor(seconds / 60)).padStart(2, '0')}:${(seconds % 60).toFixed(3).padStart(6, '0')}`;
const cue = (start: number, end: number, ...lines: readonly string[]): string =>
  [`${time(start)} --> ${time(end)}`, ...lines, '', ''].join('\n');

describe('SubRip', () => {
  test('is what is said, a paragraph to the next pause, each cue with its line', async () => {
    const raw =
      '1\r\n00:00:01,000 --> 00:00:02,500\r\n<i>Hello</i> there,\r\n{\\an8}everybody.\r\n\r\n' +
      '2\r\n00:00:02,600 --> 00:00:04,000\r\nHow are <font color="red">you</font>?\r\n\r\n' +
      '3\r\n00:00:09,000 --> 00:00:10,000 X1:0\r\n3 < 5 &amp; 1,000 ships\r\n';
    const { blocks, text } = await readBlocks('srt', raw);
    expect(text).toBe('Hello there, everybody. How are you?\n\n3 < 5 & 1,000 ships\n');
    expect(blocks.map(({ place }) => place?.line)).toEqual([3, 8, 12]);
  });

  test('is read without empty lines between cues, and with numbers that are said', async () => {
    const raw =
      '1\n00:00:01,0 --> 00:00:02,0\nfirst\n2\n00:00:02,0 --> 00:00:03,0\n1984\n3\n00:00:03,0 --> 00:00:04,0\nlast';
    expect((await readBlocks('srt', raw)).text).toBe('first 1984 last\n');
  });

  test('is read in legacy encodings', async () => {
    const raw = Buffer.from(
      '1\n00:00:01,000 --> 00:00:02,000\nDie Größe der Häuser überraschte.\n',
      'latin1',
    );
    expect((await readBlocks('srt', raw)).text).toContain('Größe der Häuser');
  });

  test('without a cue fails as corrupt', async () => {
    await expect(readBlocks('srt', 'no times here')).rejects.toMatchObject({ code: 'corrupt' });
  });
});

describe('WebVTT', () => {
  test('is read without notes, styles, regions and names of cues', async () => {
    const raw =
      'WEBVTT - a talk\nKind: captions\n\nSTYLE\n::cue { color: red }\n\nNOTE\nnot said\n\nREGION\nid:x\n\n' +
      `intro\n${cue(1, 2, 'said')}NOTE nothing\n\n${cue(2, 3, 'and <c.loud>more</c>')}`;
    expect((await readBlocks('vtt', raw)).text).toBe('said and more\n');
  });

  test('names a speaker when another one begins to speak', async () => {
    const raw = `WEBVTT\n\n${cue(1, 2, '<v Ann>Hello.</v>')}${cue(2, 3, '<v Ann>It is me.')}${cue(3, 4, '<v.loud Bob Lee>Hi!</v>')}`;
    expect((await readBlocks('vtt', raw)).text).toBe('Ann: Hello. It is me.\nBob Lee: Hi!\n');
  });

  test('that rolls up says each line once', async () => {
    const raw =
      `WEBVTT\n\n${cue(1, 2, 'the first line')}${cue(2, 2.01, 'the first line')}` +
      `${cue(2.01, 3, 'the first line', 'the<00:00:02.500><c> second</c> line')}${cue(3, 4, 'the second line', 'the third line')}`;
    expect((await readBlocks('vtt', raw)).text).toBe('the first line the second line the third line\n');
  });

  test('takes a time that grows with its length', async () => {
    const many = Array.from({ length: 50_000 }, (_, index) =>
      cue(index / 100, index / 100 + 1, `line ${String(index)}`),
    );
    const tags = cue(
      1,
      2,
      '<'.repeat(200_000),
      '<v '.repeat(50_000),
      '{\\'.repeat(100_000),
      '&#'.repeat(100_000),
    );
    const started = processorMilliseconds();
    await readBlocks('vtt', `WEBVTT\n\n${many.join('')}`);
    await readBlocks('vtt', `WEBVTT\n\n${tags}`);
    expect(processorMilliseconds() - started).toBeLessThan(20_000);
  });
});
