/** A bug to plant in the sources, which the model has to find. */
export interface Plant {
  readonly name: string;
  /** A text that occurs in one module of src, and what stands there instead. */
  readonly from: string;
  readonly to: string;
}

/** Bugs that somebody could make. */
export const plants: readonly Plant[] = [];
