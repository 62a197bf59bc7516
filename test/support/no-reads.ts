/** For routes that tell of usage, where no reads wait to be stored. */
export const noReads = { untilStored: () => Promise.resolve() };
