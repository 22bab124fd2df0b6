import * as v from 'valibot';
import {definitions, optionProblems, settingKeys} from '../../settings/definitions.js';
import type {BundleSettings} from '../../config.js';
import type {Environment} from '../../text/platform.js';
import type {Guard} from '../../modules/load-module.js';
import type {OptionProblem} from '../../settings/types.js';
import {fieldProblems} from '../../settings/schemas.js';
import type {BundleFormat, BundleV2Metadata} from '../types.js';
import {contentSchema} from './content-schema.js';

/** What goes into a bundle, and its description, as a configuration file says it. */
export interface BundleContentOptions extends BundleSettings {
  /** Metadata for the bundle's configuration. v1 only supports `dependencies`. */
  readonly bundleMetadata?: BundleV2Metadata | undefined;
}

/** Everything that planning a bundle needs. */
export interface BundlePlanOptions extends BundleContentOptions {
  /** The preview that the bundle is for, which goes before its message. @default none */
  readonly preview?: string | undefined;
  readonly format: BundleFormat;
  /** Absolute base directory for relative paths. */
  readonly cwd: string;
  /** Provides `SOURCE_DATE_EPOCH`, and the environment of git. */
  readonly env: Environment;
  /** The clock, for the default message. */
  readonly now: () => Date;
  /** Names the entries of a v1 archive. Required for v1. */
  readonly projectSlug?: string | undefined;
  /** Whether code of another user in the project is an error. @default it is run */
  readonly refusesForeign?: boolean | undefined;
  /** Runs the code of the project. @default nothing is done around it */
  readonly guardCode?: Guard | undefined;
  /** Whether it gets the metadata that the framework's own client collects. @default none */
  readonly collectsMetadata?: boolean | undefined;
  /** Absolute paths of files that are being written, which never become part of the bundle. */
  readonly ownFiles?: readonly string[] | undefined;
  /** Cancels the work, which rejects with `signal.reason`. */
  readonly signal?: AbortSignal | undefined;
}

/** The latest time that the library can write to a tar header. */
const maxEpoch = 2 ** 31 - 1;

/** The options that a setting of the same name describes. */
const bundleKeys = settingKeys.filter((key) => definitions[key].set === 'bundle');

/** All problems with the options for a bundle. Only checks the options themselves. */
export function checkBundleOptions(options: BundlePlanOptions): readonly OptionProblem[] {
  return [
    ...formatProblems(options.format, options.projectSlug),
    ...optionProblems(options, ['projectSlug']),
    ...contentProblems(options),
    ...epochProblems(options.env['SOURCE_DATE_EPOCH']),
  ];
}

/** The problems with what goes into a bundle, whatever its format. */
export function contentProblems(options: BundleContentOptions): readonly OptionProblem[] {
  const {ssrOnly, ssrShared, ssrParameters, bundleMetadata, ...others} = options;
  const {issues = []} = v.safeParse(contentSchema, {ssrOnly, ssrShared, ssrParameters, bundleMetadata});
  return [
    ...optionProblems(others, bundleKeys),
    ...fieldProblems(issues).map(({field, message}) => ({option: field, message})),
    ...staticProblems(options),
  ];
}

export function formatProblems(format: string, projectSlug: string | undefined): readonly OptionProblem[] {
  const option = 'projectSlug';
  if (format === 'v2') return [];
  if (format !== 'v1') return [{option: 'format', message: `must be v1 or v2, not ${JSON.stringify(format)}`}];
  if (projectSlug === undefined) {
    const message = 'is required for a v1 bundle, whose entries are named after it';
    return [{option, message, suggestion: 'Pass --project <slug>.'}];
  }
  // The archive library strips such a prefix as a drive.
  if (!/^\w+:/.test(projectSlug)) return [];
  return [{option, message: `must not start with a drive such as "c:" in a v1 bundle: "${projectSlug}"`}];
}

function staticProblems(options: BundleContentOptions): readonly OptionProblem[] {
  if (options.static !== true) return [];
  const given = (['ssrOnly', 'ssrShared'] as const).filter((option) => options[option] !== undefined);
  if (given.length === 0) return [];
  return [
    {
      option: 'static',
      message: 'cannot be combined with patterns, because it shares every file',
      suggestion: 'Remove the patterns, or do not make it a static site.',
    },
    ...given.map((option) => ({option, message: 'is for a site with server code'})),
  ];
}

function epochProblems(epoch: string | undefined): readonly OptionProblem[] {
  if (epoch === undefined || epoch === '' || (/^\d+$/.test(epoch) && Number(epoch) <= maxEpoch)) return [];
  const message = `must be seconds since 1970, at most ${String(maxEpoch)} (2038-01-19), not ${JSON.stringify(epoch)}`;
  return [{option: 'SOURCE_DATE_EPOCH', message, suggestion: 'Correct or unset SOURCE_DATE_EPOCH.'}];
}
