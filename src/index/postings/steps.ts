/** Work that is done step by step, so that searches are answered in between. */
export type Steps<Result> = Generator<undefined, Result, undefined>;
