import { expect, test } from '@jest/globals';
import { readBlocks } from '../../../support/read-blocks.js';

const OTHER = '<p>Other text.</p>';

/** Text that each browser shows. */
const SEEN: Readonly<Record<string, string>> = {
  'white on a picture': `<div style="background-image:url(dark.jpg);color:#fff">Canary</div>`,
  'white on a picture with a fallback': `<div style="background:#fff url(dark.jpg);color:#fff">Canary</div>`,
  'white on a gradient over a colour': `<div style="background-color:#fff;background-image:linear-gradient(#000,#111);color:#fff">Canary</div>`,
  'white on a picture by a rule': `<style>.hero{background-image:url(a.jpg);color:#fff}</style><div class="hero">Canary</div>`,
  'the later of two rules': `<style>.a{display:none}.b{display:block}</style><div class="b a">Canary</div>`,
  'an important rule': `<style>.x{display:block!important}.x{display:none}</style><p class="x">Canary</p>`,
  'shown by a selector of two elements': `<style>.tab{display:none}.tabs .active{display:block}</style><div class="tabs"><p class="tab active">Canary</p></div>`,
  'shown on wide screens': `<style>.desk{display:none}@media (min-width:600px){.desk{display:block}}</style><div class="desk">Canary</div>`,
  'shown by @supports': `<style>.g{display:none}@supports(display:grid){.g{display:grid}}</style><p class="g">Canary</p>`,
  'faded in': `<style>.f{opacity:0;animation:in 1s forwards}@keyframes in{to{opacity:1}}</style><div class="f">Canary</div>`,
  'sized by the shorthand': `<table><tr><td style="font-size:0"><p style="font:16px Arial">Canary</p></td></tr></table>`,
  'white in a header cell of a linked sheet': `<link rel="stylesheet" href="s.css"><table><tr><th style="color:white">Canary</th></tr><tr><td>d</td></tr></table>`,
  'white in a row that a pseudo-class fills': `<style>th{color:#fff} tr:first-child{background:#000}</style><table><tr><th>Canary</th></tr><tr><td>d</td></tr></table>`,
  'white over an image': `<div style="position:relative"><img src="a.jpg"><h1 style="position:absolute;top:20px;color:#fff">Canary</h1></div>`,
  'white behind a box that is placed': `<div><i style="position:absolute;background:#000"></i><p style="color:#fff">Canary</p></div>`,
  'white on a root that is black': `<style>:root{background:#000} p{color:#fff}</style><p>Canary</p>`,
  'white with a shadow': `<p style="color:#fff;text-shadow:0 0 3px #000">Canary</p>`,
  'white before the sheet that darkens the page': `<p style="color:#fff">Canary</p><style>body{background:#000}</style>`,
  'behind an svg that is not closed': `<svg width="1"><path d="x"><p>Canary</p>`,
  'in a box without a height that shows what overflows': `<div style="height:0">Canary</div>`,
  'in a body whose overflow is that of the window': `<body style="height:0;overflow:hidden">Canary`,
  'in a fold whose style sheet is not read': `<link rel="stylesheet" href="a.css"><div style="height:0;overflow:hidden">Canary</div>`,
  'in a line, whose parts have no height': `<span style="height:0;overflow:hidden">Canary</span>`,
  'in a table row, whose height is the least it has': `<table><tr style="height:0;overflow:hidden"><td>Canary</td><td>x</td></tr></table>`,
  'in a box that its padding opens': `<div style="height:0;overflow:hidden;padding-bottom:56%">Canary</div>`,
  'in a box with a least height': `<div style="height:0;min-height:2em;overflow:hidden">Canary</div>`,
  'in a box with a height of no percent of nothing': `<div style="height:0%;overflow:hidden">Canary</div>`,
  'placed outside of a box without a height': `<div style="height:0;overflow:hidden"><p style="position:absolute">Canary</p></div>`,
  'in a fold that opens': `<div style="max-height:0;overflow:hidden;transition:max-height .3s">Canary</div>`,
  'in a menu that grows': `<div style="transform:scale(0);transition:transform .3s">Canary</div>`,
  'in a line that is scaled': `<b style="transform:scale(0)">Canary</b>`,
  'scaled to a half': `<div style="transform:scale(0.5)">Canary</div>`,
  'in a box of the flow with a clip': `<div style="clip:rect(0 0 0 0)">Canary</div>`,
  'cut to a part': `<div style="clip-path:inset(10%)">Canary</div>`,
  'shown by its seventeenth class': `<style>.a{display:none}.shown{display:block}</style><p class="a b c d e f g h i j k l m n o p shown">Canary</p>`,
  'behind a template that is closed': `<template><p>x</p></template><p>Canary</p>`,
  'in a dialog that is open': `<dialog open>Canary</dialog>`,
  'in a dialog that a style shows': `<dialog style="display:block">Canary</dialog>`,
  'behind a video': `<video src="a.mp4">No video</video>Canary`,
  'within an object that cannot be shown': `<object data="x"><p>Canary</p></object>`,
};

