import prettyBytes from 'pretty-bytes';
import type {BundleId} from '../../backends/contract.js';
import {compilePatterns, isExclusion} from '../../bundle/index.js';
import {parsePercent, parseSize} from '../../bundle/option-schemas.js';
import type {BundleFile} from '../../bundle/types.js';
import {createError} from '../../errors/index.js';
import {listFirst, showPath} from '../../bundle/files/entry-names.js';
import {exactBytes} from './limits.js';

/**
 * How large a bundle may be: the sum of the sizes of its files, uncompressed. Sizes are numbers of bytes, or texts such
 * as `500 kB`, `1.5 MB` or `2 MiB`.
 */
export interface BundleBudget {
  /** Maximum size of all files. */
  readonly total?: number | string | undefined;
  /** Maximum total size of the files that match a pattern, by pattern: `{'**\/*.js': '500 kB'}`. */
  readonly files?: Readonly<Record<string, number | string>> | undefined;
  /** How much larger than what the target runs, as a size or in percent of it: `5%`. */
  readonly growth?: number | string | undefined;
}

/** One limit of a budget, and what there is. */
export interface BudgetLimit {
  readonly limit: 'total' | 'files' | 'growth';
  /** The pattern, for `files`. */
  readonly pattern?: string | undefined;
  /** Maximum bytes. Undefined for a growth in percent that was not checked. */
  readonly maximum?: number | undefined;
  /** Bytes. Undefined if it was not checked. */
  readonly actual?: number | undefined;
  /** For `growth`: the bundle that it is compared with. */
  readonly bundleId?: BundleId | undefined;
  /** Why it was not checked. */
  readonly skipped?: string | undefined;
}

/** How much of a budget a bundle uses. */
export interface BudgetReport {
  readonly limits: readonly BudgetLimit[];
}

/** A bundle that the growth is measured from, or why there is none. */
export type GrowthBase = {readonly bundleId: BundleId; readonly files: readonly Sized[]} | {readonly skipped: string};

type Sized = Pick<BundleFile, 'path' | 'size'>;

/** The files that are responsible for a size, with the bytes that each has or grew by. */
interface Judged extends BudgetLimit {
  readonly largest: readonly Sized[];
}

/** How many files an error names. */
const named = 10;

/**
 * Checks a bundle against its budget.
 * @throws RuntimeCliError `ERR_BUDGET_EXCEEDED` naming each limit that is exceeded, and the files that did it;
 * `ERR_OPTION_INVALID` for sizes that are none; `ERR_PATTERN_INVALID`.
 */
export function checkBudget(budget: BundleBudget, files: readonly Sized[], base: GrowthBase): BudgetReport {
  const {total, files: patterns = {}, growth} = budget;
  const judged: readonly Judged[] = [
    ...(total === undefined ? [] : [judge({limit: 'total', maximum: sizeOf('total', total)}, files)]),
    ...Object.entries(patterns).map(([pattern, size]) => {
      if (isExclusion(pattern)) {
        throw createError('ERR_OPTION_INVALID', `budget.files has the exclusion ${pattern}, which matches no file.`, {
          suggestions: ['Name the files that the budget is for, for example with !(*.map).'],
        });
      }
      const {matches} = compilePatterns([pattern]);
      const maximum = sizeOf(`files.${pattern}`, size);
      return judge(
        {limit: 'files', pattern, maximum},
        files.filter(({path}) => matches(path)),
      );
    }),
    ...(growth === undefined ? [] : [judgeGrowth(growth, files, base)]),
  ];
  const exceeded = judged.filter(({maximum = Infinity, actual = 0}) => actual > maximum);
  const limits = judged.map(({largest, ...limit}) => limit);
  if (exceeded.length === 0) return {limits};
  throw createError('ERR_BUDGET_EXCEEDED', `The bundle exceeds its budget: ${exceeded.map(describe).join('; ')}.`, {
    suggestions: [
      ...exceeded.map(
        ({limit, pattern, largest}) =>
          `${limit === 'growth' ? 'Grew most' : `Largest${pattern === undefined ? '' : ` of ${pattern}`}`}: ` +
          `${listFirst(largest, ', ', ({path, size}) => `${showPath(path)} (${prettyBytes(size)})`, named)}.`,
      ),
      'Make them smaller, exclude them with --ignore, or raise the budget in mycli.config.',
    ],
    details: {limits, exceeded},
  });
}

/** Warnings about patterns of a budget that match no file: they limit nothing, and may be misspelt. */
export function budgetWarnings({files: patterns = {}}: BundleBudget, files: readonly Sized[]): readonly string[] {
  return Object.keys(patterns).flatMap((pattern) => {
    const {matches} = compilePatterns([pattern]);
    return files.some(({path}) => matches(path)) ? [] : [`The budget.files pattern "${pattern}" matches no file.`];
  });
}

function judge(limit: BudgetLimit, files: readonly Sized[]): Judged {
  const largest = files.toSorted((a, b) => b.size - a.size).slice(0, named);
  return {
    ...limit,
    actual: totalSize(files),
    largest: largest.map(({path, size}) => ({path, size})),
  };
}

function judgeGrowth(growth: number | string, files: readonly Sized[], base: GrowthBase): Judged {
  const percent = parsePercent(growth);
  if ('skipped' in base) {
    const maximum = percent === undefined ? sizeOf('growth', growth) : undefined;
    return {limit: 'growth', maximum, skipped: base.skipped, largest: []};
  }
  const before = new Map(base.files.map(({path, size}) => [path, size]));
  const size = totalSize(base.files);
  const maximum = percent === undefined ? sizeOf('growth', growth) : Math.floor((size * percent) / 100);
  const grown = files
    .map(({path, size}) => ({path, size: size - (before.get(path) ?? 0)}))
    .filter(({size}) => size > 0)
    .sort((a, b) => b.size - a.size);
  return {
    ...{limit: 'growth', maximum, actual: totalSize(files) - size, bundleId: base.bundleId},
    largest: grown.slice(0, named),
  };
}

function totalSize(files: readonly Sized[]): number {
  return files.reduce((sum, {size}) => sum + size, 0);
}

function describe({limit, pattern, maximum = 0, actual = 0, bundleId}: Judged): string {
  const limited = `but the limit is ${exactBytes(maximum)}`;
  const size = exactBytes(actual);
  if (limit === 'growth') return `it grew by ${size} since bundle ${String(bundleId)}, ${limited}`;
  return pattern === undefined ? `its files have ${size}, ${limited}` : `${pattern} has ${size}, ${limited}`;
}

function sizeOf(option: string, value: number | string): number {
  const bytes = parseSize(value);
  if (bytes !== undefined) return bytes;
  throw createError('ERR_OPTION_INVALID', `budget.${option} must be a number of bytes or a size such as "1.5 MB".`);
}
