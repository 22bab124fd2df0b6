import {writeNouns} from '../../backends/contract/hooks.js';
import type {BundleContentOptions} from '../../bundle/index.js';
import type {BundleFormat, BundleV2Metadata} from '../../bundle/types.js';
import {amendError, createError, isRuntimeCliError, type RuntimeCliError} from '../../errors/index.js';
import type {NewPlace, TargetConfirmation} from '../../operations/options.js';
import {definitions, followUpsOf, rejectProblems, settingKeys, type SettingKey} from '../../settings/definitions.js';
import type {Places} from '../../projects/unfit-build.js';
import type {FollowUps} from '../../settings/types.js';
import {meantNames} from '../../text/suggest.js';
import {allowCredentials, checkOrigins} from '../settings/connection-options.js';
import {missingSetting, nameOf, valuesIn, valuesOf, type Settings, type ValueSource} from '../settings/settings.js';
import {askText, canAsk, confirm, type QuestionContext} from '../setup/prompts.js';
import type {CommandContext} from './command-context.js';
import {partsOf, type Suggestion} from '../../errors/suggestion.js';
import {pushRecordFiles, uploadStateFiles} from './records.js';

/**
 * The library's options for a bundle. `--node-version` sets the SSR parameter `SSRFunctionNodeVersion`, and the
 * dependencies `auto` are those in the project's package.json.
 */
export async function bundleOptions(settings: Settings, format: BundleFormat = 'v2') {
  const {nodeVersion, dependencies: _, ccOverrides: __, ...options} = valuesOf(settings, 'bundle');
  const version = nodeVersion === undefined ? undefined : {SSRFunctionNodeVersion: nodeVersion};
  const ssrParameters = version === undefined ? options.ssrParameters : {...options.ssrParameters, ...version};
  const metadata = await bundleMetadata(settings);
  const content = {...options, ssrParameters, bundleMetadata: metadata} satisfies BundleContentOptions;
  const {contentProblems, formatProblems} = await import('../../bundle/config/check-options.js');
  const problems = [...formatProblems(format, settings.projectSlug?.value), ...contentProblems(content)];
  rejectProblems(problems, (option) => nameOf(option, settings));
  return content;
}

async function bundleMetadata(settings: Settings): Promise<BundleV2Metadata | undefined> {
  const {dependencies, ccOverrides} = valuesIn(settings, 'bundleMetadata');
  if (dependencies === undefined && ccOverrides === undefined) return undefined;
  if (dependencies !== 'auto') return {dependencies, ccOverrides};
  const {readDeclaredDependencies} = await import('../../bundle/index.js');
  return {dependencies: await readDeclaredDependencies(settings.projectDirectory.value), ccOverrides};
}

/** The settings for a prebuilt archive: those of builds in a configuration file don't apply, others are refused. */
function archiveSettings(settings: Settings): Settings {
  const configured = settingKeys.filter(
    (key) => definitions[key].building === true && settings[key]?.source.kind === 'config',
  );
  return {...settings, ...Object.fromEntries(configured.map((key) => [key, undefined]))};
}

/**
 * The settings of a deployment: its guards, its checks and its rollback. Without a target, no checks apply.
 * @param options `canRollBack`: whether it can be rolled back on failure. @default true `invalidate`: what to drop from
 * the cache after it. @default nothing
 */