test.each(Object.entries(SEEN))('text %s is read', async (_name, markup) => {
  const { text } = await readBlocks('html', markup + OTHER);
  expect(text).toContain('Canary');
});

test.each(['dialog', 'div popover', 'video', 'audio', 'progress', 'meter', 'noframes', 'noembed'])(
  'text of <%s> is left out and named',
  async (start) => {
    const end = start.split(' ')[0] ?? '';
    const { text, gaps } = await readBlocks('html', `<${start}>Canary</${end}>${OTHER}`);
    expect(text.trim()).toBe('Other text.');
    expect(gaps).toEqual(['hidden: 6 characters of hidden text were left out.']);
  },
);

/** Text that no browser shows, by properties that are followed. */
const UNSEEN: Readonly<Record<string, string>> = {
  'white by numbers without commas': 'color:rgb(255 255 255)',
  'white by its hue': 'color:hsl(0,0%,100%)',
  'white by four digits': 'color:#ffff',
  'nearly transparent': 'opacity:.01',
  'not displayed, with a comment': 'display:/*x*/none',
  'not displayed, with a gap before important': 'display:none ! important',
  'not displayed, with an escape': 'd\\69splay:none',
  'tiny by the shorthand': 'font:0/0 a',
  'tiny in centimetres': 'font-size:.01cm',
  'tiny with an exponent': 'font-size:1e-3px',
  'off the page on the right': 'position:absolute;right:-9999px',
  'on a name of its own colour': 'background:lightyellow;color:lightyellow',
};

test.each(Object.entries(UNSEEN))('text that is %s is left out', async (_name, style) => {
  const { text } = await readBlocks('html', `<p style="${style}">Canary</p>${OTHER}`);
  expect(text).not.toContain('Canary');
});

const CUT_OFF: Readonly<Record<string, string>> = {
  'in a box without a height': '<div style="height:0;overflow:hidden"><b>Canary</b></div>',
  'in a box with no height at most': '<p style="max-height:0px;overflow-y:hidden">Canary</p>',
  'in a box without a width': '<p style="width:0;overflow:hidden">Canary</p>',
  'in a line that is made a box': '<span style="display:inline-block;height:0;overflow:clip">Canary</span>',
  'in a box by a rule behind a string that its line ends':
    '<style>.a{content:"}\n} .x{height:0;overflow:hidden}</style><section class="x">Canary</section>',
  'in a box by a rule behind an escaped quote':
    '<style>.a{content:"\\"}"} .x{height:0;overflow:hidden}</style><section class="x">Canary</section>',
  'in a box by a rule': '<style>.x{height:0;overflow:hidden}</style><section class="x">Canary</section>',
  'clipped to nothing': '<div style="position:absolute;clip:rect(0,0,0,0)">Canary</div>',
  'clipped to nothing in any unit': '<div style="position:absolute;clip:rect(0,9px,0px,1px)">Canary</div>',
  'clipped by a path': '<div style="clip-path:inset(50%)">Canary</div>',
  'clipped to a point': '<p style="clip-path:circle(0)">Canary</p>',
  'scaled to nothing': '<div style="transform:scale(0)">Canary</div>',
  'scaled to no width': '<div style="transform:rotate(4deg) scaleX(0.0)">Canary</div>',
  'scaled by a property of its own': '<div style="scale:0">Canary</div>',
  'hidden by its seventeenth class':
    '<style>.gone{display:none}</style><p class="a b c d e f g h i j k l m n o p gone">Canary</p>',
};

