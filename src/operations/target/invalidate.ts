import type {RuntimeBackend} from '../../backends/names.js';
import {createError} from '../../errors/index.js';
import {invoke} from '../call-backend.js';
import type {RunHost} from '../host.js';
import type {OpenBackend} from '../open-backend.js';
import type {GuardOptions, ProjectOptions} from '../options.js';
import {explainMissingTarget} from '../targets.js';

/** Options of `invalidate`. */
export interface InvalidateOptions extends ProjectOptions, GuardOptions {
  readonly targetSlug: string;
  /** Paths to drop from the cache; each starts with a slash, and `*` stands for anything. @default ['/*'] */
  readonly patterns?: readonly string[] | undefined;
}

/** What `invalidate` resolves to, once the service has accepted it. It takes minutes. */
export interface InvalidateResult {
  readonly backend: RuntimeBackend;
  readonly projectSlug: string;
  readonly targetSlug: string;
  readonly patterns: readonly string[];
}

/** The patterns of a call. @throws RuntimeCliError `ERR_OPTION_INVALID` */
export function invalidatedPatterns({patterns = []}: Pick<InvalidateOptions, 'patterns'>): readonly string[] {
  const wrong = patterns.find((pattern) => !/^\/\P{Cc}*$/u.test(pattern));
  if (wrong === undefined) return patterns.length === 0 ? ['/*'] : [...new Set(patterns)];
  throw createError('ERR_OPTION_INVALID', `${JSON.stringify(wrong)} cannot be invalidated: it must start with /.`, {
    suggestions: ['Use paths as the browser asks for them, such as "/*" or "/images/*".'],
  });
}

export async function invalidateIn(
  open: OpenBackend,
  targetSlug: string,
  patterns: readonly string[],
  host: RunHost,
): Promise<void> {
  const {backend, projectSlug} = open;
  const place = {backend: backend.name, projectSlug, targetSlug};
  await host.writes?.before({operation: 'invalidate', ...place, bundleIds: []});
  for (const pattern of patterns) {
    await invoke(open, 'invalidate', {targetSlug, pattern}).catch(async (error: unknown) => {
      throw await explainMissingTarget(error, open, targetSlug, 'invalidate');
    });
  }
}
