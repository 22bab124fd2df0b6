// What several results have. The public types have these members, not the names.

export interface Warnings {
  /** What needs attention, a sentence each. */
  readonly warnings: readonly string[];
}

export interface DryRunResult {
  /** Whether it was a dry run: nothing was changed. */
  readonly dryRun: boolean;
}
