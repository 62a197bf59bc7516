import { expect, test } from '@jest/globals';
import { readBlocks } from '../../../../support/read-blocks.js';

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
  'white on a root that is black': `<style>:root{background:#000} p{color:#fff}</style><p>Canary</p>`,
  'white with a shadow': `<p style="color:#fff;text-shadow:0 0 3px #000">Canary</p>`,
  'white before the sheet that darkens the page': `<p style="color:#fff">Canary</p><style>body{background:#000}</style>`,
  'behind an svg that is not closed': `<svg width="1"><path d="x"><p>Canary</p>`,
  'within an object that cannot be shown': `<object data="x"><p>Canary</p></object>`,
};

test.each(Object.entries(SEEN))('text %s is read', async (_name, markup) => {
  const { text } = await readBlocks('html', markup + OTHER);
  expect(text).toContain('Canary');
});

/** Text that no browser shows, by properties that are followed. */
const UNSEEN: Readonly<Record<string, string>> = {
  transparent: 'color:transparent',
  'transparent by its alpha': 'color:rgba(0,0,0,0)',
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
