import * as kinds from './kinds.js';

/** The settings of `budget`, part of the table in definitions.ts. */
export const budgetRows = {
  budgetTotal: {
    label: 'budget for all files',
    set: 'budget',
    config: 'budget.total',
    kind: kinds.size,
    perTarget: 'targetSlug',
    summary: 'Maximum size of all files together, uncompressed.',
  },
  budgetFiles: {
    label: 'budget for files',
    set: 'budget',
    config: 'budget.files',
    kind: kinds.sizes,
    perTarget: 'targetSlug',
    summary: 'Maximum total size of the files that match a pattern, by pattern.',
  },
  budgetGrowth: {
    label: 'budget for growth',
    set: 'budget',
    config: 'budget.growth',
    kind: kinds.growth,
    perTarget: 'targetSlug',
    summary: 'Maximum growth over what the target runs, as a size or a percentage.',
  },
} as const;
