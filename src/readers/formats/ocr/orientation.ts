import type { TextItem } from '@llamaindex/liteparse';

/** Degrees by which the content of a page appears turned clockwise. */
export type Angle = 0 | 90 | 180 | 270;

/**
 * Pages that are read the right way up are surer than this, pages upside down are not: .78 and more at 55 dots to the inch
 * and .95 at 150, against .37 to .63.
 */
const SURE = 0.7;
/** Words of fewer letters, such as `I`, are taller than wide on upright pages, too. */
const LONG_WORD = 3;

/** The quality of the recognition of a page in one direction. */
export interface Reading {
  /** From 0 (guessed) to 1 (sure). */
  readonly confidence: number;
  /** True if most words run upwards or downwards. */
  readonly isSideways: boolean;
  /** Grows with the letters that were recognized, and how sure they are. */
  readonly score: number;
}

export function assess(items: readonly TextItem[]): Reading {
  let letters = 0;
  let sure = 0;
  let inLongWords = 0;
  let tall = 0;
  for (const { text, confidence = 1, width, height } of items) {
    letters += text.length;
    sure += text.length * confidence;
    if (text.length < LONG_WORD) continue;
    inLongWords += text.length;
    if (height > width) tall += text.length;
  }
  const confidence = letters === 0 ? 0 : Math.min(1, Math.max(0, sure / letters));
  const isSideways = tall * 2 > inLongWords;
  // The lines of a page that lies on its side are recognized, but not their order.
  return { confidence, isSideways, score: sure * confidence * (isSideways ? 0.5 : 1) };
}

export const isUpright = ({ confidence, isSideways }: Reading): boolean => !isSideways && confidence >= SURE;

/**
 * Returns further angles by which the page may be turned, the likelier first. A page that lies on its right side is
 * recognized surely.
 */
export function otherAngles({ confidence, isSideways }: Reading): readonly Angle[] {
  if (!isSideways) return [180];
  return confidence >= SURE ? [90, 270] : [270, 90];
}

export function addAngles(first: Angle, second: Angle): Angle {
  const sum = (first + second) % 360;
  return sum === 90 || sum === 180 || sum === 270 ? sum : 0;
}
