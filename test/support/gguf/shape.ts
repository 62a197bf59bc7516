/** The shape that models of all kinds have. */
export interface ModelShape {
  readonly name: string;
  readonly seed: number;
  readonly dimension: number;
  readonly layers: number;
}

/** Dimensions of one head of attention. */
export const HEAD = 32;