export function deploymentOptions(
  settings: Settings,
  context: CommandContext,
  {
    canRollBack = true,
    invalidate = [],
  }: {readonly canRollBack?: boolean; readonly invalidate?: readonly string[] | undefined} = {},
) {
  const {url = [], rollbackOnFailure: _, ...standard} = valuesIn(settings, 'check');
  const {targetSlug, rollbackOnFailure, wait, checkPassword} = settings;
  const password = checkPassword?.value.reveal();
  const check = targetSlug === undefined ? [] : url.map((one) => ({...standard, password, ...one}));
  if (password === undefined && check.some(({user}) => user !== undefined)) throw missingSetting('checkPassword');
  const checkSource = settings.check?.source.name ?? '';
  if (check.length > 0) for (const origin of checkOrigins(settings)) allowCredentials(context, origin, checkSource);
  const rollsBack = targetSlug !== undefined && canRollBack && rollbackOnFailure.value;
  const follows = followUpsOf({check, rollbackOnFailure: rollsBack, invalidate});
  if (follows.length > 0 && !wait.value && wait.source.kind !== 'default') throw cannotFollow(settings, follows);
  return {
    ...valuesOf(settings, 'wait'),
    wait: wait.value || follows.length > 0,
    // What to roll back to would change meanwhile.
    waitForSlot: canRollBack && settings.waitForSlot.value,
    check,
    rollbackOnFailure: rollsBack,
    invalidate,
    ...guardOptions(settings, context),
    ...newPlaceOptions(settings, context),
    projectDirectory: settings.projectDirectory.value,
  };
}

/** What a push is made of, by the settings: its bundle, its deployment, and what is remembered of it. */
export async function pushOptions(
  settings: Settings,
  {archive, invalidate}: {readonly archive?: string | undefined; readonly invalidate?: readonly string[] | undefined},
  context: CommandContext,
) {
  const {dataDir} = context.config;
  const building = archive === undefined ? settings : archiveSettings(settings);
  return {
    ...(await bundleOptions(building, settings.v2.value ? 'v2' : 'v1')),
    ...deploymentOptions(settings, context, {invalidate}),
    v2: settings.v2.source.kind === 'default' ? undefined : settings.v2.value,
    pushRecords: pushRecordFiles(dataDir),
    uploadStates: uploadStateFiles(dataDir),
    archive,
    cwd: context.cwd,
  };
}

/** What must hold before a target is changed. Only a person at a terminal can confirm. */
export function guardOptions(settings: Settings, context: QuestionContext) {
  return {
    guard: valuesIn(settings, 'guard'),
    confirmTarget: canAsk(context) ? confirmationBy(context) : undefined,
    production: settings.production?.value,
  };
}

/** Whether and how to wait for a target. Unless a setting says so, `byDefault` and the call's own interval count. */
export function targetWait({wait, pollInterval, timeout}: Settings, byDefault: boolean) {
  const isSet = ({source}: {readonly source: ValueSource}) => source.kind !== 'default';
  return {
    wait: isSet(wait) ? wait.value : byDefault,
    pollInterval: isSet(pollInterval) ? pollInterval.value : undefined,
    timeout: timeout.value,
  };
}

const withoutFollowUp = {
  check: "pass --check '[]'",
  rollbackOnFailure: 'pass --no-rollback-on-failure',
  invalidate: 'leave out --invalidate',
};

function cannotFollow(settings: Settings, follows: readonly (keyof FollowUps)[]): Error {
  const off = settings.wait.source.kind === 'flag' ? '--no-wait' : nameOf('wait', settings);
  const [what] = follows.map((key) => (key === 'invalidate' ? '--invalidate' : nameOf(key, settings)));
  return createError('ERR_USAGE', `${String(what)} waits for the deployment, but ${off} turns waiting off.`, {
    suggestions: [`Remove ${off}, or ${follows.map((key) => withoutFollowUp[key]).join(' and ')}.`],
  });
}

function confirmationBy(context: QuestionContext) {
  return async ({operation, projectSlug, bundleId}: TargetConfirmation) => {
    const of = operation === 'create-target' ? 'with' : 'of';
    const bundle = bundleId === undefined ? '' : ` ${of} bundle ${String(bundleId)}`;
    const text = `To confirm the ${writeNouns[operation]}${bundle} of ${projectSlug}, type the name of the target`;
    return askText({text, fallback: ''}, context);
  };
}

