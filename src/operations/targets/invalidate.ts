import {createError} from '../../errors/index.js';
import {allowChange, invoke} from '../call-backend.js';
import type {OpenBackend} from '../open-backend.js';
import type {DryRunOptions, GuardOptions, TargetOptions, TargetResult} from '../options.js';
import {explainMissing} from '../explain-missing.js';

/** Options of `invalidate`. */
export interface InvalidateOptions extends DryRunOptions, TargetOptions, GuardOptions {
  /** Paths to drop from the cache; each starts with a slash, and `*` stands for anything. @default ['/*'] */
  readonly patterns?: readonly string[] | undefined;
}

/** What `invalidate` resolves to, once the service has accepted it. It takes minutes. */
export interface InvalidateResult extends TargetResult {
  /** The paths whose caches were cleared, as in `/images/*`. */
  readonly patterns: readonly string[];
  /** Whether it was a dry run: nothing was invalidated. */
  readonly dryRun: boolean;
}

/** The patterns of a call. @throws RuntimeCliError `ERR_OPTION_INVALID` */
export function invalidatedPatterns({patterns = []}: Pick<InvalidateOptions, 'patterns'>): readonly string[] {
  const wrong = patterns.find((pattern) => !/^\/\P{Cc}*$/u.test(pattern));
  if (wrong === undefined) return patterns.length === 0 ? ['/*'] : [...new Set(patterns)];
  throw createError('ERR_OPTION_INVALID', `${JSON.stringify(wrong)} cannot be invalidated: it must start with /.`, {
    suggestions: ['Use paths as the browser asks for them, such as "/*" or "/images/*".'],
  });
}

/** `Invalidating /*, /images/* of staging` */
export function describeInvalidation({targetSlug, patterns, dryRun = false}: Invalidation): string {
  return `${dryRun ? 'Would invalidate' : 'Invalidating'} ${patterns.join(', ')} of ${targetSlug}`;
}

type Invalidation = Pick<InvalidateResult, 'targetSlug' | 'patterns'> & {readonly dryRun?: boolean};

export async function invalidateIn(
  open: OpenBackend,
  {targetSlug, patterns, dryRun = false}: Invalidation,
): Promise<void> {
  await allowChange(open, {operation: 'invalidate', targetSlug, dryRun});
  for (const pattern of dryRun ? [] : patterns) {
    await invoke(open, 'invalidate', {targetSlug, pattern}).catch(
      explainMissing(open, {targetSlug, capability: 'invalidate'}),
    );
  }
}
