import type {WriteOperation} from '../../backends/contract.js';
import {createError} from '../../errors/index.js';
import {suggestNames} from '../../text/suggest.js';
import type {Host} from '../host.js';

/** The environment variable that restricts what may be changed. No option, flag or file loosens it. */
const safetyVariable = 'MYCLI_SAFETY';

const modes = ['read-only', 'no-delete', 'no-create', 'no-production'] as const;
export type SafetyMode = (typeof modes)[number];

const meanings: Readonly<Record<SafetyMode, string>> = {
  'read-only': 'blocks every change',
  'no-delete': 'blocks deleting bundles and targets',
  'no-create': 'blocks creating targets and projects',
  'no-production': 'blocks changes to production',
};

/** A restriction in a sentence: `MYCLI_SAFETY=no-delete blocks deleting bundles.` */
export function describeSafety(mode: SafetyMode): string {
  return `${safetyVariable}=${mode} ${meanings[mode]}.`;
}

/** The restrictions in a value of `MYCLI_SAFETY`, which separates several with commas. */
export function parseSafety(text: string | undefined): readonly SafetyMode[] {
  const words = (text ?? '').split(',').map((word) => word.trim().toLowerCase());
  const entries = words.filter((word) => word !== '');
  const known = modes.filter((mode) => entries.includes(mode));
  if (new Set(entries).size === known.length && (entries.length > 0 || words.length === 1)) return known;
  throw createError('ERR_OPTION_INVALID', `${safetyVariable} must be ${modes.join(', ')} or several of them.`, {
    suggestions: [`Correct it, such as ${safetyVariable}=no-delete,no-production, or unset it.`],
  });
}

/** The restrictions on a call: those of its environment, and those that the process was started with. */
export function safetyOf({env, safety}: Pick<Host, 'env' | 'safety'>): readonly SafetyMode[] {
  const both = [...parseSafety(safety), ...parseSafety(env[safetyVariable])];
  return modes.filter((mode) => both.includes(mode));
}

interface Change {
  readonly operation: WriteOperation | 'create-project' | 'rotate-key';
  /** The project that it creates. */
  readonly projectSlug?: string | undefined;
  /** The target that it changes. */
  readonly targetSlug?: string | undefined;
  /** Whether the caller says that the target is production. False does not override the name. */
  readonly production?: boolean | undefined;
  /** What may be meant instead of a new target or project. @default none */
  readonly meant?: readonly string[] | undefined;
}

/** Refuses a change that `MYCLI_SAFETY` does not allow. */
export function refuseUnsafe(change: Change, host: Pick<Host, 'env' | 'safety'>): void {
  const {operation, targetSlug, production, meant = []} = change;
  const refuses: Readonly<Record<SafetyMode, boolean>> = {
    'read-only': true,
    'no-delete': operation === 'delete' || operation === 'delete-target',
    'no-create': operation === 'create-target' || operation === 'create-project',
    'no-production': targetSlug !== undefined && (production === true || isProductionName(targetSlug)),
  };
  const mode = safetyOf(host).find((candidate) => refuses[candidate]);
  if (mode === undefined) return;
  throw createError('ERR_SAFETY', `${safetyVariable}=${mode} ${blocked(mode, change)}. Nothing was changed.`, {
    suggestions: [
      ...suggestNames(meant),
      `Change ${safetyVariable} in the environment. No flag, option or configuration file loosens it.`,
    ],
    details: {safety: mode, operation, ...(targetSlug !== undefined && {targetSlug})},
  });
}

function blocked(mode: SafetyMode, {operation, projectSlug, targetSlug}: Change): string {
  if (operation === 'create-project') return `blocks creating the project "${String(projectSlug)}"`;
  if (targetSlug === undefined) return meanings[mode];
  if (mode === 'no-create') return `blocks creating the target "${targetSlug}"`;
  return mode === 'no-production' ? `${meanings[mode]}, and "${targetSlug}" is a production target` : meanings[mode];
}

const productionWords: ReadonlySet<string> = new Set(['production', 'prod', 'prd', 'live']);

/**
 * Whether a target is production by its name: one of its words says so, as in `prod`, `eu-live` and `production2`, but
 * not after `pre` or `non`, nor in a preview, which is called as a branch is: `preview-fix-live-prices`.
 */
export function isProductionName(targetSlug: string): boolean {
  const words = targetSlug
    .replaceAll(/([a-z])([A-Z])/g, '$1 $2')
    .toLowerCase()
    .split(/[^a-z]+/);
  return (
    words[0] !== 'preview' &&
    words.some((word, at) => productionWords.has(word) && !['pre', 'non'].includes(words[at - 1] ?? ''))
  );
}