/** Tells which target or project is new. A name that may be mistyped is asked about, unless in a dry run. */
export function newPlaceOptions({create}: Settings, context: CommandContext) {
  const confirmNew = async ({kind, slug, meant}: NewPlace) => {
    const {output, flags} = context;
    const found = `The ${kind} ${slug} is new`;
    const names = meantNames(meant);
    if (meant.length === 0) output.info(`${found}.`);
    else if (flags['dry-run'] !== true && canAsk(context))
      await confirm(`${found}; did you mean ${names}? Create ${slug}?`, 'Cancelled. Nothing was changed.', context);
    else output.warn(`${found}. Did you mean ${names}? --no-create refuses new ones.`);
  };
  return {create: create?.value, confirmNew};
}

/** The target, if it is missing and a flag only applies to a deployment. */
export function missingTarget(settings: Settings, invalidate?: readonly string[]): readonly Missing[] {
  const {targetSlug, wait, check, rollbackOnFailure} = settings;
  const followUps = followUpsOf({check: check?.value, rollbackOnFailure: rollbackOnFailure.value});
  const needsTarget: readonly string[] = [...(wait.value ? ['wait'] : []), ...followUps];
  const sources = settingKeys.flatMap((key) => (needsTarget.includes(key) ? (settings[key]?.source ?? []) : []));
  const flags = sources.filter(({kind}) => kind === 'flag').map(({name}) => name);
  const [flag] = [...flags, ...(invalidate === undefined ? [] : ['--invalidate'])];
  if (targetSlug !== undefined || flag === undefined) return [];
  const error = createError('ERR_USAGE', `${flag} requires a target.`, {
    suggestions: [`Pass --target SLUG, or remove ${flag}.`],
  });
  return [{what: 'target', error}];
}

export interface Missing {
  /** A noun: `build`. */
  readonly what: string;
  readonly error: RuntimeCliError;
}

/** @param errorOf The error about one of them. */
export function missingSettings(
  settings: Settings,
  needs: readonly SettingKey[],
  errorOf: (key: SettingKey) => RuntimeCliError = (key) => missingSetting(key),
): readonly Missing[] {
  return needs
    .filter((key) => settings[key] === undefined)
    .map((key) => ({what: definitions[key].label, error: errorOf(key)}));
}

export async function missingBuild(directory: string, places: Places): Promise<readonly Missing[]> {
  const {verifyBuildDirectory} = await import('../../bundle/files/build-output.js');
  try {
    await verifyBuildDirectory(directory, places);
    return [];
  } catch (error) {
    if (!isRuntimeCliError(error)) throw error;
    return [{what: 'build', error}];
  }
}

/** Sentences in as few lines as can be: nothing follows a command, which users paste. */
function asLines([first = '', ...others]: readonly Suggestion[]): readonly Suggestion[] {
  if (others.length === 0) return [first];
  const [next = '', ...rest] = asLines(others);
  const last = partsOf(first).at(-1) ?? '';
  const endsInCommand = typeof last === 'object' || !/[.!?]$/.test(last);
  return endsInCommand ? [first, next, ...rest] : [[...partsOf(first), ' ', ...partsOf(next)], ...rest];
}

/** Throws one error for everything that is missing. A single missing thing has its own. */
export function requireTogether(missing: readonly Missing[]): void {
  const [first, ...others] = missing;
  if (first === undefined) return;
  if (others.length === 0) {
    const isProject = first.what === definitions.projectSlug.label;
    throw amendError(first.error, {suggestions: isProject ? [['Or set up a project: ', {run: ['init']}]] : []});
  }
  const hint: Suggestion = ['Run ', {run: ['init']}, ' in a terminal to set up a project. Or set each of these:'];
  // A project that has a name is set up.
  const hints = missing.some(({what}) => what === definitions.projectSlug.label) ? [hint] : [];
  const nouns = new Intl.ListFormat('en').format(missing.map(({what}) => what));
  throw createError('ERR_SETUP_INCOMPLETE', `Missing ${nouns}.`, {
    suggestions: [...hints, ...missing.flatMap(({error: {message, advice}}) => asLines([message, ...advice]))],
    details: {
      missing: missing.map(({what, error: {code, message, suggestions}}) => ({what, code, message, suggestions})),
    },
  });
}
