import { type Location, locationSchema } from '../../../readers/index.js';
import { MAX_BOXES } from './chunk-bounds.js';

/** Most characters of the name of a sheet or chapter; `bounded-names` leaves less. */
const MAX_CHARACTERS = 1_000;

/** A location as parsers make it: its names and rectangles are few. */
export const boundedLocation = locationSchema
  .extend({
    boxes: locationSchema.shape.boxes.unwrap().max(MAX_BOXES).optional(),
    sheet: locationSchema.shape.sheet.unwrap().max(MAX_CHARACTERS).optional(),
    chapter: locationSchema.shape.chapter.unwrap().max(MAX_CHARACTERS).optional(),
  })
  .nullable();

/** Null for a location that is none. The places that a file states must not keep a text from being found. */
export const knownLocation = (location: Location | null): Location | null =>
  boundedLocation.safeParse(location).data ?? null;
