/** The readings above characters, and the brackets around them, which browsers do not show. */
const READINGS = new Set(['rt', 'rp', 'rtc']);
/** The characters that readings stand above. */
const BASES = new Set(['rb', 'rbc']);
/** Elements that a reading may hold. Any other element shows that the end of the reading is missing. */
const PHRASING = new Set(
  'a b bdi bdo cite code em i mark q rt rp s small span strong sub sup u wbr'.split(' '),
);

/** Follows readings of characters (ruby), which would divide the words that they stand above. */
export function createRuby() {
  let rubies = 0;
  let readings = 0;
  const end = () => {
    rubies = 0;
    readings = 0;
  };
  return {
    open(name: string): void {
      if (name === 'ruby') rubies += 1;
      else if (rubies > 0 && READINGS.has(name)) readings += 1;
      else if (!BASES.has(name) && !PHRASING.has(name)) end();
    },
    close(name: string): void {
      if (name === 'ruby') {
        rubies = Math.max(0, rubies - 1);
        readings = 0;
      } else if (READINGS.has(name)) readings = Math.max(0, readings - 1);
    },
    /** Tells whether text is a reading, which is not text of the document. */
    isReading: () => readings > 0,
  };
}
