import { readFileSync } from 'node:fs';
import { describe, expect, test } from '@jest/globals';
import { processorMilliseconds } from '../../../support/processor-time.js';
import { readBlocks } from '../../../support/read-blocks.js';

/** The headings of a source file with their levels and lines. */
async function headingsOf(source: string, filename: string) {
  const { blocks, text } = await readBlocks('code', source, { filename });
  expect(text).toBe(source);
  return blocks
    .filter(({ heading }) => heading)
    .map(({ text: line, heading, place }) => [heading, place?.line, line.trim()]);
}

describe('source code', () => {
  test('stays as it is, whatever its lines end with', async () => {
    const sources = [
      'a\r\nb\r\n\r\nclass X {\r\n}\r\n',
      '\n\n  x\n',
      'no end',
      '\ttabs\t\n\n\n\nend  \n',
      'one\rtwo',
    ];
    for (const source of sources)
      for (const filename of ['a.ts', 'a.py', 'a.zzz', 'a.c'])
        expect((await readBlocks('code', source, { filename })).text).toBe(source);
  });

  test('of Python has classes and functions as sections, with their lines', async () => {
    const source = [
      'import os',
      '',
      '# A comment of the class.',
      '@decorated',
      'class Heron(Bird):',
      '    """Text."""',
      '',
      '    def stand(self):',
      '        return 1',
      '',
      '    async def fly(self):',
      '        def inner():',
      '            pass',
      '',
      'def main():',
      '    pass',
      '',
    ].join('\n');
    expect(await headingsOf(source, 'birds.py')).toEqual([
      [1, 5, 'class Heron(Bird):'],
      [2, 8, 'def stand(self):'],
      [2, 11, 'async def fly(self):'],
      [3, 12, 'def inner():'],
      [1, 15, 'def main():'],
    ]);
    const { blocks, receipt } = await readBlocks('code', source, { filename: 'birds.py' });
    expect(blocks[1]).toEqual({ text: '# A comment of the class.\n@decorated\n', place: { line: 3 } });
    expect(receipt.parser).toBe('code:python');
  });

  test.each([
    [
      'a.ts',
      'import x;\n\nexport class A {\n  run() {}\n}\nexport const f = async (x: number) => x;\ntype B = {\n};\n',
      [3, 6, 7],
    ],
    ['a.go', 'package a\n\ntype T struct {\n}\n\nfunc (t *T) Run() {\n}\n', [3, 6]],
    ['a.rs', 'use x;\n\npub struct A;\n\nimpl A {\n    pub async fn run() {}\n}\n', [3, 5, 6]],
    ['A.java', 'package a;\n\npublic final class A {\n  private int x;\n}\n', [3]],
    ['a.kt', 'class A {\n  fun run() {}\n}\n', [1, 2]],
    ['a.rb', 'module M\n  class A\n    def run\n    end\n  end\nend\n', [1, 2, 3]],
    ['a.php', '<?php\nclass A {\n  public function run() {}\n}\n', [2, 3]],
    ['a.sh', 'set -e\nrun() {\n  x\n}\nfunction other {\n}\n', [2, 5]],
    ['a.swift', 'struct A {\n  mutating func run() {}\n}\n', [1, 2]],
    ['a.scala', 'object A {\n  def run = 1\n}\n', [1, 2]],
    ['a.ex', 'defmodule A do\n  def run do\n  end\nend\n', [1, 2]],
    ['a.sol', 'contract A {\n  function run() public {}\n}\n', [1, 2]],
  ])('in %s has its declarations as sections', async (filename, source, lines) => {
    expect((await headingsOf(source, filename)).map(([, line]) => line)).toEqual(lines);
  });

  test('begins a block where something of its own begins, with the comment before it', async () => {
    const source = 'int x;\n\n/* A struct. */\nstruct a {\n  int b;\n};\n\nvoid run(void) {\n}\n';
    const { blocks } = await readBlocks('code', source, { filename: 'a.c' });
    expect(blocks.map(({ place }) => place?.line)).toEqual([1, 3, 8]);
  });

  test('of this project is read whole', async () => {
    const source = readFileSync('eslint.config.js', 'utf8');
    expect((await readBlocks('code', source, { filename: 'eslint.config.js' })).text).toBe(source);
  });

  test('takes a time that grows with its length', async () => {
    const started = processorMilliseconds();
    for (const line of [
      '// c\n',
      'def f():\n',
      ' def f():\n',
      'a '.repeat(50),
      'const f = ((((((\n',
      '(',
      'public ',
    ])
      for (const filename of ['a.py', 'a.ts', 'a.java', 'a.rs'])
        await readBlocks('code', line.repeat(100_000), { filename });
    expect(processorMilliseconds() - started).toBeLessThan(30_000);
  });
});