test.each(Object.entries(CUT_OFF))('text that is %s is left out and named', async (_name, markup) => {
  const { text, receipt } = await readBlocks('html', markup + OTHER);
  expect(text).not.toContain('Canary');
  expect(receipt.gap_counts).toEqual({ hidden: 1 });
});

test.each([
  'position:absolute;width:1px;height:1px;margin:-1px;overflow:hidden;clip:rect(0,0,0,0)',
  'position:absolute!important;height:1px;width:1px;overflow:hidden;clip-path:inset(50%);white-space:nowrap',
  'position:absolute;left:-10000px;top:auto;width:1px;height:1px;overflow:hidden',
  'position:absolute;clip:rect(1px 1px 1px 1px);overflow:hidden;height:1px',
])('text that only screen readers read is read and named: %s', async (style) => {
  const markup = `<style>.sr-only{${style}}</style><a class="sr-only">Canary</a>${OTHER}`;
  const { text, gaps } = await readBlocks('html', markup);
  expect(text).toContain('Canary');
  expect(gaps).toEqual(['hidden: 6 characters only for screen readers were read.']);
  expect((await readBlocks('html', markup, { hiddenText: 'keep' })).gaps).toEqual([]);
});

test.each([
  'position:absolute;width:1px;height:1px',
  'position:absolute;width:2px;height:2px;overflow:hidden',
  'position:absolute;width:1em;height:40px;overflow:hidden',
  'width:1px;height:1px;overflow:hidden',
])('text in a small box that shows it is read as any other: %s', async (style) => {
  const { text, gaps } = await readBlocks('html', `<a style="${style}">Canary</a>${OTHER}`);
  expect(text).toContain('Canary');
  expect(gaps).toEqual([]);
});

test.each(['canvas', 'template', 'noscript', 'iframe'])(
  'what stands behind a %s that is not closed is named, since browsers do not show it',
  async (name) => {
    for (const hiddenText of ['drop', 'keep'] as const) {
      const { gaps } = await readBlocks('html', `${OTHER}<${name}><p>Canary</p>`, { hiddenText });
      expect(gaps).toEqual([
        expect.stringMatching(
          `^hidden: \\d+ characters behind a <${name}> that is not closed were left out\\.$`,
        ),
      ]);
    }
    expect((await readBlocks('html', `${OTHER}<${name}><p>x</p></${name}>`)).gaps).toEqual([]);
  },
);

test('an element with very many classes is found in time', async () => {
  const rules = Array.from(
    { length: 2_000 },
    (_, index) => `.a${String(index)}{color:red;opacity:1;width:1px}`,
  );
  const names = Array.from({ length: 2_000 }, (_, index) => `a${String(index)}`).join(' ');
  const elements = Array.from(
    { length: 100 },
    (_, index) => `<p id="i${String(index)}" class="${names}">Canary</p>`,
  );
  const { text } = await readBlocks('html', `<style>${rules.join('')}</style>${elements.join('')}`);
  expect(text).toContain('Canary');
}, 10_000);

test.each([
  '<style>.row{display:flex}.name{flex:1;width:0;overflow:hidden}</style><div class="row"><div class="name">Canary</div></div>',
  '<div style="display:flex;flex-direction:column"><main style="flex:1 1 auto;height:0;overflow:hidden">Canary</main></div>',
  '<div style="height:0;min-block-size:200px;overflow:hidden">Canary</div>',
  '<div style="height:0;padding-block:30px;overflow:hidden">Canary</div>',
  '<fieldset style="width:0;overflow:hidden">Canary</fieldset>',
  '<div style="position:absolute;clip:rect(5px,20em,2em,0)">Canary</div>',
])('a box that gets its size in another way than by width and height is read: %s', async (markup) => {
  expect((await readBlocks('html', OTHER + markup)).text).toContain('Canary');
});

test('a picture of many megabytes within a style is read past', async () => {
  const picture = `url('data:image/png;base64,${'A'.repeat(12_000_000)}')`;
  const markup = `<p style="background:${picture}; color:red">Canary</p>`;
  expect((await readBlocks('html', OTHER + markup)).text).toContain('Canary');
});
