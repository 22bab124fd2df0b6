import {createError, isRuntimeCliError, type RuntimeCliError} from '../../errors/index.js';
import {partsOf} from '../../errors/suggestion.js';
import {definitions, type SettingKey} from '../../settings/definitions.js';
import {missingSetting, type Settings} from '../settings/settings.js';

/** Something that a command needs but lacks. */
export interface Missing {
  /** A noun: `build`. */
  readonly what: string;
  /** The error to report if nothing else is missing. */
  readonly error: RuntimeCliError;
}

/** The settings that are not set. */
export function missingSettings(settings: Settings, needs: readonly SettingKey[]): readonly Missing[] {
  return needs
    .filter((key) => settings[key] === undefined)
    .map((key) => ({what: definitions[key].label, error: missingSetting(key)}));
}

/** The build, if there is none. */
export async function missingBuild(directory: string, cwd: string): Promise<readonly Missing[]> {
  const {verifyBuildDirectory} = await import('../../bundle/files/build-output.js');
  try {
    await verifyBuildDirectory(directory, cwd);
    return [];
  } catch (error) {
    if (!isRuntimeCliError(error)) throw error;
    return [{what: 'build', error}];
  }
}

/**
 * Reports everything that is missing at once. A single missing thing has its own error.
 * @param hint another way to fix it
 * @throws RuntimeCliError `ERR_SETUP_INCOMPLETE`.
 */
export function requireTogether(
  missing: readonly Missing[],
  hint = 'Run mycli init, which sets up a project step by step. Or give each:',
): void {
  if (missing.length < 2) return;
  // A project that has a name is set up.
  const hints = missing.some(({what}) => what === definitions.projectSlug.label) ? [hint] : [];
  const nouns = new Intl.ListFormat('en').format(missing.map(({what}) => what));
  throw createError('ERR_SETUP_INCOMPLETE', `Missing ${nouns}.`, {
    suggestions: [
      ...hints,
      ...missing.map(({error: {message, advice}}) => [message, ...advice.flatMap((said) => [' ', ...partsOf(said)])]),
    ],
    details: {
      missing: missing.map(({what, error: {code, message, suggestions}}) => ({what, code, message, suggestions})),
    },
  });
}
